package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// A result has all counted runs of a tool on a net.
type result struct {
	name    string
	rss     int64 // bytes
	samples []sample
}

// median returns the median of a quantity.
func median(r result, of func(sample) time.Duration) time.Duration {
	values := make([]time.Duration, len(r.samples))
	for i, s := range r.samples {
		values[i] = of(s)
	}
	return middle(values)
}

// middle returns the median of values and sorts them.
func middle[T time.Duration | float64](values []T) T {
	slices.Sort(values)
	mid := len(values) / 2
	if len(values)%2 == 0 {
		return (values[mid-1] + values[mid]) / 2
	}
	return values[mid]
}

// ratio returns the median of the wall time ratios in each round: other load on the
// machine lasts longer than a round.
func ratio(r, first result) float64 {
	values := make([]float64, len(r.samples))
	for i := range values {
		values[i] = float64(r.samples[i].wall) / float64(first.samples[i].wall)
	}
	return middle(values)
}

// meanSim returns the simulator's mean processor time, which is too coarse for a median.
func (r result) meanSim() time.Duration {
	var sum time.Duration
	for _, s := range r.samples {
		sum += s.sim
	}
	return sum / time.Duration(len(r.samples))
}

// A table prints medians, and wall time ratios relative to the first tool.
type table struct {
	w   *tabwriter.Writer
	err error
}

func newTable(w io.Writer) *table {
	t := &table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.row("net", "tool", "wall s", "ratio", "user s", "sys s", "sim s", "RSS MiB")
	return t
}

func (t *table) row(cells ...any) {
	for _, c := range cells {
		if t.err == nil {
			_, t.err = fmt.Fprint(t.w, c, "\t")
		}
	}
	if t.err == nil {
		_, t.err = fmt.Fprintln(t.w)
	}
}

func (t *table) add(net string, results []result) {
	for _, r := range results {
		t.row(net, r.name,
			seconds(median(r, func(s sample) time.Duration { return s.wall })),
			fmt.Sprintf("%.2f", ratio(r, results[0])),
			seconds(median(r, func(s sample) time.Duration { return s.user })),
			seconds(median(r, func(s sample) time.Duration { return s.sys })),
			seconds(r.meanSim()),
			fmt.Sprintf("%.1f", float64(r.rss)/(1<<20)))
	}
}

func (t *table) flush() error {
	if t.err != nil {
		return t.err
	}
	return t.w.Flush()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
