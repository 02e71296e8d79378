package ping

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longest is the longest round trip that a histogram tells from longer ones.
const longest = 60 * time.Second

// Stats are what became of probes.
type Stats struct {
	Sent      int
	Received  int
	Lost      int // no reply in time
	Refused   int // answered with a status that is not 0
	Corrupted int // answered with another OUI than was asked

	Min, Max time.Duration // 0: nothing was received
	sum      time.Duration
	jitter   time.Duration // sum of the differences of one round trip and the next
	last     time.Duration
	times    *hdrhistogram.Histogram
}

// newStats keeps round trips in microseconds, to as many significant digits.
func newStats(digits int) Stats {
	return Stats{times: hdrhistogram.New(1, longest.Microseconds(), digits)}
}

// add counts a reply.
func (s *Stats) add(rtt time.Duration) {
	if s.Received == 0 {
		s.Min = rtt
	} else {
		s.jitter += (rtt - s.last).Abs()
	}
	s.Received++
	s.Min, s.Max = min(s.Min, rtt), max(s.Max, rtt)
	s.sum += rtt
	s.last = rtt
	// What is out of range counts as the end of it: an error would mean that.
	_ = s.times.RecordValue(min(max(rtt, time.Microsecond), longest).Microseconds())
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
	return time.Duration(s.times.StdDev() * float64(time.Microsecond))
}

// Quantile returns the round trip that q percent of all took at most, in
// microseconds' resolution and never outside Min and Max.
func (s *Stats) Quantile(q float64) time.Duration {
	if s.Received == 0 {
		return 0
	}
	t := time.Duration(s.times.ValueAtQuantile(q)) * time.Microsecond
	return min(max(t, s.Min), s.Max)
}

// Loss returns the share of probes that got no good reply, from 0 to 1. A probe
// that was under way when the run ended is in neither.
func (s *Stats) Loss() float64 {
	bad := s.Lost + s.Refused + s.Corrupted
	if bad == 0 {
		return 0
	}
	return float64(bad) / float64(bad+s.Received)
}
