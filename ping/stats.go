package ping

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histograms count round trips in steps of 100 ns. Round trips longer than a minute count
// as a minute.
const (
	step    = 100 * time.Nanosecond
	longest = time.Minute
)

// Stats are the probe results.
type Stats struct {
	Sent int // without retries

	// Each probe that has ended is counted once in the following. Probes in flight when a
	// run ends are not counted.
	Received    int
	Lost        int
	Refused     int
	Corrupted   int
	WrongOUI    int
	WrongSource int
	Unreachable int

	Late       int // replies to probes in Lost
	Duplicated int // further replies to a probe

	// Silent is the number of probes since the last reply.
	Silent int

	Min, Max time.Duration // 0 without a reply
	sum      time.Duration
	jitter   time.Duration // sum of differences between successive round trips
	last     time.Duration
	digits   int
	times    *hdrhistogram.Histogram // nil: no reply
}

// newStats returns statistics with the given number of significant digits. The histogram is
// allocated for the first reply, because many targets may be silent.
func newStats(digits int) Stats { return Stats{digits: digits} }

// count counts an outcome.
func (s *Stats) count(o Outcome, rtt time.Duration) {
	switch o {
	case Received:
		s.add(rtt)
	case Lost:
		s.Lost++
	case Refused:
		s.Refused++
	case Corrupted:
		s.Corrupted++
	case WrongOUI:
		s.WrongOUI++
	case WrongSource:
		s.WrongSource++
	case Unreachable:
		s.Unreachable++
	case Late:
		s.Late++
		return
	case Duplicated:
		s.Duplicated++
		return
	}
	if o == Lost || o == Unreachable {
		s.Silent++
	} else {
		s.Silent = 0
	}
}

// add counts a round trip.
func (s *Stats) add(rtt time.Duration) {
	if s.times == nil {
		s.times = hdrhistogram.New(1, int64(longest/step), s.digits)
		s.Min = rtt
	} else {
		s.jitter += (rtt - s.last).Abs()
	}
	s.Received++
	s.Min, s.Max = min(s.Min, rtt), max(s.Max, rtt)
	s.sum += rtt
	s.last = rtt
	// The value is within the histogram range, so there is no error.
	_ = s.times.RecordValue(int64(min(max(rtt, step), longest) / step))
}

// Bad returns the number of probes that ended without a valid reply.
func (s *Stats) Bad() int {
	return s.Lost + s.Refused + s.Corrupted + s.WrongOUI + s.WrongSource + s.Unreachable
}

// HasResult reports whether a probe has ended, with or without a reply. It is false if a run
// ended while all probes were in flight.
func (s *Stats) HasResult() bool { return s.Received+s.Bad() > 0 }

// Loss returns the fraction of probes without a valid reply, from 0 to 1. It does not
// include probes in flight when a run ends.
func (s *Stats) Loss() float64 {
	bad := s.Bad()
	if bad == 0 {
		return 0
	}
	return float64(bad) / float64(bad+s.Received)
}

// Avg returns the mean round-trip time, or 0 without a reply.
func (s *Stats) Avg() time.Duration {
	if s.Received == 0 {
		return 0
	}
	return s.sum / time.Duration(s.Received)
}

// Jitter returns the mean difference between successive round-trip times.
func (s *Stats) Jitter() time.Duration {
	if s.Received < 2 {
		return 0
	}
	return s.jitter / time.Duration(s.Received-1)
}

// StdDev returns the round-trip time standard deviation.
func (s *Stats) StdDev() time.Duration {
	if s.Received == 0 {
		return 0
	}
	return time.Duration(s.times.StdDev() * float64(step))
}

// Quantile returns the round-trip time that q percent of replies did not exceed. It is
// between Min and Max.
func (s *Stats) Quantile(q float64) time.Duration {
	if s.Received == 0 {
		return 0
	}
	return min(max(time.Duration(s.times.ValueAtQuantile(q))*step, s.Min), s.Max)
}

// A Bar is part of a round-trip time distribution.
type Bar struct {
	From, To time.Duration // at least From and less than To
	Count    int
}

// Bars returns the round-trip time distribution in at most the given number of bars. The
// bar widths have a constant ratio. It returns nil without a reply.
func (s *Stats) Bars(most int) []Bar {
	if s.Received == 0 || most < 1 {
		return nil
	}
	return barsOf(s.times.Distribution(), most)
}
