package cm

import (
	"math/bits"
	"slices"
	"time"

	"github.com/ibkit/ibkit/rdmacm"
)

// A StepResult has a step's durations in all connections, in nanoseconds.
type StepResult struct {
	Step      rdmacm.Step `json:"step"`
	Count     int         `json:"count"`  // successes
	Failed    int         `json:"failed"` // connections that this step ended
	Min       *int64      `json:"min_ns"` // nil without a success
	Median    *int64      `json:"median_ns"`
	P99       *int64      `json:"p99_ns"`
	Max       *int64      `json:"max_ns"`
	Histogram []Bar       `json:"histogram"`
}

// A Bar is a histogram bar: the number of durations from From to less than To.
type Bar struct {
	From  int64 `json:"from_ns"`
	To    int64 `json:"to_ns"`
	Count int   `json:"count"`
}

// A recorder collects a step's durations. It keeps all durations: a histogram with
// fixed limits takes more memory for up to some thousand connections, and slows down
// each connection by page faults.
type recorder struct {
	values []int64
	failed int
}

func (r *recorder) add(d time.Duration) { r.values = append(r.values, int64(max(d, 1))) }

// result returns the statistics.
func (r *recorder) result(step rdmacm.Step) StepResult {
	s := StepResult{Step: step, Count: len(r.values), Failed: r.failed, Histogram: []Bar{}}
	if s.Count == 0 {
		return s
	}
	slices.Sort(r.values)
	// The quantile is the value that so many percent do not exceed.
	quantile := func(percent int) *int64 { return &r.values[(s.Count*percent+99)/100-1] }
	s.Min, s.Median, s.P99, s.Max = &r.values[0], quantile(50), quantile(99), quantile(100)
	s.Histogram = bars(r.values)
	return s
}

// bars counts sorted durations in bars with powers of two as limits.
func bars(sorted []int64) []Bar {
	all := []Bar{}
	for _, v := range sorted {
		low := int64(1) << (bits.Len64(uint64(v)|1) - 1)
		if n := len(all); n == 0 || all[n-1].From != low {
			all = append(all, Bar{From: low, To: 2 * low})
		}
		all[len(all)-1].Count++
	}
	return all
}
