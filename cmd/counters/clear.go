package counters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/counters"
)

// parts are the values of --reset.
var parts = map[string]counters.Part{
	"errors":  counters.ErrorCounters,
	"traffic": counters.TrafficCounters,
	"details": counters.DetailCounters,
}

// clear sets counters to 0 after a confirmation. The table above has the values.
func (c *command) clear(ctx context.Context, r *counters.Result) (failed error) {
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
	log, err := c.change.OpenLog(c.env, &c.fabric.Settings)
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, log.Close()) }()
	if c.change.DryRun {
		c.printDiscarded(ports, selected)
		fmt.Fprintf(c.env.Out, "would clear the counters (%s) of %s\n", strings.Join(c.reset, ", "), plural.Count(len(ports), "port", "ports"))
		return cmdutil.ResultError(r.Partial(), false)
	}
	question := fmt.Sprintf("Clear the counters (%s) of %s?", strings.Join(c.reset, ", "), plural.Count(len(ports), "port", "ports"))
	if err := c.change.Confirm(ctx, c.env, "clear counters", question); err != nil {
		return err
	}
	c.printDiscarded(ports, selected)
	attrs := c.logAttrs(ports)
	if err := log.Begin(attrs...); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	err = r.Clear(ctx, c.options, ports, selected)
	if failed := log.End(outcomeOf(r, err), err, attrs...); failed != nil {
		err = errors.Join(err, fmt.Errorf("write log: %w", failed))
	}
	if err != nil {
		return err
	}
	c.printFailures(nodeFailures(r, c.names))
	fmt.Fprintf(c.env.Out, "cleared the counters (%s) of %s\n", strings.Join(c.reset, ", "), plural.Count(len(ports), "port", "ports"))
	return cmdutil.ResultError(r.Partial(), false)
}

// outcomeOf returns the result for the log: without a reply, counters may have been cleared.
func outcomeOf(r *counters.Result, err error) outcome.Outcome {
	if err != nil || r.Partial() {
		return outcome.Unverified
	}
	return outcome.Changed
}

// maxNames is the maximum number of ports that the log names.
const maxNames = 8

// logAttrs describe the change in the log.
func (c *command) logAttrs(ports []*counters.Port) []slog.Attr {
	var names []string
	for _, p := range ports[:min(len(ports), maxNames)] {
		names = append(names, c.names.PortName(p.Port))
	}
	if more := len(ports) - maxNames; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return []slog.Attr{slog.String("change", "reset "+strings.Join(c.reset, ",")), slog.String("ports", strings.Join(names, ", "))}
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
