package perftest

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/shared/perftestview"
	"github.com/ibkit/ibkit/perf/perftest"
)

// header prints the settings of the test and the addresses of the local queue pairs.
func (c *command) header(s *perftest.Session) {
	if c.output != "" {
		return
	}
	t, local, client := c.test, s.Local(), c.server != ""
	perftestview.Header{
		Test: t, MTU: s.MTU(), Device: local.Device, Link: local.Link,
		HasGID: local.GIDIndex >= 0, GIDIndex: local.GIDIndex, Reads: s.Keys[0].OutReads,
		Sends: client || t.Bidirectional, Receives: t.Verb == perftest.Send && (!client || t.Bidirectional),
	}.Print(c.out)
	c.keys("local", s.Keys)
	c.flush()
}

// flush makes the output visible to a user who watches. The last Flush of the program
// repeats an error.
func (c *command) flush() { _ = c.out.Flush() }

// keys prints the addresses of the queue pairs of a side.
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

// hashHex formats a number like %#0*x of C: without 0x if it is 0.
func hashHex(v uint64, width int) string {
	if v == 0 {
		return strings.Repeat("0", width)
	}
	return "0x" + fmt.Sprintf("%0*x", width-2, v)
}

// table prints the addresses of the remote queue pairs and the heading of the figures.
func (c *command) table(s *perftest.Session) {
	if c.output != "" {
		return
	}
	c.keys("remote", s.Remote)
	fmt.Fprint(c.out, perftestview.Rule)
	perftestview.PrintColumns(c.out, c.test.Bandwidth, c.test.Timed, c.test.Gbits)
	c.tabled = true
	c.flush()
}

// row prints the figures of a size.
func (c *command) row(r perftest.Result) {
	if c.test.Bandwidth {
		c.bandwidth(r)
	} else {
		c.latency(r)
	}
	c.flush()
}

// latency prints a row of latencies: half of a round trip if the peer answers with a
// message.
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

// bandwidth prints a row of bandwidths: the sum of both directions of a bidirectional
// test, or the client's figures if only the client has any.
func (c *command) bandwidth(r perftest.Result) {
	var rates perftestview.Rates
	iterations := uint64(c.test.Iterations) * uint64(c.test.QueuePairs)
	if c.test.Timed {
		iterations = r.Messages
	}
	if seconds := r.Elapsed.Seconds(); seconds > 0 {
		rates.Average, rates.Messages = perftestview.Unit(float64(r.Bytes())/seconds, c.test.Gbits), float64(r.Messages)/seconds/1e6
		rates.Peak = rates.Average
	}
	for _, w := range r.Rates {
		rates.Peak = max(rates.Peak, perftestview.Unit(w.PerSecond()*float64(r.Size), c.test.Gbits))
	}
	// The peer's figures are in the unit of its own output.
	if r.Theirs != nil {
		rates.Peak, rates.Average, rates.Messages = rates.Peak+r.Theirs.Peak, rates.Average+r.Theirs.Average, rates.Messages+r.Theirs.MsgRate
		if r.Messages == 0 { // this side sent none
			iterations = r.Theirs.Iterations
		}
	}
	if c.noPeak || c.test.Timed {
		rates.Peak = 0
	}
	c.belowLimit = c.belowLimit || rates.Average < c.minRate || rates.Messages < c.minMsgs
	switch c.output {
	case "message_rate":
		fmt.Fprintf(c.out, "%f\n", rates.Messages)
	case "":
		rates.Print(c.out, r.Size, iterations, c.test.Gbits)
	default:
		fmt.Fprintf(c.out, "%f\n", rates.Average)
	}
}
