// Package perfquery is perfquery of infiniband-diags.
package perfquery

import (
	"context"
	"errors"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/pma"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// allPorts is the operand for the sums over all ports.
const allPorts = mad.AllPorts

// command is one call of perfquery.
type command struct {
	*getopt.Diag
	extended         bool
	tables           map[*table]bool
	allPorts         bool
	loop             bool
	reset, resetOnly bool

	port  int
	ports []int  // of a list or a range
	mask  uint64 // counters to reset; all ones without an operand
	given bool   // the mask is an operand

	caller *pma.Caller
	to     umad.Target
	out    *render.Output
	caps   mad.PerfCapMask
	caps2  mad.PerfCapMask2
}

// New returns perfquery.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "perfquery"), tables: map[*table]bool{}, mask: ^uint64(0)}
	options := []getopt.Option{
		{Long: "extended", Short: 'x', Help: "show extended port counters", Set: getopt.True(&c.extended)},
	}
	for i := range tables {
		t := &tables[i]
		options = append(options, getopt.Option{Long: t.option, Short: t.letter, Help: t.help, Set: func(string) error {
			c.tables[t] = true
			return nil
		}})
	}
	options = append(options,
		getopt.Option{Long: "all_ports", Short: 'a', Help: "show aggregated counters", Set: func(string) error {
			c.allPorts, c.port = true, allPorts
			return nil
		}},
		getopt.Option{Long: "loop_ports", Short: 'l', Help: "iterate through each port", Set: getopt.True(&c.loop)},
		getopt.Option{Long: "reset_after_read", Short: 'r', Help: "reset counters after read", Set: getopt.True(&c.reset)},
		getopt.Option{Long: "Reset_only", Short: 'R', Help: "only reset counters", Set: getopt.True(&c.resetOnly)},
	)
	return &getopt.Tool{
		Name: "perfquery", Family: getopt.InfinibandDiags, Operands: " [<lid|guid> [[port(s)] [reset_mask]]]",
		Examples: examples, Options: append(options, c.Options("DK")...), Run: c.run,
	}
}

var examples = []string{
	"\t\t# read local port's performance counters",
	"32 1\t\t# read performance counters from lid 32, port 1",
	"-x 32 1\t# read extended performance counters from lid 32, port 1",
	"-a 32\t\t# read performance counters from lid 32, all ports",
	"-r 32 1\t# read performance counters and reset",
	"-x -r 32 1\t# read extended performance counters and reset",
	"-R 0x20 1\t# reset performance counters of port 1 only",
	"-x -R 0x20 1\t# reset extended performance counters of port 1 only",
	"-R -a 32\t# reset performance counters of all ports",
	"-R 32 2 0x0fff\t# reset only error counters of port 2",
	"-R 32 2 0xf000\t# reset only non-error counters of port 2",
	"-a 32 1-10\t# read performance counters from lid 32, port 1-10, aggregate output",
	"-l 32 1-10\t# read performance counters from lid 32, port 1-10, output each port",
	"-a 32 1,4,8\t# read performance counters from lid 32, port 1, 4, and 8, aggregate output",
	"-l 32 1,4,8\t# read performance counters from lid 32, port 1, 4, and 8, output each port",
}

