package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/perftest"
	"github.com/ibkit/ibkit/verbs"
)

// perftestLine separates the parts of what the programs print.
var perftestLine = strings.Repeat("-", 87) + "\n"

// perftestTitles are the verbs as the programs print them.
var perftestTitles = map[perftest.Verb]string{
	perftest.Send: "Send", perftest.Write: "RDMA_Write", perftest.Read: "RDMA_Read", perftest.Atomic: "Atomic",
}

// header prints what the test is and where this side is.
func (c *classicPerf) header() {
	if c.output != "" {
		return
	}
	t, place, client := c.test, c.session.Place(), c.server != ""
	perftestHeader{
		Test: t, mtu: verbs.MTU(c.session.Agreed.MTU).Bytes(), device: place.Port.Device, link: place.Port.Attr.LinkLayer.String(),
		gid: place.GID.GID.IsValid(), gidIndex: int(place.GID.Index), reads: c.session.Local[0].OutReads,
		sends: client || t.Bidirectional, receives: t.Verb == perftest.Send && (!client || t.Bidirectional),
	}.print(c.out)
	c.keys("local", c.session.Local)
}

// A perftestHeader is what the programs say of a test before it.
type perftestHeader struct {
	perftest.Test
	mtu             int // bytes
	device, link    string
	gid             bool
	gidIndex        int
	reads           uint32
	sends, receives bool // this side does
}

