// Package phy is the command that shows the physical layer of a fabric's links.
package phy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/report"
)

// command is one call of phy.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags
	source fabricflag.Source

	nodes   fabricflag.NodePatterns
	ignore  []report.Kind
	cables  bool
	raw     bool
	details bool
	diff    string
	key     string
	json    bool
	csv     bool

	options phy.Options
	before  *phy.Report         // of --diff
	stored  *ibdiagnet.Database // of --from; nil: the devices
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "phy [flags] [NODE...]",
		Short: "Show cables, modules, light and bit error rates of all links",
		Long: strings.TrimSpace(`
phy reads the physical layer of all links from NVIDIA devices, by LID: cable
or module with part and serial number, temperature, light per lane, forward
error correction, bit error rates before and after correction, and why a link
last went down. It compares light with the module's own limits and with the
light that the other end sends: little light from a good transmitter is lost
in the fibre. A NODE is a PATTERN as for --node.

It sends only Gets (attribute 0x51 of NVIDIA's vendor class), so it changes
no device. Devices without them are listed as unavailable, as are registers
that firmware rejects. The tables have the lowest power of a port's lanes;
--details and --json have all lanes.

Old firmware carries registers in Sets, which change no value either but are
sent only with --carrier set (vendor class) or smp (subnet management, too).
A Set has room for 204 or 44 bytes: light comes from the module's memory,
bit error rates are missing.

With --from FILE it reads the sections CABLE_INFO, PHY_DB16 and TEMP_SENSING of
ibdiagnet2.db_csv, which have no light.

This command has been tested with simulated devices and mstlink only, not
with real hardware.`),
		Example: strings.Trim(`
  # all links; exit code 3 if there are findings
  ibkit phy

  # temperatures, fans and power supplies of switches
  ibkit phy --devices

  # why are ports of a switch down?
  ibkit phy --down leaf1

  # all values of a node's link ends, each lane with limits and eye
  ibkit phy --details --eyes --node leaf1

  # an inventory of cables
  ibkit phy --cables --csv > cables.csv

  # the file of ibdiagnet --get_phy_info
  ibkit phy --from ibdiagnet2.db_csv

  # what has changed since an earlier reading?
  ibkit phy --json > may.json
  ibkit phy --diff may.json`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.nodes = append(c.nodes, args...)
			if err := c.complete(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	cmdutil.CompleteOperands(env, cmd, fabricflag.NodeNames)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	o := &c.options
	c.nodes.Register(c.env, cmd, "read")
	flags.BoolVar(&o.Down, "down", false, "show only ports without a link, and the reason")
	flags.BoolVar(&o.Switches, "devices", false, "show temperatures, fans, power supplies and PCIe of devices")
	flags.BoolVar(&o.Alarms, "alarms", false, "read latched alarms, which may clear them, and monitors")
	flags.BoolVar(&o.FEC, "fec", false, "read the histogram of corrected symbols")
	flags.BoolVar(&o.Eyes, "eyes", false, "read the eye opening of each lane")
	flags.BoolVar(&o.Cables, "cable-info", false, "read modules of devices without registers (SMP CableInfo)")
	cmdutil.EnumFlag(cmd, &o.Carrier, "carrier", phy.CarrierGet, phy.Carriers, "also read by Sets of a `CARRIER`")
	flags.BoolVar(&c.details, "details", false, "show all values of each link end")
	flags.BoolVar(&c.cables, "cables", false, "show an inventory of cables and modules")
	flags.StringVar(&c.diff, "diff", "", "show changes since the reading in `FILE` (of --json)")
	flags.BoolVar(&c.raw, "raw", false, "print the bytes of all registers, for a bug report")
	cmdutil.EnumListFlag(cmd, &c.ignore, "ignore", phy.Kinds, "do not report a `FINDING`")
	c.source.FileHint = "the file of ibdiagnet --get_phy_info: ibdiagnet2.db_csv"
	c.source.Define(cmd)
	flags.StringVar(&c.key, "vs-key", "", "vendor key of requests: a `KEY`, @FILE or - (prompt)")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print comma-separated values")
	c.fabric.Define(c.env, cmd)
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"csv", "cables"}},
		{Flags: []string{"raw"}, Others: []string{"json", "csv", "cables", "diff"}},
		{Flags: []string{"diff"}, Others: []string{"csv", "cables"}},
		{Flags: []string{"cables"}, Others: []string{"devices"}},
		{Flags: []string{"details"}, Others: []string{"json", "csv", "raw", "cables", "devices", "diff"}},
	},
	Needs: []cmdutil.Need{{Flags: []string{"fec", "eyes"}, Others: []string{"json", "raw", "details"}}},
}

