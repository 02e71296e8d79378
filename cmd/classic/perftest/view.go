package perftest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/shared/perftestview"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
)

// fail records an output error. The test continues.
func (c *command) fail(err error) { c.err = errors.Join(c.err, err) }

// begin prints the test settings and the local queue pair addresses.
func (c *command) begin(s *perftest.Session) error {
	t, local := c.test, s.Local()
	c.localDevice, c.localPort = local.Device, local.Port
	if _, err := c.readCounters(); err != nil {
		return err
	}
	c.header = perftestview.Header{
		Test: t, MTU: s.MTU(), Device: local.Device, Link: local.Link, IWARP: s.IWARP(),
		HasGID: local.GIDIndex >= 0, GIDIndex: local.GIDIndex, Reads: s.Keys[0].OutReads,
		Server: c.server == "", Managed: c.managed(), ManagedQPs: c.cm.QueuePairs, TOS: c.cm.TOS,
		Sends: c.leads() || t.Bidirectional, Receives: t.Consumes() && (!c.leads() || t.Bidirectional),
	}
	if c.output != "" {
		return nil
	}
	c.header.Print(c.out)
	c.keys("local", s.Keys)
	c.flush()
	return nil
}

// flush makes the output visible to a user who watches. The program's last
// Flush repeats an error.
func (c *command) flush() { _ = c.out.Flush() }

// keys prints a side's queue pair addresses.
func (c *command) keys(side string, keys []perftest.Key) {
	for _, k := range keys {
		lid := k.LID
		if side == "remote" && c.test.DLID != 0 {
			lid = c.test.DLID
		}
		fmt.Fprintf(c.out, " %s address: LID %s QPN %s PSN %s", side, hashHex(uint64(lid), 4), hashHex(uint64(k.QPN), 6), hashHex(uint64(k.PSN), 6))
		// With the connection manager, perftest prints the addresses in a send test.
		remote := !c.managed() && (c.test.Verb == perftest.Read || c.test.Verb == perftest.Write)
		if remote && c.test.Verb == perftest.Read {
			fmt.Fprintf(c.out, " OUT %s", hashHex(uint64(k.OutReads), 4))
		}
		if remote {
			fmt.Fprintf(c.out, " RKey %s VAddr %s", hashHex(uint64(k.RKey), 8), hashHex(k.VAddr, 16))
		}
		if c.test.XRC() {
			fmt.Fprintf(c.out, " SRQn %s", hashHex(uint64(k.SRQN), 8))
		}
		fmt.Fprintln(c.out)
		if k.GID.IsValid() {
			var octets []string
			for _, b := range k.GID.As16() {
				octets = append(octets, fmt.Sprintf("%02d", b))
			}
			name := "GID"
			// perftest names the server's group.
			if server := c.server == ""; c.multicast && (side == "local") == server {
				name = "MGID"
			}
			fmt.Fprintf(c.out, " %s: %s\n", name, strings.Join(octets, ":"))
		}
	}
}

// hashHex formats a number like C's %#0*x: without 0x if it is 0.
func hashHex(v uint64, width int) string {
	if v == 0 {
		return strings.Repeat("0", width)
	}
	return "0x" + fmt.Sprintf("%0*x", width-2, v)
}

// connected prints the remote queue pair addresses and the figures' heading.
func (c *command) connected(s *perftest.Session) {
	if c.output != "" {
		return
	}
	c.keys("remote", s.Remote)
	if !c.passive() {
		fmt.Fprint(c.out, perftestview.Rule)
		c.columns()
	}
	c.tabled = true
	c.flush()
}

// passive reports whether this side has no figures: the server in a latency test, unless
// the peer answers with messages.
func (c *command) passive() bool { return !c.leads() && !c.test.Bandwidth && !c.test.Both() }

func (c *command) columns() {
	t := c.test
	perftestview.Columns{Bandwidth: t.Bandwidth, Timed: t.Timed, Gbits: t.Gbits, Load: t.CPUUtil}.Print(c.out)
}

// ended prints the output's end, before the objects are released.
func (c *command) ended() {
	if c.bothResults && c.test.Bidirectional && !c.test.All && !c.test.Infinite && c.last.Size > 0 {
		c.printBoth()
	}
	if c.tabled {
		fmt.Fprint(c.out, perftestview.Rule)
	}
	if c.wait > 0 {
		fmt.Fprintf(c.out, " Waiting %d seconds before releasing resources...\n", int(c.wait.Seconds()))
		c.flush()
		time.Sleep(c.wait)
	}
}

