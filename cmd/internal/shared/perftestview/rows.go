package perftestview

import (
	"fmt"
	"io"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/stats"
)

// Columns are the heading of the figures.
type Columns struct {
	Bandwidth, Timed, Gbits bool
	Load                    bool // with the load of the processors
}

// Print prints the heading.
func (c Columns) Print(out io.Writer) {
	unit := "MB/sec"
	if c.Gbits {
		unit = "Gb/sec"
	}
	switch {
	case c.Bandwidth:
		fmt.Fprintf(out, " #bytes     #iterations    BW peak[%s]    BW average[%s]   MsgRate[Mpps]", unit, unit)
	case c.Timed:
		fmt.Fprint(out, " #bytes        #iterations       t_avg[usec]    tps average")
	default:
		fmt.Fprint(out, " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ")
	}
	if c.Load {
		fmt.Fprint(out, "    CPU_Util[%]")
	}
	fmt.Fprintln(out)
}

// printLoad ends a row with the load of the processors, unless it is nil.
func printLoad(out io.Writer, load *float64) {
	if load != nil {
		fmt.Fprintf(out, "\t    %-3.2f", *load)
	}
	fmt.Fprintln(out)
}

// Times are a row of latencies.
type Times struct {
	Size       int
	Iterations uint64
	Samples    *stats.Samples // whole round trips
	Part       float64        // factor from samples to latencies
	Cycles     float64        // processor cycles per ns for figures in cycles; 0: figures in µs
	Timed      bool
	Elapsed    time.Duration // of a timed test; 0: the sum of the samples
	Load       *float64      // percent, may be nil
}

// Scale returns the factor from samples to figures.
func (t Times) Scale() float64 {
	if t.Cycles > 0 && !t.Timed {
		return t.Part * t.Cycles
	}
	return t.Part / 1e3 // µs
}

// Rate returns round trips per second.
func (t Times) Rate() float64 {
	if avg := t.mean(); avg > 0 {
		return 1e9 / avg
	}
	return 0
}

// mean returns the mean of round trips in ns. In a timed test, both sides of a test have
// the same: the time between two round trips counts as well.
func (t Times) mean() float64 {
	if t.Elapsed > 0 && t.Iterations > 0 {
		return float64(t.Elapsed) / float64(t.Iterations)
	}
	return t.Samples.Avg()
}

// Figures returns minimum, maximum, median, mean, standard deviation and the 99th and
// 99.9th percentile.
func (t Times) Figures() [7]float64 {
	s, scale := t.Samples, t.Scale()
	return [7]float64{
		scale * float64(s.Min), scale * float64(s.Max), scale * float64(s.Quantile(50)), scale * t.mean(),
		scale * s.StdDev(), scale * float64(s.Quantile(99)), scale * float64(s.Quantile(99.9)),
	}
}

// Print prints the row.
func (t Times) Print(out io.Writer) {
	f := t.Figures()
	if t.Timed {
		fmt.Fprintf(out, " %-7d       %d            %-7.2f        %-7.2f", t.Size, t.Iterations, f[3], t.Rate())
	} else {
		fmt.Fprintf(out, " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f",
			t.Size, t.Iterations, f[0], f[1], f[2], f[3], f[4], f[5], f[6])
	}
	printLoad(out, t.Load)
}

// PrintSamples prints a list of figures.
func PrintSamples(out io.Writer, unit string, samples []int64, scale float64) {
	fmt.Fprintf(out, "#, %s\n", unit)
	for i, s := range samples {
		fmt.Fprintf(out, "%d, %.6g\n", i+1, scale*float64(s))
	}
}

// Rates are a row of bandwidths in the unit of the output.
type Rates struct {
	Size                    int
	Iterations              uint64
	Peak, Average, Messages float64
	Gbits                   bool
	Load                    *float64 // percent, may be nil
}

// Unit converts bytes per second to Gb/s or MiB/s.
func Unit(bytes float64, gbits bool) float64 {
	if gbits {
		return bytes * 8 / 1e9
	}
	return bytes / (1 << 20)
}

// exact reports whether the rates need six decimals.
func (r Rates) exact() bool { return r.Gbits && r.Average < 0.1 }

// Print prints the row.
func (r Rates) Print(out io.Writer) {
	if r.exact() {
		fmt.Fprintf(out, " %-7d    %d           %-7.6f            %-7.6f            %-7.6f", r.Size, r.Iterations, r.Peak, r.Average, r.Messages)
	} else {
		fmt.Fprintf(out, " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f", r.Size, r.Iterations, r.Peak, r.Average, r.Messages)
	}
	printLoad(out, r.Load)
}
