package cmd

import (
	"fmt"
	"math"
	"strings"

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
	t := c.test
	title := perftestTitles[t.Verb] + " "
	if t.Verb == perftest.Atomic {
		kind := "FETCH_AND_ADD "
		if t.CompareSwap {
			kind = "CMP_AND_SWAP "
		}
		title += kind
	}
	switch {
	case !t.Bandwidth:
		title += "Latency "
	default:
		if t.Bidirectional {
			title += "Bidirectional "
		}
		if t.List > 1 {
			title += "Post List "
		}
		title += "BW "
	}
	p := c.session.Place().Port
	client := c.server != ""
	fmt.Fprintf(c.out, "%s                    %sTest\n", perftestLine, title)
	if t.Events {
		fmt.Fprintf(c.out, " Test with events. Using %s_comp0\n", p.Device)
	}
	fmt.Fprintf(c.out, " Dual-port       : OFF\t\tDevice         : %s\n", p.Device)
	fmt.Fprintf(c.out, " Number of qps   : %d\t\tTransport type : IB\n", t.QueuePairs)
	fmt.Fprintf(c.out, " Connection type : %v\t\tUsing SRQ      : OFF\n", t.Type)
	fmt.Fprintf(c.out, " PCIe relax order: OFF\n ibv_wr* API     : OFF\n")
	if client || t.Bidirectional {
		fmt.Fprintf(c.out, " TX depth        : %d\n", t.TxDepth)
	}
	if t.List > 1 {
		fmt.Fprintf(c.out, " Post List       : %d\n", t.List)
	}
	if t.Verb == perftest.Send && (!client || t.Bidirectional) {
		fmt.Fprintf(c.out, " RX depth        : %d\n", t.RxDepth)
	}
	if t.Bandwidth {
		fmt.Fprintf(c.out, " CQ Moderation   : %d\n", t.Moderate(t.Sizes[0]))
	}
	fmt.Fprintf(c.out, " Mtu             : %d[B]\n", verbs.MTU(c.session.Agreed.MTU).Bytes())
	fmt.Fprintf(c.out, " Link type       : %v\n", p.Attr.LinkLayer)
	if gid := c.session.Place().GID; gid.GID.IsValid() {
		fmt.Fprintf(c.out, " GID index       : %d\n", gid.Index)
	}
	if t.Verb == perftest.Read || t.Verb == perftest.Atomic {
		fmt.Fprintf(c.out, " Outstand reads  : %d\n", c.session.Local[0].OutReads)
	} else {
		fmt.Fprintf(c.out, " Max inline data : %d[B]\n", t.Inline)
	}
	fmt.Fprintf(c.out, " rdma_cm QPs\t : OFF\n Data ex. method : Ethernet\n%s", perftestLine)
	c.keys("local", c.session.Local)
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
	unit := "MB/sec"
	if c.test.Gbits {
		unit = "Gb/sec"
	}
	switch {
	case c.test.Bandwidth:
		fmt.Fprintf(c.out, " #bytes     #iterations    BW peak[%s]    BW average[%s]   MsgRate[Mpps]\n", unit, unit)
	case c.test.Timed:
		fmt.Fprintln(c.out, " #bytes        #iterations       t_avg[usec]    tps average")
	default:
		fmt.Fprintln(c.out, " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ")
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
	s, part := r.Samples, 1e-3
	if c.test.Both() {
		part /= 2
	}
	switch {
	case c.output != "":
		fmt.Fprintf(c.out, "%f\n", part*s.Avg())
	case c.test.Timed:
		tps := 0.0
		if s.Avg() > 0 {
			tps = 1e6 / (part * s.Avg())
		}
		fmt.Fprintf(c.out, " %-7d       %d            %-7.2f        %-7.2f\n", r.Size, r.Messages, part*s.Avg(), tps)
	default:
		fmt.Fprintf(c.out, " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f\n",
			r.Size, c.test.Iterations, part*float64(s.Min), part*float64(s.Max), part*float64(s.Quantile(50)), part*s.Avg(),
			part*s.StdDev(), part*float64(s.Quantile(99)), part*float64(s.Quantile(99.9)))
	}
}

// bandwidth is a row of rates. Of a test both ways they are the sum of both
// sides'; of one that the other side alone measured, its.
func (c *classicPerf) bandwidth(r perftest.Result) {
	const mebi = 1 << 20
	toUnit := func(bytes float64) float64 {
		if c.test.Gbits {
			return bytes * 8 / 1e9
		}
		return bytes / mebi
	}
	peak, average, rate := 0.0, 0.0, 0.0
	iterations := r.Messages / uint64(c.test.QueuePairs)
	if seconds := r.Elapsed.Seconds(); seconds > 0 {
		average, rate = toUnit(float64(r.Bytes())/seconds), float64(r.Messages)/seconds/1e6
		peak = average
	}
	for _, w := range r.Rates {
		peak = max(peak, toUnit(float64(w.Count)*float64(r.Size)/(float64(w.Length)/1e9)))
	}
	// The other side tells its in the unit that it was told to print.
	if r.Theirs != nil {
		peak, average, rate = peak+r.Theirs.Peak, average+r.Theirs.Average, rate+r.Theirs.MsgRate
		iterations = max(iterations, r.Theirs.Iterations)
	}
	if c.noPeak || c.test.Timed {
		peak = 0
	}
	c.failed = c.failed || average < c.minRate || rate < c.minMsgs
	switch {
	case c.output == "message_rate":
		fmt.Fprintf(c.out, "%f\n", rate)
	case c.output != "":
		fmt.Fprintf(c.out, "%f\n", average)
	case c.test.Gbits && math.Abs(average) < 0.1:
		fmt.Fprintf(c.out, " %-7d    %d           %-7.6f            %-7.6f            %-7.6f\n", r.Size, iterations, peak, average, rate)
	default:
		fmt.Fprintf(c.out, " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f\n", r.Size, iterations, peak, average, rate)
	}
}
