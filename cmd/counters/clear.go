package counters

import (
	"context"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/counters"
	"github.com/ibkit/ibkit/internal/plural"
)

// parts are the values of --reset.
var parts = map[string]counters.Part{
	"errors":  counters.ErrorCounters,
	"traffic": counters.TrafficCounters,
	"details": counters.DetailCounters,
}

// clear sets counters to 0 after a confirmation. The table above has the values.
func (c *command) clear(ctx context.Context, r *counters.Result) error {
	var selected counters.Part
	for _, name := range c.reset {
		selected |= parts[name]
	}
	var ports []*counters.Port
	for p := range r.AllPorts() {
		if p.Now != nil {
			ports = append(ports, p)
		}
	}
	if len(ports) == 0 {
		return fmt.Errorf("clear counters: no port was read")
	}
	question := fmt.Sprintf("Clear the counters (%s) of %s?", strings.Join(c.reset, ", "), plural.Count(len(ports), "port", "ports"))
	if !c.yes {
		if err := cmdutil.Confirm(ctx, c.env, question); err != nil {
			return fmt.Errorf("clear counters: %w", err)
		}
	}
	c.printDiscarded(ports, selected)
	if err := r.Clear(ctx, c.options, ports, selected); err != nil {
		return err
	}
	c.printFailures(r)
	fmt.Fprintf(c.env.Out, "cleared the counters (%s) of %s\n", strings.Join(c.reset, ", "), plural.Count(len(ports), "port", "ports"))
	return cmdutil.ResultError(r.Partial(), false)
}

// printDiscarded prints the values that are cleared and are not 0.
func (c *command) printDiscarded(ports []*counters.Port, selected counters.Part) {
	out := render.NewOutput(c.env.Out)
	for _, p := range ports {
		var values []string
		for _, counter := range counters.Counters() {
			part := counters.ErrorCounters
			switch {
			case counter.IsDetail():
				part = counters.DetailCounters
			case counter.IsTraffic():
				part = counters.TrafficCounters
			}
			if v, ok := p.Now.Value(counter); ok && v.N > 0 && selected&part != 0 {
				values = append(values, fmt.Sprintf("%v %d", counter, v.N))
			}
		}
		if len(values) > 0 {
			fmt.Fprintf(out, "%s: %s\n", c.names.PortName(p.Port), strings.Join(values, ", "))
		}
	}
	out.Flush()
}
