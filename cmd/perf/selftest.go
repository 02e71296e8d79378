package perf

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/perf/selftest"
)

// selfTestFlags are the flags of perf --self-test.
type selfTestFlags struct{ on bool }

func (s *selfTestFlags) define(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.on, "self-test", false, "test every operation and error over loopback on a DEVICE")
}

// selfTestFlagNames are the flags that --self-test accepts.
var selfTestFlagNames = map[string]bool{"self-test": true, "device": true, "ib-port": true, "gid-index": true, "json": true, "help": true}

// options converts the command line.
func (s *selfTestFlags) options(c *command, flags *pflag.FlagSet, args []string) (selftest.Options, error) {
	o := selftest.Options{Program: "ibkit " + buildinfo.Version(), Device: c.flags.device, Port: c.flags.port, GIDIndex: c.flags.gidIndex}
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		if !selfTestFlagNames[f.Name] && wrong == nil {
			wrong = cmdutil.UsageErrorf("%s has no effect with --self-test: it runs all tests", cmdutil.FlagName(flags, f.Name))
		}
	})
	switch {
	case wrong != nil:
		return o, wrong
	case len(args) > 1:
		return o, cmdutil.UsageErrorf("unexpected argument %q: --self-test tests a single device", args[1])
	case len(args) == 1 && flags.Changed("device"):
		return o, cmdutil.UsageErrorf("unexpected argument %q: --device selects the device", args[0])
	case len(args) == 1:
		o.Device = args[0]
	}
	return o, c.flags.checkPort(flags)
}

// run runs the self-test and prints the report.
func (s *selfTestFlags) run(ctx context.Context, c *command, flags *pflag.FlagSet, args []string) error {
	o, err := s.options(c, flags, args)
	if err != nil {
		return err
	}
	if render.IsTerminal(c.env.ErrOut) {
		live := newStatusLine(c.env.ErrOut)
		defer live.close()
		o.Begin = func(n, of int, one selftest.Case) {
			live.show(fmt.Sprintf("testing %d of %d: %s %s", n, of, one.Transport, one.Name))
		}
	}
	r, err := selftest.Run(ctx, o)
	if r == nil {
		return withHint(err)
	}
	if shown := s.show(c, r); shown != nil {
		return errors.Join(err, shown)
	}
	if r.Partial {
		return &cmdutil.ExitError{Code: cmdutil.ExitPartial, Err: err}
	}
	if err != nil {
		return err
	}
	return outcome(r)
}

// outcome returns the exit code of a complete self-test. Without a case that the device
// supports, no test was done.
func outcome(r *selftest.Report) error {
	if len(r.Cases) > 0 && r.CountOf(selftest.Unsupported) == len(r.Cases) {
		return fmt.Errorf("test %s: the device supports none of %s", r.Device.Name, plural.Count(len(r.Cases), "case", "cases"))
	}
	return cmdutil.HeadError(&r.Head)
}

// show prints a report.
func (s *selfTestFlags) show(c *command, r *selftest.Report) error {
	out := render.NewOutput(c.env.Out)
	if c.view.json {
		render.WriteDocument(out, r)
		return out.Flush()
	}
	d := r.Device
	fmt.Fprintf(out, "self-test of %s port %d by %s\n", d.Name, d.Port, r.Program)
	fmt.Fprintf(out, "device: driver %s, firmware %s, vendor 0x%04x, part %d, hardware version %d, board %s\n",
		d.Driver, d.Firmware, d.VendorID, d.VendorPartID, d.HWVersion, render.Show(d.Board))
	link := fmt.Sprintf("%s, %s, MTU %d", d.Link, render.Show(d.Rate), d.MTU)
	if d.GIDIndex != nil {
		link += fmt.Sprintf(", GID %d, %s", *d.GIDIndex, *d.GIDType)
	}
	fmt.Fprintf(out, "port: %d of %d, %s\n", d.Port, d.Ports, link)
	fmt.Fprintf(out, "system: Linux %s, %s, %s, pages of %d bytes\n\n", r.System.Kernel, r.System.Architecture,
		plural.Count(r.System.CPUs, "processor", "processors"), r.System.PageSize)
	var rows [][]string
	for i := range r.Cases {
		one := &r.Cases[i]
		outcome := string(one.Outcome)
		if one.Outcome == selftest.Fail {
			outcome = "FAIL"
		}
		rows = append(rows, []string{one.Transport, one.Name, outcome, fmt.Sprintf("%.2f", one.Seconds), strings.ReplaceAll(render.Show(one.Reason), "\n", "; ")})
	}
	err := render.Table(out, []string{"GROUP", "CASE", "RESULT", "SECONDS", "REASON"}, rows)
	fmt.Fprintf(out, "\n%s in %.1f s: %d passed, %d failed, %d unsupported\n", plural.Count(len(r.Cases), "case", "cases"), r.Seconds,
		r.CountOf(selftest.Pass), r.CountOf(selftest.Fail), r.CountOf(selftest.Unsupported))
	if r.Partial {
		fmt.Fprintln(out, "partial: interrupted")
	}
	fmt.Fprintln(out, "The report contains no addresses. Please attach it to "+issues+".")
	return errors.Join(err, out.Flush())
}

// issues is where users report.
const issues = "https://github.com/ibkit/ibkit/issues"
