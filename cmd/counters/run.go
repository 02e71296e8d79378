package counters

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/counters"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/umad"
)

// run reads the counters and prints a view after each window.
func (c *command) run(ctx context.Context) error {
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Progress = bar.Update
	warned, problems, partial := false, false, false
	c.options.Each = func(r *counters.Result) error {
		bar.Close()
		if !warned {
			warned = true
			links.PrintWarnings(c.env.ErrOut, &linkinfo.Result{Fabric: r.Fabric}, c.fabric.Verbose > 0)
		}
		c.printFailures(r)
		partial = partial || r.Partial()
		problems = problems || hasProblem(r)
		return c.print(r)
	}
	result, err := counters.Run(ctx, c.options)
	bar.Close()
	if errors.Is(err, counters.ErrOtherFabric) || result == nil && err != nil && c.loadCache != "" {
		return &cmdutil.UsageError{Err: err}
	}
	switch {
	case result == nil && c.usesLocal(err):
		return c.runLocal(ctx)
	case result == nil:
		return err
	case err != nil && !warned: // no pass was printed
		return err
	case err != nil && (!c.watch || !errors.Is(err, context.Canceled)):
		cmdutil.PrintError(c.env, "error", err)
		if errors.Is(err, umad.ErrDeviceRemoved) {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
		}
		return &cmdutil.ExitError{Code: cmdutil.ExitPartial}
	}
	if err := c.missing(result); err != nil {
		return err
	}
	if len(c.reset) > 0 {
		return c.clear(ctx, result)
	}
	if c.save != "" {
		if err := counters.WriteBaselineFile(c.save, result.Nodes); err != nil {
			return err
		}
	}
	if c.fabric.Verbose > 0 {
		fmt.Fprintf(c.env.ErrOut, "%s; %s, at most %d in flight\n",
			render.Count(result.Passes, "pass", "passes"), fabricflag.FormatStats(result.Stats), result.Stats.Window)
	}
	return cmdutil.ResultError(partial, problems)
}

// missing returns an error for a selection without a node.
func (c *command) missing(r *counters.Result) error {
	for _, pattern := range c.selection.nodes {
		one := selection{nodes: []string{pattern}}
		if !slices.ContainsFunc(r.Nodes, func(n *counters.Node) bool { return one.hasName(n.Node, c.names) }) {
			return fmt.Errorf("select nodes: no node matches %q", pattern)
		}
	}
	return nil
}

func hasProblem(r *counters.Result) bool {
	return slices.ContainsFunc(r.AllPorts(), func(p *counters.Port) bool {
		return slices.ContainsFunc(r.Findings(p), counters.Finding.IsProblem)
	})
}

// printFailures prints the requests for counters without a valid response, each once.
func (c *command) printFailures(r *counters.Result) {
	count := 0
	for _, n := range r.Nodes {
		for _, f := range n.Failures {
			text := fmt.Sprintf("warning: %s (%v) %s: %v\n", c.names.Name(n.Node), n.GUID, portText(f.Port), f.Err)
			if c.warned[text] {
				continue
			}
			if c.warned == nil {
				c.warned = map[string]bool{}
			}
			c.warned[text] = true
			if count++; count <= fabricflag.MaxFailures || c.fabric.Verbose > 0 {
				fmt.Fprint(c.env.ErrOut, text)
			}
		}
	}
	if count > fabricflag.MaxFailures && c.fabric.Verbose == 0 {
		fmt.Fprintf(c.env.ErrOut, "warning: and %d more (-v shows all)\n", count-fabricflag.MaxFailures)
	}
}

// print writes the selected view.
func (c *command) print(r *counters.Result) error {
	out := render.NewOutput(c.env.Out)
	every := c.rows.needsAll() || c.data || c.lanes || c.details || len(c.options.Targets) > 0 || len(c.reset) > 0
	rows := c.rows.list(r, every, c.names)
	switch {
	case c.json:
		c.writeJSON(out, r, rows)
	case c.csv:
		c.writeCSV(out, rows)
	default:
		c.printTable(out, r, rows)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// printTable writes the table and the summary.
func (c *command) printTable(out *render.Output, r *counters.Result, rows []row) {
	colour := render.NewPalette(c.env.Out, c.env.Getenv)
	if c.watch && render.IsTerminal(c.env.Out) {
		out.WriteString("\x1b[H\x1b[2J")
	}
	window := slices.ContainsFunc(r.AllPorts(), func(p *counters.Port) bool { return p.Before != nil })
	t := &table{
		names: c.names, colour: colour, window: window, ber: c.ber,
		data:   c.data || window && len(c.rows.chosen) == 0,
		chosen: c.chosen(rows), findings: len(c.rows.chosen) == 0,
	}
	t.print(out, rows)
	if c.lanes {
		printLanes(out, rows, c.names)
	}
	s := summarize(r)
	s.print(out, r, colour)
}

// chosen returns the counters that have a column: those given, or for selected ports
// and with --details all that are not 0.
func (c *command) chosen(rows []row) []counters.Counter {
	if len(c.rows.chosen) > 0 {
		return c.rows.chosen
	}
	if !c.details {
		return nil
	}
	var all []counters.Counter
	for _, counter := range counters.Counters() {
		if counter.IsDetail() && slices.ContainsFunc(rows, func(w row) bool {
			if w.Now == nil {
				return false
			}
			v, ok := w.Now.Value(counter)
			return ok && v.N > 0
		}) {
			all = append(all, counter)
		}
	}
	return all
}
