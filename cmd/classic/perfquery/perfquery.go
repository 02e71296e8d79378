// Package perfquery implements perfquery from infiniband-diags. It queries a single port,
// adds up ports and clears counters in the original's request order, and prints
// libibmad's dump format, while package counters scans the fabric.
package perfquery

import (
	"context"
	"errors"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/pma"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// allPorts is the operand for the sums over all ports.
const allPorts = mad.AllPorts

// command is a perfquery call.
type command struct {
	*getopt.Diag
	extended         bool
	tables           map[*table]bool
	allPorts         bool
	loop             bool
	reset, resetOnly bool

	port  int
	ports []int // from a list or a range
	mask  pma.Mask

	agent *pma.Agent
	out   *render.Output
}

// New returns perfquery.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "perfquery"), tables: map[*table]bool{}, mask: pma.Mask{Bits: ^uint64(0)}}
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
	caller, client := pma.New(ctx, c.Diag, port)
	c.agent = &pma.Agent{Caller: caller}
	if len(operands) > 0 {
		c.agent.To, err = c.Destination(ctx, client, operands[0])
	} else {
		attr := port.Attr()
		c.agent.To, c.port = umad.Target{LID: attr.LID, SL: attr.SMSL}, int(attr.Number)
	}
	if err != nil {
		return err
	}
	if c.reset || c.resetOnly {
		if c.agent.Identify(c.agent.To); c.ByGUID && len(operands) > 0 {
			c.agent.Expect.PortGUID = ib.GUID(getopt.Strtoull(operands[0]))
		}
	}
	c.out = render.NewOutput(c.Env.Out)
	err = c.query()
	var failed *pma.Error
	if errors.As(err, &failed) {
		err = c.fail(failed.Function, "%s", failed.Text)
	}
	return errors.Join(err, c.out.Flush())
}

// parseOperands parses the ports and the mask by strtoul's rules.
func (c *command) parseOperands(operands []string) error {
	if len(operands) > 2 {
		c.mask = pma.Mask{Given: true, Bits: getopt.Strtoull(operands[2])}
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

// maxPorts is the limit for lists and ranges. The C tool overwrites its memory beyond.
const maxPorts = 255

// portNumber parses a port number as C does, in an int.
func portNumber(s string) int { return int(int32(getopt.Strtoull(s))) }

// fail ends the tool like IBEXIT, after the output so far.
func (c *command) fail(function, format string, args ...any) error {
	if err := c.out.Flush(); err != nil {
		return err
	}
	return c.Iberror(function, nil, format, args...)
}

// query prints or resets the selected counters.
func (c *command) query() error {
	if err := c.agent.Describe(c.port, c.allPorts); err != nil {
		return err
	}
	emulate := c.port == allPorts && !c.agent.Caps.Has(mad.PerfAllPortSelect)
	for i := range tables {
		if t := &tables[i]; c.tables[t] {
			return t.query(c, t)
		}
	}
	return c.queryPorts(emulate)
}

// queryPorts prints and resets PortCounters or PortCountersExtended on one or more ports.
// If emulate is set, the agent has no sums over all ports.
func (c *command) queryPorts(emulate bool) error {
	ports, one := c.ports, len(c.ports) < 2
	sum := c.allPorts && !c.loop && !one
	switch {
	case emulate, c.loop && (c.allPorts || c.port == allPorts):
		var err error
		if ports, err = c.agent.Ports(); err != nil {
			return err
		}
		if sum = emulate && !c.loop; sum {
			c.agent.WarnEmulated()
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
		return c.agent.ResetPorts(ports, c.mask, c.extended)
	}
	return nil
}
