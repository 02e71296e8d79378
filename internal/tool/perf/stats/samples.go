// Package stats accumulates the figures of measurements: times of messages, and
// messages over time.
package stats

import (
	"math"
	"math/big"
	"math/bits"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longest is the upper end of the histogram. Longer times count as this time.
const longest = time.Minute

// Samples accumulates times in nanoseconds. Add does not allocate.
type Samples struct {
	Count    int64
	Min, Max int64
	sum      uint64
	squares  [2]uint64 // exact sum of squares, upper half first
	jitter   uint64    // sum of the differences between consecutive times
	last     int64
	hist     *hdrhistogram.Histogram
	kept     []int64
}

// NewSamples returns an empty set. Its quantiles have three significant digits.
func NewSamples() *Samples {
	return &Samples{hist: hdrhistogram.New(1, longest.Nanoseconds(), 3)}
}

// Keep allocates memory for the first n times, which Kept returns.
func (s *Samples) Keep(n int) { s.kept = make([]int64, 0, n) }

// Kept returns the first times in their order, as many as Keep has allocated memory for.
func (s *Samples) Kept() []int64 { return s.kept }

// Add counts a time. A negative time counts as 0.
func (s *Samples) Add(ns int64) {
	ns = max(ns, 0)
	if s.Count == 0 {
		s.Min, s.Max = ns, ns
	} else {
		d := ns - s.last
		s.jitter += uint64(max(d, -d))
	}
	s.Count++
	s.Min, s.Max = min(s.Min, ns), max(s.Max, ns)
	s.sum += uint64(ns)
	s.addSquare(bits.Mul64(uint64(ns), uint64(ns)))
	s.last = ns
	if len(s.kept) < cap(s.kept) {
		s.kept = append(s.kept, ns)
	}
	// The only error is a value out of range, which the clamp prevents.
	_ = s.hist.RecordValue(min(max(ns, 1), longest.Nanoseconds()))
}

func (s *Samples) addSquare(high, low uint64) {
	var carry uint64
	s.squares[1], carry = bits.Add64(s.squares[1], low, 0)
	s.squares[0], _ = bits.Add64(s.squares[0], high, carry)
}

// Avg returns the mean in nanoseconds, 0 without samples.
func (s *Samples) Avg() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.sum) / float64(s.Count)
}

// StdDev returns the standard deviation in nanoseconds, 0 without samples.
func (s *Samples) StdDev() float64 {
	if s.Count == 0 {
		return 0
	}
	// n * squares - sum * sum cancels all digits of a float.
	whole := func(words ...uint64) *big.Int {
		n := new(big.Int)
		for _, w := range words {
			n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(w))
		}
		return n
	}
	n, sum := whole(uint64(s.Count)), whole(s.sum)
	v := new(big.Int).Mul(n, whole(s.squares[:]...))
	f, _ := v.Sub(v, sum.Mul(sum, sum)).Float64()
	return math.Sqrt(f) / float64(s.Count)
}

// Jitter returns the mean difference between consecutive times, in nanoseconds.
func (s *Samples) Jitter() float64 {
	if s.Count < 2 {
		return 0
	}
	return float64(s.jitter) / float64(s.Count-1)
}

// Quantile returns the q-th percentile in nanoseconds, to three digits and within
// Min and Max.
func (s *Samples) Quantile(q float64) int64 {
	if s.Count == 0 {
		return 0
	}
	return min(max(s.hist.ValueAtQuantile(q), s.Min), s.Max)
}
