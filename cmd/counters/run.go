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
	"github.com/ibkit/ibkit/cmd/internal/shared/registers"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/umad"
)

// showWait shows why the command waits for the first window.
func (c *command) showWait(show func(string)) {
	if d := c.options.Window; d > 0 && !c.json {
		show(fmt.Sprintf("reading twice, %v apart", d))
	}
}

// run reads the counters and prints a view after each window.
func (c *command) run(ctx context.Context) error {
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Source.Progress = bar.Update
	c.showWait(bar.Wait)
	warned, problems, partial := false, false, false
	var missing error
	c.options.Each = func(r *counters.Result) error {
		bar.Close()
		if !warned {
			warned = true
			c.printWarnings(r)
		}
		if missing = c.selection.missing(r, c.names); missing != nil {
			return missing
		}
		c.printFailures(nodeFailures(r, c.names))
		partial = partial || r.Partial()
		if c.phy {
			unread, err := c.readRegisters(ctx, r)
			if err != nil {
				return err
			}
			partial = partial || unread
		}
		found, err := c.print(r)
		problems = problems || found
		return err
	}
	result, err := counters.Run(ctx, c.options)
	bar.Close()
	if c.options.Window > 0 {
		c.fabric.WarnEarlyEvents(c.env)
	}
	switch {
	case errors.Is(err, counters.ErrOtherFabric):
		return &cmdutil.UsageError{Err: fmt.Errorf("read baseline: %s: %w", c.since, err)}
	case errors.Is(err, counters.ErrNoCounters):
		err = &cmdutil.UsageError{Err: fmt.Errorf("read counters: %s: %w", c.source.File, err)}
		return cmdutil.WithHint(err, "ibdiagnet2.db_csv has counters; to read them now: ibkit counters")
	case result == nil && c.usesLocal(err):
		return c.runLocal(ctx)
	case result == nil:
		return err
	case missing != nil:
		return missing
	case err != nil && !warned: // no pass was printed
		return err
	case err != nil && (!c.watch || !errors.Is(err, context.Canceled)):
		cmdutil.PrintError(c.env, "error", err)
		if errors.Is(err, umad.ErrDeviceRemoved) {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
		}
		return &cmdutil.ExitError{Code: cmdutil.ExitPartial}
	}
	if len(c.reset) > 0 {
		return c.clear(ctx, result)
	}
	if err := c.store(result); err != nil {
		return err
	}
	if c.fabric.Verbose > 0 {
		fmt.Fprintf(c.env.ErrOut, "%s; %s, at most %d in flight\n",
			plural.Count(result.Passes, "pass", "passes"), fabricflag.FormatStats(result.Stats), result.Stats.Window)
	}
	return cmdutil.ResultError(partial, problems)
}

// readRegisters reads the registers of the selected nodes' link ends. It reports whether some
// were not read.
func (c *command) readRegisters(ctx context.Context, r *counters.Result) (unread bool, err error) {
	if c.registers, err = registers.Read(ctx, c.options.Source, c.key, c.names, r.Fabric, nodesOf(r)); err != nil {
		return false, err
	}
	return c.registers.PrintFailures(c.env, c.names, c.fabric.Verbose > 0), nil
}

// store writes the baseline of --save. A partial one replaces the file only with
// --save-partial.
func (c *command) store(r *counters.Result) error {
	switch {
	case c.save == "":
		return nil
	case !r.Complete() && !c.savePartial:
		fmt.Fprintf(c.env.ErrOut, "warning: %s was not written, because the result is partial (--save-partial stores it)\n", cmdutil.Visible(c.save))
		return nil
	}
	return counters.WriteBaselineFile(c.save, r, c.fabric.SimulationBegan())
}

func nodesOf(r *counters.Result) []*fabric.Node {
	nodes := make([]*fabric.Node, len(r.Nodes))
	for i, n := range r.Nodes {
		nodes[i] = n.Node
	}
	return nodes
}

// printWarnings prints the failures and contradictions of the scan.
func (c *command) printWarnings(r *counters.Result) {
	links.PrintWarnings(c.env, &linkinfo.Result{Fabric: r.Fabric}, c.names, c.fabric.Verbose > 0)
}

// nodeFailures returns the requests for counters without a valid response.
func nodeFailures(r *counters.Result, names *fabric.NameMap) []error {
	var all []error
	for _, n := range r.Nodes {
		all = append(all, n.FailureErrors(names)...)
	}
	return all
}

// printFailures prints failures, each once.
func (c *command) printFailures(all []error) {
	failures := c.fabric.Failures(c.env, "warning")
	for _, err := range all {
		if c.warned[err.Error()] {
			continue
		}
		if c.warned == nil {
			c.warned = map[string]bool{}
		}
		c.warned[err.Error()] = true
		failures.Print(err)
	}
	failures.Close()
}

// print writes the selected view. It reports whether there are problems.
func (c *command) print(r *counters.Result) (problems bool, err error) {
	out := render.NewOutput(c.env.Out)
	every := c.rows.needsAll() || c.data || c.lanes || c.details || len(c.options.Targets) > 0 || len(c.reset) > 0
	rows, s := c.rows.list(r, every, c.names)
	switch {
	case c.json:
		c.writeJSON(out, r, rows)
	case c.csv:
		c.writeCSV(out, rows)
	default:
		c.printTable(out, r, rows, s)
	}
	return s.hasProblems(), out.Flush()
}

// printTable writes the table and the summary.
func (c *command) printTable(out *render.Output, r *counters.Result, rows []row, s *summary) {
	colour := render.NewPalette(c.env.Out, c.env.Getenv)
	if c.watch && render.IsTerminal(c.env.Out) {
		out.WriteString("\x1b[H\x1b[2J")
	}
	t := &table{
		names: c.names, colour: colour, window: s.compared, ber: c.ber, registers: c.registers,
		data:   c.data || s.compared && len(c.rows.chosen) == 0,
		chosen: c.chosen(rows), findings: len(c.rows.chosen) == 0,
	}
	t.print(out, rows)
	if c.lanes {
		printLanes(out, rows, c.names)
	}
	if c.interval > 0 {
		s.until = r.Began
	}
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
