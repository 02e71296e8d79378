package perftest

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/shared/perftestview"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/perf/perftest"
)

// header prints what the test is and where this side is.
func (c *command) header() {
	if c.output != "" {
		return
	}
	t, place, client := c.test, c.session.Place(), c.server != ""
	perftestview.Header{
		Test: t, MTU: ib.MTU(c.session.Agreed.MTU).Bytes(), Device: place.Port.Device, Link: place.Port.Attr.LinkLayer.String(),
		HasGID: place.GID.GID.IsValid(), GIDIndex: int(place.GID.Index), Reads: c.session.Local[0].OutReads,
		Sends: client || t.Bidirectional, Receives: t.Verb == perftest.Send && (!client || t.Bidirectional),
	}.Print(c.out)
	c.keys("local", c.session.Local)
}

// keys prints where a side's queue pairs are.
func (c *command) keys(side string, keys []perftest.Key) {
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
func (c *command) columns() {
	if c.answered || c.output != "" {
		return
	}
	c.answered = true
	c.keys("remote", c.session.Remote)
	fmt.Fprint(c.out, perftestview.Rule)
	perftestview.PrintColumns(c.out, c.test.Bandwidth, c.test.Timed, c.test.Gbits)
}

// row prints the figures of a size.
func (c *command) row(r perftest.Result) {
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
func (c *command) latency(r perftest.Result) {
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
	perftestview.PrintTimes(c.out, r.Size, iterations, r.Samples, part, c.test.Timed)
}

// bandwidth is a row of rates. Of a test both ways they are the sum of both
// sides'; of one that the other side alone measured, its.
func (c *command) bandwidth(r perftest.Result) {
	var rates perftestview.Rates
	iterations := r.Messages / uint64(c.test.QueuePairs)
	if seconds := r.Elapsed.Seconds(); seconds > 0 {
		rates.Average, rates.Messages = perftestview.Unit(float64(r.Bytes())/seconds, c.test.Gbits), float64(r.Messages)/seconds/1e6
		rates.Peak = rates.Average
	}
	for _, w := range r.Rates {
		rates.Peak = max(rates.Peak, perftestview.Unit(float64(w.Count)*float64(r.Size)/(float64(w.Length)/1e9), c.test.Gbits))
	}
	// The other side tells its in the unit that it was told to print.
	if r.Theirs != nil {
		rates.Peak, rates.Average, rates.Messages = rates.Peak+r.Theirs.Peak, rates.Average+r.Theirs.Average, rates.Messages+r.Theirs.MsgRate
		iterations = max(iterations, r.Theirs.Iterations)
	}
	if c.noPeak || c.test.Timed {
		rates.Peak = 0
	}
	c.failed = c.failed || rates.Average < c.minRate || rates.Messages < c.minMsgs
	switch c.output {
	case "message_rate":
		fmt.Fprintf(c.out, "%f\n", rates.Messages)
	case "":
		rates.Print(c.out, r.Size, iterations, c.test.Gbits)
	default:
		fmt.Fprintf(c.out, "%f\n", rates.Average)
	}
}