// row prints the figures for a size. If a size failed, its figures are not printed, like
// in perftest: a row looks complete.
func (c *command) row(r perftest.Result) {
	if r.Partial {
		return
	}
	c.last = r
	if c.test.Bandwidth {
		c.bandwidth(r)
	} else {
		c.latency(r)
	}
	c.printCounters(c.out)
	c.flush()
}

// load returns the processor load, nil if it is not printed.
func (c *command) load(r perftest.Result) *float64 {
	if !c.test.CPUUtil {
		return nil
	}
	return &r.CPUUtil
}

// latency prints a latency row: half a round trip if the peer answers with a message.
func (c *command) latency(r perftest.Result) {
	times := perftestview.Times{
		Size: r.Size, Iterations: uint64(c.test.Iterations), Samples: r.Samples, Part: 1, Timed: c.test.Timed, Load: c.load(r),
	}
	if c.test.Both() {
		times.Part = 0.5
	}
	unit := "usec"
	if c.cycles {
		times.Cycles, unit = perftest.CyclesPerNanosecond(), "cycles"
	}
	if c.test.Timed {
		times.Iterations, times.Elapsed = r.Messages, r.Elapsed
	} else {
		c.printSamples(r, unit, times.Scale())
	}
	if c.output != "" {
		average := times.Figures()[3]
		name := "avg_lat"
		if c.test.Timed {
			name = "t_avg"
		}
		c.writeJSON([]perftestview.Member{{Name: name, Value: perftestview.Decimal{Value: average, Decimals: 6}}})
		fmt.Fprintf(c.out, "%f\n", average)
		return
	}
	c.writeJSON(times.Members())
	times.Print(c.out)
}

// bandwidth prints a bandwidth row: the sum over both directions in a bidirectional test,
// or the client's figures if only the client has any.
func (c *command) bandwidth(r perftest.Result) {
	rates := c.rowOf(r)
	// The peer's figures are in its own output's unit.
	if r.Theirs != nil {
		rates.Peak, rates.Average, rates.Messages = rates.Peak+r.Theirs.Peak, rates.Average+r.Theirs.Average, rates.Messages+r.Theirs.MsgRate
		if r.Messages == 0 { // this side sent none
			rates.Iterations = r.Theirs.Iterations
		}
	}
	// In an endless test, the peer never sends its figures.
	if c.test.Infinite && c.test.Bidirectional {
		rates.Average, rates.Messages = 2*rates.Average, 2*rates.Messages
	}
	c.belowLimit = c.belowLimit || rates.Average < c.minRate || rates.Messages < c.minMsgs
	decimal := func(v float64) perftestview.Decimal { return perftestview.Decimal{Value: v, Decimals: 6} }
	switch c.output {
	case "message_rate":
		c.writeJSON([]perftestview.Member{{Name: "msgRate_avg", Value: decimal(rates.Messages)}})
		fmt.Fprintf(c.out, "%f\n", rates.Messages)
	case "":
		c.writeJSON(rates.Members())
		rates.Print(c.out)
	default:
		c.writeJSON([]perftestview.Member{{Name: "bw_avg", Value: decimal(rates.Average)}})
		fmt.Fprintf(c.out, "%f\n", rates.Average)
	}
}

// rowOf returns this side's figures.
func (c *command) rowOf(r perftest.Result) perftestview.Rates {
	rates := perftestview.Rates{
		Size: r.Size, Iterations: uint64(c.test.Iterations) * uint64(c.test.QueuePairs), Gbits: c.test.Gbits, Load: c.load(r),
	}
	if c.test.Timed || c.test.Infinite {
		rates.Iterations = r.Messages
	}
	if seconds := r.Elapsed.Seconds(); seconds > 0 {
		rates.Average, rates.Messages = perftestview.Unit(float64(r.Bytes())/seconds, c.test.Gbits), float64(r.Messages)/seconds/1e6
		rates.Peak = perftestview.Unit(r.Peak*float64(r.Size), c.test.Gbits)
	}
	return rates
}