// complete validates the command line.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if err := c.nodes.Check(); err != nil {
		return err
	}
	if err := c.source.Complete([]string{"down", "alarms", "fec", "raw", "vs-key"}, nil); err != nil {
		return err
	}
	if c.stored, err = c.source.Database(); err != nil {
		return err
	}
	if c.diff != "" {
		if c.before, err = phy.ReadReport(c.diff); err != nil {
			return &cmdutil.UsageError{Err: cmdutil.WithFileHint(err, "store a reading: ibkit phy --json > FILE")}
		}
	}
	o := &c.options
	if o.Key, err = fabricflag.OptionalKey(ctx, c.env, "vendor key", c.key); err != nil {
		return err
	}
	if o.Names, err = c.fabric.CompleteNames(ctx, c.env); err != nil {
		return err
	}
	o.Source, o.AskAll = c.source.Fabric(&c.fabric.Settings, c.env), true
	o.Selected = func(n *fabric.Node) bool { return c.nodes.Match(n, o.Names) }
	if o.Down && c.before == nil {
		o.Port = func(p *fabric.Port) bool { return p.Info == nil || p.Info.PhysState != ib.PhysLinkUp }
	}
	return nil
}

// read reads the devices, or the file.
func (c *command) read(ctx context.Context) (*phy.Result, error) {
	if c.stored != nil {
		return phy.FromDatabase(c.stored, c.options), nil
	}
	return phy.Run(ctx, c.options)
}

func (c *command) run(ctx context.Context) error {
	v := &view{env: c.env, out: render.NewOutput(c.env.Out), colour: render.NewPalette(c.env.Out, c.env.Getenv), names: c.options.Names, width: render.Width(c.env.Out)}
	if c.raw {
		c.options.Raw = v.raw
	}
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Source.Progress = bar.Update
	r, err := c.read(ctx)
	bar.Close()
	if err != nil {
		return fabricflag.WithHint(err)
	}
	if err := c.nodes.Missing(r.Fabric, r.Fabric.Nodes, r.Names); err != nil {
		return err
	}
	ignored := func(f report.Finding) bool { return slices.Contains(c.ignore, f.Kind) }
	for _, e := range r.Ends {
		e.Findings = slices.DeleteFunc(e.Findings, ignored)
	}
	for _, d := range r.Devices {
		d.Findings = slices.DeleteFunc(d.Findings, ignored)
	}
	v.result, v.document = r, r.Report()
	if c.before != nil {
		list, err := phy.Diff(c.before, v.document)
		if err != nil {
			return &cmdutil.UsageError{Err: fmt.Errorf("compare with %s: %w", c.diff, err)}
		}
		v.document.Changes = &phy.Changes{Since: c.before.Began, List: append([]phy.Change{}, list...)}
	}
	c.print(v)
	if err := v.out.Flush(); err != nil {
		return err
	}
	c.printFailures(r)
	c.fabric.PrintStats(c.env)
	if len(r.Devices) > 0 && r.Readable() == 0 {
		err := fmt.Errorf("read registers: none of %s has them", plural.Count(len(r.Devices), "device", "devices"))
		if c.stored != nil {
			return cmdutil.WithHint(err, c.source.FileHint)
		}
		return cmdutil.WithHint(err, registerHint)
	}
	if changes := v.document.Changes; changes != nil {
		return cmdutil.ResultError(v.document.Partial, len(changes.List) > 0)
	}
	return cmdutil.HeadError(&v.document.Head)
}

// registerHint is the advice for a fabric without a readable device.
const registerHint = "NVIDIA's devices reply, unless their manager has set a vendor key: --vs-key KEY; error counters of all vendors: ibkit counters"

// print writes the selected form.
func (c *command) print(v *view) {
	switch {
	case c.raw:
	case c.json:
		render.WriteLine(v.out, v.document)
	case c.cables && c.csv:
		render.CSV(v.out, cableColumns, v.cables())
	case c.cables:
		v.cableTable()
	case c.csv && c.options.Switches:
		render.CSV(v.out, deviceColumns, v.switches())
	case c.csv:
		render.CSV(v.out, endColumns, v.document.Ends)
	case c.before != nil:
		v.changes()
	case c.options.Switches:
		v.switchTable()
	case c.details:
		v.details()
	default:
		v.endTable()
	}
}

// printFailures prints the requests without a valid reply, and the devices without
// registers.
func (c *command) printFailures(r *phy.Result) {
	c.fabric.PrintFailed(c.env, r.Fabric.FailureErrors(r.Names))
	failures := c.fabric.Failures(c.env, "ibkit phy")
	for p, g := range r.Unread() {
		failures.Print(fmt.Errorf("%s: %s: %w", r.Names.PortName(p), g.Register, g.Err))
	}
	failures.Close()
}
