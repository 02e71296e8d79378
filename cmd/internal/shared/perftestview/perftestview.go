// Package perftestview prints results in the form of perftest's programs.
package perftestview

import (
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/perf/perftest"
	"github.com/ibkit/ibkit/perf/stats"
)

// Rule separates the parts of the output.
var Rule = strings.Repeat("-", 87) + "\n"

// titles are the verbs as in the title of the output.
var titles = map[perftest.Verb]string{
	perftest.Send: "Send", perftest.Write: "RDMA_Write", perftest.Read: "RDMA_Read", perftest.Atomic: "Atomic",
}

// A Header is the description of a test at the start of the output.
type Header struct {
	perftest.Test
	MTU             int // bytes
	Device, Link    string
	HasGID          bool
	GIDIndex        int
	Reads           uint32
	Sends, Receives bool // this side sends, receives
}

func (h Header) title() string {
	words := []string{titles[h.Verb]}
	for _, w := range []struct {
		there bool
		word  string
	}{
		{h.Verb == perftest.Atomic && h.CompareSwap, "CMP_AND_SWAP"}, {h.Verb == perftest.Atomic && !h.CompareSwap, "FETCH_AND_ADD"},
		{h.Bidirectional, "Bidirectional"}, {h.List > 1, "Post List"}, {h.Bandwidth, "BW"}, {!h.Bandwidth, "Latency"},
	} {
		if w.there {
			words = append(words, w.word)
		}
	}
	return strings.Join(append(words, "Test"), " ")
}

// Print prints the header between two rules.
func (h Header) Print(out io.Writer) {
	fmt.Fprintf(out, "%s                    %s\n", Rule, h.title())
	if h.Events {
		fmt.Fprintf(out, " Test with events. Using %s_comp0\n", h.Device)
	}
	fmt.Fprintf(out, " Dual-port       : OFF\t\tDevice         : %s\n", h.Device)
	fmt.Fprintf(out, " Number of qps   : %d\t\tTransport type : IB\n", h.QueuePairs)
	fmt.Fprintf(out, " Connection type : %v\t\tUsing SRQ      : OFF\n", h.Type)
	fmt.Fprintf(out, " PCIe relax order: OFF\n ibv_wr* API     : OFF\n")
	if h.Sends {
		fmt.Fprintf(out, " TX depth        : %d\n", h.TxDepth)
	}
	if h.List > 1 {
		fmt.Fprintf(out, " Post List       : %d\n", h.List)
	}
	if h.Receives {
		fmt.Fprintf(out, " RX depth        : %d\n", h.RxDepth)
	}
	if h.Bandwidth {
		fmt.Fprintf(out, " CQ Moderation   : %d\n", h.Moderate(h.Sizes[0]))
	}
	fmt.Fprintf(out, " Mtu             : %d[B]\n", h.MTU)
	fmt.Fprintf(out, " Link type       : %s\n", h.Link)
	if h.HasGID {
		fmt.Fprintf(out, " GID index       : %d\n", h.GIDIndex)
	}
	if h.Verb == perftest.Read || h.Verb == perftest.Atomic {
		fmt.Fprintf(out, " Outstand reads  : %d\n", h.Reads)
	} else {
		fmt.Fprintf(out, " Max inline data : %d[B]\n", h.Inline)
	}
	fmt.Fprintf(out, " rdma_cm QPs\t : OFF\n Data ex. method : Ethernet\n%s", Rule)
}

// PrintColumns prints the heading of the figures.
func PrintColumns(out io.Writer, bandwidth, timed, gbits bool) {
	unit := "MB/sec"
	if gbits {
		unit = "Gb/sec"
	}
	switch {
	case bandwidth:
		fmt.Fprintf(out, " #bytes     #iterations    BW peak[%s]    BW average[%s]   MsgRate[Mpps]\n", unit, unit)
	case timed:
		fmt.Fprintln(out, " #bytes        #iterations       t_avg[usec]    tps average")
	default:
		fmt.Fprintln(out, " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ")
	}
}

// PrintTimes prints a row of latencies. Part is the factor from samples to latencies.
func PrintTimes(out io.Writer, size int, iterations uint64, s *stats.Samples, part float64, timed bool) {
	part /= 1e3 // µs
	if timed {
		tps := 0.0
		if s.Avg() > 0 { // of round trips, whatever the latency is
			tps = 1e9 / s.Avg()
		}
		fmt.Fprintf(out, " %-7d       %d            %-7.2f        %-7.2f\n", size, iterations, part*s.Avg(), tps)
		return
	}
	fmt.Fprintf(out, " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f\n",
		size, iterations, part*float64(s.Min), part*float64(s.Max), part*float64(s.Quantile(50)), part*s.Avg(),
		part*s.StdDev(), part*float64(s.Quantile(99)), part*float64(s.Quantile(99.9)))
}

// Rates are a row of bandwidths in the unit of the output.
type Rates struct{ Peak, Average, Messages float64 }

// Unit converts bytes per second to Gb/s or MiB/s.
func Unit(bytes float64, gbits bool) float64 {
	if gbits {
		return bytes * 8 / 1e9
	}
	return bytes / (1 << 20)
}

// Print prints the row.
func (r Rates) Print(out io.Writer, size int, iterations uint64, gbits bool) {
	if gbits && r.Average < 0.1 {
		fmt.Fprintf(out, " %-7d    %d           %-7.6f            %-7.6f            %-7.6f\n", size, iterations, r.Peak, r.Average, r.Messages)
		return
	}
	fmt.Fprintf(out, " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f\n", size, iterations, r.Peak, r.Average, r.Messages)
}
