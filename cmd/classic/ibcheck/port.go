package ibcheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/pma"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// checkOnePort is ibcheckerrs and ibdatacounts.
func checkOnePort(ctx context.Context, c *command) error {
	if !c.data {
		c.warnDeprecated()
	}
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	caller, client := pma.New(ctx, c.Diag, port)
	t := target{address: c.operands[0], port: "255", caller: caller, out: c.Env.Out}
	if len(c.operands) > 1 && c.operands[1] != "" {
		t.port = c.operands[1]
	}
	if c.ByGUID {
		to, err := client.TargetOf(ctx, ib.GUID(getopt.Strtoull(t.address)), c.SMLID)
		if err != nil {
			fmt.Fprintf(c.Env.Out, "guid %s address resolution: ", t.address)
			c.bad(c.Env.Out)
			return &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
		}
		t.address = fmt.Sprint(int(to.LID))
	}
	if !c.checkPort(&t) {
		return &cmdutil.ExitError{Code: getopt.ExitFailure}
	}
	return nil
}

// A target is a port to check.
type target struct {
	address string // LID as it was given
	port    string // as it was given; 255: the sums over all ports
	caller  *pma.Caller
	out     io.Writer
}

// portName returns the port in messages.
func (t *target) portName() string {
	if t.port == "255" {
		return "all"
	}
	return t.port
}

// resolve returns the target's address, as the script does with ibaddr: its node must
// respond. It prints failures.
func (c *command) resolve(t *target) (umad.Target, bool) {
	lid := getopt.Strtol(t.address)
	to := umad.Target{LID: ib.LID(lid)}
	ok := lid > 0 && lid <= 0xffff && to.LID.IsUnicast()
	for _, a := range []mad.Attribute{&mad.NodeInfo{}, &mad.PortInfo{}} {
		ok = ok && t.caller.GetSMP(to, 0, a) == nil
	}
	if !ok {
		fmt.Fprintf(t.out, "lid %s address resolution: ", t.address)
		c.bad(t.out)
	}
	return to, ok
}

// checkPort checks a port's error counters, or prints its traffic. It reports whether the
// port has no errors.
func (c *command) checkPort(t *target) bool {
	to, ok := c.resolve(t)
	if !ok {
		return false
	}
	var desc mad.NodeDescription
	_ = t.caller.GetSMP(to, 0, &desc) // without a response, the name is empty
	if c.data {
		c.warnDeprecated()
	}
	number := int(int32(getopt.Strtoull(t.port)))
	agent := pma.Agent{Caller: t.caller, To: to}
	var counts *mad.PortCounters
	err := agent.Describe(number, false)
	if err == nil {
		counts, err = agent.Read(number)
	}
	var failed *pma.Error
	if errors.As(err, &failed) && failed.Text == pma.NoAllPortSelect && !c.data {
		if c.verbose {
			fmt.Fprintf(t.out, "Error check on lid %s (%s) port %s: ", t.address, desc.Clean(), t.portName())
			c.good(t.out, failed.Text)
		}
		return true
	}
	switch {
	case err != nil && failed.Text != pma.NoAllPortSelect:
		fmt.Fprintf(t.out, "perfquery: iberror: failed: %v\n", err)
	case err != nil:
	case int(counts.PortSelect) != number:
		c.note(t.out, fmt.Sprintf("error: lid %s port %d does not match query (%s)\n", t.address, counts.PortSelect, t.port))
		ok = false
	case c.data:
		if !agent.Caps.Has(mad.PerfXmitWait) {
			counts.XmitWait = 0
		}
		fmt.Fprintf(t.out, "# Port counters: %v port %d (CapMask: 0x%02X)\n", agent.To, number, uint16(agent.Caps))
		printData(t.out, counts)
	default:
		if warnings := c.warnings(t, counts); warnings != "" {
			c.note(t.out, warnings)
			ok = false
		}
	}
	return c.verdict(t, desc.Clean(), ok && err == nil)
}

// verdict prints a port's result.
func (c *command) verdict(t *target, name string, ok bool) bool {
	check := "Error check"
	if c.data {
		check = "Error"
	}
	if !ok || c.verbose {
		fmt.Fprintf(t.out, "%s on lid %s (%s) port %s: ", check, t.address, name, t.portName())
	}
	switch {
	case !ok:
		c.bad(t.out)
	case c.verbose:
		c.good(t.out, "OK")
	}
	return ok
}

// warnings returns a line for each counter that has reached its threshold.
func (c *command) warnings(t *target, counts *mad.PortCounters) string {
	var b strings.Builder
	mad.Visit(counts, func(name string, _ int, v uint64) uint64 {
		for _, th := range c.thresholds {
			if th.name == name && th.limit > 0 && v >= th.limit {
				fmt.Fprintf(&b, "#warn: counter %s = %d \t(threshold %d) lid %s port %s\n", name, v, th.limit, t.address, t.port)
			}
		}
		return v
	})
	return b.String()
}

// printData prints the traffic counters.
func printData(out io.Writer, counts *mad.PortCounters) {
	for _, v := range []struct {
		name  string
		value uint32
	}{
		{"PortXmitData", counts.XmitData},
		{"PortRcvData", counts.RcvData},
		{"PortXmitPkts", counts.XmitPkts},
		{"PortRcvPkts", counts.RcvPkts},
	} {
		fmt.Fprintf(out, "%s:.........................%d\n", v.name, v.value)
	}
}

// checkNode checks that a node responds, as ibchecknode does.
func (c *command) checkNode(t *target) bool {
	to, ok := c.resolve(t)
	if !ok {
		return false
	}
	ok = t.caller.GetSMP(to, 0, &mad.NodeInfo{}) == nil
	if !ok || c.verbose {
		fmt.Fprintf(t.out, "Node check lid %s: ", t.address)
	}
	switch {
	case !ok:
		c.bad(t.out)
	case c.verbose:
		c.good(t.out, "OK")
	}
	return ok
}

// readFile returns a topology file's text.
func readFile(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err} // cat's exit code
	}
	return text, nil
}