func (h perftestHeader) title() string {
	words := []string{perftestTitles[h.Verb]}
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

// print prints it, between two rules.
func (h perftestHeader) print(out io.Writer) {
	fmt.Fprintf(out, "%s                    %s\n", perftestLine, h.title())
	if h.Events {
		fmt.Fprintf(out, " Test with events. Using %s_comp0\n", h.device)
	}
	fmt.Fprintf(out, " Dual-port       : OFF\t\tDevice         : %s\n", h.device)
	fmt.Fprintf(out, " Number of qps   : %d\t\tTransport type : IB\n", h.QueuePairs)
	fmt.Fprintf(out, " Connection type : %v\t\tUsing SRQ      : OFF\n", h.Type)
	fmt.Fprintf(out, " PCIe relax order: OFF\n ibv_wr* API     : OFF\n")
	if h.sends {
		fmt.Fprintf(out, " TX depth        : %d\n", h.TxDepth)
	}
	if h.List > 1 {
		fmt.Fprintf(out, " Post List       : %d\n", h.List)
	}
	if h.receives {
		fmt.Fprintf(out, " RX depth        : %d\n", h.RxDepth)
	}
	if h.Bandwidth {
		fmt.Fprintf(out, " CQ Moderation   : %d\n", h.Moderate(h.Sizes[0]))
	}
	fmt.Fprintf(out, " Mtu             : %d[B]\n", h.mtu)
	fmt.Fprintf(out, " Link type       : %s\n", h.link)
	if h.gid {
		fmt.Fprintf(out, " GID index       : %d\n", h.gidIndex)
	}
	if h.Verb == perftest.Read || h.Verb == perftest.Atomic {
		fmt.Fprintf(out, " Outstand reads  : %d\n", h.reads)
	} else {
		fmt.Fprintf(out, " Max inline data : %d[B]\n", h.Inline)
	}
	fmt.Fprintf(out, " rdma_cm QPs\t : OFF\n Data ex. method : Ethernet\n%s", perftestLine)
}

// keys prints where a side's queue pairs are.
func (c *classicPerf) keys(side string, keys []perftest.Key) {
	for _, k := range keys {
		fmt.Fprintf(c.out, " %s address: LID %s QPN %s PSN %s", side, hashHex(uint64(k.LID), 4), hashHex(uint64(k.QPN), 6), hashHex(uint64(k.PSN), 6))
		if c.test.Verb == perftest.Read {
			fmt.Fprintf(c.out, " OUT %s", hashHex(uint64(k.OutReads), 4))
		}
		if c.test.Verb == perftest.Read || c.test.Verb == perftest.Write {
			fmt.Fprintf(c.out, " RKey %s VAddr %s", hashHex(uint64(k.RKey), 8), hashHex(k.VAddr, 16))
		}
		fmt.Fprintln(c.out)
		if k.GID.IsValid() {
			var octets []string
			for _, b := range k.GID.As16() {
				octets = append(octets, fmt.Sprintf("%02d", b))
			}
			fmt.Fprintf(c.out, " GID: %s\n", strings.Join(octets, ":"))
		}
	}
}

// hashHex is C's %#0*x: without 0x where the number is 0.
func hashHex(v uint64, width int) string {
	if v == 0 {
		return strings.Repeat("0", width)
	}
	return "0x" + fmt.Sprintf("%0*x", width-2, v)
}

// columns prints what is above the figures, once the other side is known.
func (c *classicPerf) columns() {
	if c.answered || c.output != "" {
		return
	}
	c.answered = true
	c.keys("remote", c.session.Remote)
	fmt.Fprint(c.out, perftestLine)
	perftestColumns(c.out, c.test.Bandwidth, c.test.Timed, c.test.Gbits)
}

// perftestColumns prints what is above the rows.
func perftestColumns(out io.Writer, bandwidth, timed, gbits bool) {
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

// row prints the figures of a size.
func (c *classicPerf) row(r perftest.Result) {
	c.columns()
	c.finished = c.output == ""
	if c.test.Bandwidth {
		c.bandwidth(r)
	} else {
		c.latency(r)
	}
	// Someone may be looking on.
	_ = c.out.Flush() // the last Flush says it again
}

// latency is a row of times, of one way where a message is answered.
func (c *classicPerf) latency(r perftest.Result) {
	part := 1.0
	if c.test.Both() {
		part = 0.5
	}
	if c.output != "" {
		fmt.Fprintf(c.out, "%f\n", part*r.Samples.Avg()/1e3)
		return
	}
	iterations := uint64(c.test.Iterations)
	if c.test.Timed {
		iterations = r.Messages
	}
	perftestTimes(c.out, r.Size, iterations, r.Samples, part, c.test.Timed)
}

// perftestTimes prints a row of times: parts of what was measured.
func perftestTimes(out io.Writer, size int, iterations uint64, s *loop.Samples, part float64, timed bool) {
	part /= 1e3 // µs
	if timed {
		tps := 0.0
		if s.Avg() > 0 {
			tps = 1e6 / (part * s.Avg())
		}
		fmt.Fprintf(out, " %-7d       %d            %-7.2f        %-7.2f\n", size, iterations, part*s.Avg(), tps)
		return
	}
	fmt.Fprintf(out, " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f\n",
		size, iterations, part*float64(s.Min), part*float64(s.Max), part*float64(s.Quantile(50)), part*s.Avg(),
		part*s.StdDev(), part*float64(s.Quantile(99)), part*float64(s.Quantile(99.9)))
}

// perftestRates are a row of bandwidth, in the unit of the program.
type perftestRates struct{ peak, average, messages float64 }

// perftestUnit returns bytes per second in Gb/s or MiB/s.
func perftestUnit(bytes float64, gbits bool) float64 {
	if gbits {
		return bytes * 8 / 1e9
	}
	return bytes / (1 << 20)
}

// bandwidth is a row of rates. Of a test both ways they are the sum of both
// sides'; of one that the other side alone measured, its.
func (c *classicPerf) bandwidth(r perftest.Result) {
	var rates perftestRates
	iterations := r.Messages / uint64(c.test.QueuePairs)
	if seconds := r.Elapsed.Seconds(); seconds > 0 {
		rates.average, rates.messages = perftestUnit(float64(r.Bytes())/seconds, c.test.Gbits), float64(r.Messages)/seconds/1e6
		rates.peak = rates.average
	}
	for _, w := range r.Rates {
		rates.peak = max(rates.peak, perftestUnit(float64(w.Count)*float64(r.Size)/(float64(w.Length)/1e9), c.test.Gbits))
	}
	// The other side tells its in the unit that it was told to print.
	if r.Theirs != nil {
		rates.peak, rates.average, rates.messages = rates.peak+r.Theirs.Peak, rates.average+r.Theirs.Average, rates.messages+r.Theirs.MsgRate
		iterations = max(iterations, r.Theirs.Iterations)
	}
	if c.noPeak || c.test.Timed {
		rates.peak = 0
	}
	c.failed = c.failed || rates.average < c.minRate || rates.messages < c.minMsgs
	switch c.output {
	case "message_rate":
		fmt.Fprintf(c.out, "%f\n", rates.messages)
	case "":
		rates.print(c.out, r.Size, iterations, c.test.Gbits)
	default:
		fmt.Fprintf(c.out, "%f\n", rates.average)
	}
}

// print prints a row.
func (r perftestRates) print(out io.Writer, size int, iterations uint64, gbits bool) {
	if gbits && r.average < 0.1 {
		fmt.Fprintf(out, " %-7d    %d           %-7.6f            %-7.6f            %-7.6f\n", size, iterations, r.peak, r.average, r.messages)
		return
	}
	fmt.Fprintf(out, " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f\n", size, iterations, r.peak, r.average, r.messages)
}
