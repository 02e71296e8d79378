package loop

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longest is the longest time that a histogram tells from longer ones.
const longest = time.Minute

// Samples are the times that something took, in nanoseconds. Adding one allocates
// nothing.
type Samples struct {
	Count    int64
	Min, Max int64
	sum      float64
	squares  float64 // sum of squares of differences from the mean (Welford, 1962)
	mean     float64
	jitter   float64 // sum of the differences of one time and the next
	last     int64
	hist     *hdrhistogram.Histogram
}

// NewSamples keeps times to three significant digits.
func NewSamples() *Samples {
	return &Samples{hist: hdrhistogram.New(1, longest.Nanoseconds(), 3)}
}

// Add counts a time.
func (s *Samples) Add(ns int64) {
	if s.Count == 0 {
		s.Min, s.Max = ns, ns
	} else {
		s.jitter += math.Abs(float64(ns - s.last))
	}
	s.Count++
	s.Min, s.Max = min(s.Min, ns), max(s.Max, ns)
	v := float64(ns)
	s.sum += v
	d := v - s.mean
	s.mean += d / float64(s.Count)
	s.squares += d * (v - s.mean)
	s.last = ns
	// What is out of range counts as the end of it: an error would mean that.
	_ = s.hist.RecordValue(min(max(ns, 1), longest.Nanoseconds()))
}

// Avg is the mean in nanoseconds, 0 of no samples.
func (s *Samples) Avg() float64 {
	if s.Count == 0 {
		return 0
	}
	return s.sum / float64(s.Count)
}

// StdDev is the standard deviation in nanoseconds.
func (s *Samples) StdDev() float64 {
	if s.Count == 0 {
		return 0
	}
	return math.Sqrt(s.squares / float64(s.Count))
}

// Jitter is the mean difference between one time and the next, in nanoseconds.
func (s *Samples) Jitter() float64 {
	if s.Count < 2 {
		return 0
	}
	return s.jitter / float64(s.Count-1)
}

// Quantile returns the time that q percent of all took at most, in nanoseconds to
// three digits, and never outside Min and Max.
func (s *Samples) Quantile(q float64) int64 {
	if s.Count == 0 {
		return 0
	}
	return min(max(s.hist.ValueAtQuantile(q), s.Min), s.Max)
}

// Merge adds the samples of another lane. The jitter from one to the other is left
// out.
func (s *Samples) Merge(o *Samples) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 {
		s.Min, s.Max = o.Min, o.Max
	}
	n, m := float64(s.Count), float64(o.Count)
	d := o.mean - s.mean
	s.squares += o.squares + d*d*n*m/(n+m)
	s.mean += d * m / (n + m)
	s.Count += o.Count
	s.sum += o.sum
	s.jitter += o.jitter
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	s.hist.Merge(o.hist)
}