func (c *command) run(ctx context.Context, operands []string) error {
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	if err := c.parseOperands(operands); err != nil {
		return err
	}
	port, err := c.OpenPort(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	var client *umad.Client
	c.caller, client = pma.New(ctx, c.Diag, port)
	if len(operands) > 0 {
		c.to, err = c.Destination(ctx, client, operands[0])
	} else {
		attr := port.Attr()
		c.to, c.port = umad.Target{LID: attr.LID, SL: attr.SMSL}, int(attr.Number)
	}
	if err != nil {
		return err
	}
	c.out = render.NewOutput(c.Env.Out)
	err = c.query()
	return errors.Join(err, c.out.Flush())
}

// parseOperands parses the ports and the mask by the rules of strtoul.
func (c *command) parseOperands(operands []string) error {
	if len(operands) > 2 {
		c.mask, c.given = getopt.Strtoull(operands[2]), true
	}
	if len(operands) < 2 {
		return nil
	}
	ports := operands[1]
	if strings.Contains(ports, ",") {
		for _, p := range strings.FieldsFunc(ports, func(r rune) bool { return r == ',' }) {
			c.ports = append(c.ports, portNumber(p))
		}
	} else if first, last, ok := strings.Cut(ports, "-"); ok {
		from, to := portNumber(first), portNumber(last)
		switch {
		case from >= to:
			return c.Iberror("main", nil, "max port must be greater than min port in range")
		case to-from >= maxPorts:
			return c.Iberror("main", nil, "a range has at most %d ports", maxPorts)
		}
		for p := from; p <= to; p++ {
			c.ports = append(c.ports, p)
		}
	} else {
		c.port = portNumber(ports)
		return nil
	}
	if len(c.ports) > maxPorts {
		return c.Iberror("main", nil, "a list has at most %d ports", maxPorts)
	}
	c.port = 0
	if len(c.ports) > 0 {
		c.port = c.ports[0]
	}
	return nil
}

// maxPorts is the limit of lists and ranges. The C tool overwrites its memory beyond.
const maxPorts = 255

// portNumber parses a port number as C does, in an int.
func portNumber(s string) int { return int(int32(getopt.Strtoull(s))) }

// fail ends the tool in the way of IBEXIT, after the output so far.
func (c *command) fail(function, format string, args ...any) error {
	if err := c.out.Flush(); err != nil {
		return err
	}
	return c.Iberror(function, nil, format, args...)
}

// query prints or resets the selected counters.
func (c *command) query() error {
	var info mad.ClassPortInfo
	if c.caller.Get(&c.to, c.port, &info) != nil {
		return c.fail("main", "classportinfo query")
	}
	c.caps, c.caps2 = info.PerfCaps()
	emulate := false
	if !c.caps.Has(mad.PerfAllPortSelect) && c.port == allPorts {
		if !c.allPorts {
			return c.fail("main", "AllPortSelect not supported")
		}
		emulate = true
	}
	for i := range tables {
		if t := &tables[i]; c.tables[t] {
			return t.query(c, t)
		}
	}
	return c.queryPorts(emulate)
}

// queryPorts prints and resets PortCounters or PortCountersExtended of one or more ports.
// If emulate is set, the agent has no sums over all ports.
func (c *command) queryPorts(emulate bool) error {
	ports, one := c.ports, len(c.ports) < 2
	sum := c.allPorts && !c.loop && !one
	switch {
	case emulate, c.loop && (c.allPorts || c.port == allPorts):
		var err error
		if ports, err = c.nodePorts(); err != nil {
			return err
		}
		if sum = emulate && !c.loop; sum {
			c.caller.Warnf("main", "Emulating AllPortSelect by iterating through all ports")
		}
	case one:
		ports = []int{c.port}
	}
	if !c.resetOnly {
		if err := c.show(ports, sum); err != nil {
			return err
		}
	}
	if c.reset || c.resetOnly {
		return c.resetPorts(ports)
	}
	return nil
}

// nodePorts returns the ports of the node: with an enhanced port 0 from 0 on.
func (c *command) nodePorts() ([]int, error) {
	var node mad.NodeInfo
	if c.caller.GetSMP(c.to, 0, &node) != nil {
		return nil, c.fail("main", "smp query nodeinfo failed")
	}
	if node.NumPorts == 0 {
		return nil, c.fail("main", "smp query nodeinfo: num ports invalid")
	}
	first := 1
	if node.NodeType == mad.NodeTypeSwitch {
		var sw mad.SwitchInfo
		if c.caller.GetSMP(c.to, 0, &sw) != nil {
			return nil, c.fail("main", "smp query nodeinfo failed")
		}
		if sw.EnhancedPort0 != 0 {
			first = 0
		}
	}
	var ports []int
	for p := first; p <= int(node.NumPorts); p++ {
		ports = append(ports, p)
	}
	return ports, nil
}

// resetPorts resets the selected counters of ports.
func (c *command) resetPorts(ports []int) error {
	mask := uint64(uint32(c.mask))
	if !c.given {
		mask = 0xffff
	}
	if !c.given || c.extended {
		mask |= c.optionalCounters()
	}
	id, failure := mad.AttrPortCounters, "perf reset"
	if c.extended {
		id, failure = mad.AttrPortCountersExtended, "perf ext reset"
	}
	for _, p := range ports {
		if c.caller.Reset(&c.to, id, pma.Selection{Port: p, Counters: mask}) != nil {
			return c.fail("reset_counters", "%s", failure)
		}
	}
	return nil
}

// optionalCounters returns the mask of the counters beyond CounterSelect.
func (c *command) optionalCounters() uint64 {
	const xmitWait, qp1Dropped = 1 << 16, 1 << 17
	const extended, extendedXmitWait, extendedQP1Dropped = 0xfff0000, 1 << 28, 1 << 29
	mask := uint64(0)
	for _, counter := range []struct {
		caps             mad.PerfCapMask
		normal, extended uint64
	}{{0, 0, extended}, {mad.PerfXmitWait, xmitWait, extendedXmitWait}, {mad.PerfQP1Dropped, qp1Dropped, extendedQP1Dropped}} {
		switch {
		case !c.caps.Has(counter.caps):
		case c.extended:
			mask |= counter.extended
		default:
			mask |= counter.normal
		}
	}
	return mask
}
