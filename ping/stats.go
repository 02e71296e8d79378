package ping

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Round trips are counted in steps of 100 ns, up to a minute: longer ones count
// as that.
const (
	step    = 100 * time.Nanosecond
	longest = time.Minute
)

// Stats are what became of probes.
type Stats struct {
	Sent int // what was sent or tried to, retries not counted

	// Each probe that has ended is in one of these; those under way when a run
	// ends are in none.
	Received    int
	Lost        int
	Refused     int
	Corrupted   int
	WrongOUI    int
	WrongSource int
	Unreachable int

	Late       int // of those in Lost: answered after their time
	Duplicated int // answers beyond the first one

	// Silent is how many probes in a row had no answer at the end.
	Silent int

	Min, Max time.Duration // 0: nothing was received
	sum      time.Duration
	jitter   time.Duration // sum of the differences of one round trip and the next
	last     time.Duration
	digits   int
	times    *hdrhistogram.Histogram // nil: nothing was received
}

// newStats keeps round trips to so many significant digits. The room for them is
// made at the first one: of many targets that were named most may be silent.
func newStats(digits int) Stats { return Stats{digits: digits} }

// count takes in what became of a probe, or came beside it.
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

// add counts a reply.
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
	// What is out of range counts as the end of it: an error would mean that.
	_ = s.times.RecordValue(int64(min(max(rtt, step), longest) / step))
}

// Bad returns how many probes ended without a good reply.
func (s *Stats) Bad() int {
	return s.Lost + s.Refused + s.Corrupted + s.WrongOUI + s.WrongSource + s.Unreachable
}

// Loss returns the share of probes that got no good reply, from 0 to 1. A probe
// that was under way when the run ended is in neither.
func (s *Stats) Loss() float64 {
	bad := s.Bad()
	if bad == 0 {
		return 0
	}
	return float64(bad) / float64(bad+s.Received)
}

// Avg returns the mean round trip, 0 where nothing was received.
func (s *Stats) Avg() time.Duration {
	if s.Received == 0 {
		return 0
	}
	return s.sum / time.Duration(s.Received)
}

// Jitter returns the mean difference between one round trip and the next.
func (s *Stats) Jitter() time.Duration {
	if s.Received < 2 {
		return 0
	}
	return s.jitter / time.Duration(s.Received-1)
}

// StdDev returns the standard deviation of the round trips.
func (s *Stats) StdDev() time.Duration {
	if s.Received == 0 {
		return 0
	}
	return time.Duration(s.times.StdDev() * float64(step))
}

// Quantile returns the round trip that q percent of all took at most, never
// outside Min and Max.
func (s *Stats) Quantile(q float64) time.Duration {
	if s.Received == 0 {
		return 0
	}
	return min(max(time.Duration(s.times.ValueAtQuantile(q))*step, s.Min), s.Max)
}

// A Bar is a part of a distribution.
type Bar struct {
	From, To time.Duration // round trips from From, below To
	Count    int
}

// Bars returns how the round trips are distributed: at most so many bars, each
// as much wider than the one before as the range of what was measured asks for.
// There is none where nothing was received.
func (s *Stats) Bars(most int) []Bar {
	if s.Received == 0 || most < 1 {
		return nil
	}
	return barsOf(s.times.Distribution(), most)
}
