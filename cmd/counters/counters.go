// Package counters is the command that shows the performance counters of a fabric.
package counters

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/change"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/shared/limits"
	"github.com/ibkit/ibkit/cmd/internal/shared/registers"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/mad"
)

// command is one call of counters.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags
	source fabricflag.Source

	selection selection
	rate      time.Duration
	interval  time.Duration
	count     int
	watch     bool
	since     string
	save      string

	savePartial bool

	stored string

	limitFlags limits.Flags
	ber        bool
	phy        bool
	vendorKey  string
	data       bool
	details    bool
	lanes      bool
	local      bool
	reset      []string
	optional   []string
	change     change.Flags // of --reset and --optional
	json, csv  bool
	rows       rows

	// Derived from the flags.
	options counters.Options
	names   *fabric.NameMap
	key     mad.Key // for registers

	registers *registers.Reader // nil: not read

	warned   map[string]bool // failures that were printed
	hasTable bool            // the CSV has its header
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "counters [flags] [TARGET...]",
		Short: "Show ports with errors and their causes, and traffic rates",
		Long: strings.TrimSpace(`
counters reads the performance counters of all ports of a fabric and shows the
ports whose error counters are above their thresholds: the peer, the worst
counter, its usual meaning, and the kind of cause: cable, congestion or
configuration.

It clears counters only with --reset, after it has printed them and asked for
confirmation. The change is recorded in the system log, or in the file of --log.
Changes to simulated fabrics are recorded only with --log.

With --window it reads the counters twice and shows rates: a port has a finding
if an error counter increased in the window, or if it lost at least 1 % of its
bandwidth by waiting for the peer. Rates use the arrival time of each reply, so
they do not depend on the duration of a pass.

On a host with RoCE ports only, and with --local, it shows the counters that the
kernel reports of the ports of this host. Some count only if they are enabled:
--optional LIST enables these and disables others, with the same confirmation
and record as --reset.

A TARGET is an address of a port as in ibkit addr: a LID, a GUID, a name, a
directed route, an IP address. The address of a switch stands for all of its
ports, and NAME[3] for one of them.`),
		Example: strings.Trim(`
  # ports with errors; exit code 3 if there are any
  ibkit counters

  # errors of the next 10 seconds, utilization and lost bandwidth
  ibkit counters --window 10s

  # the ten busiest ports
  ibkit counters --window 10s --top 10 --sort util

  # the counters of one port, every second
  ibkit counters 'leaf1[3]' --interval 1s --watch

  # errors since yesterday, with links that went down and came up again
  ibkit counters --save counters.baseline
  ibkit counters --since counters.baseline

  # bit error rates that the devices measure, before and after correction
  ibkit counters --phy leaf1

  # this host's ports, during a test with ibkit perf
  ibkit counters --local --window 5s

  # count packets with congestion marks, too
  ibkit counters --local -C mlx5_0 --optional cc_rx_ce_pkts,cc_tx_cnp_pkts

  # clear the error counters of one switch
  ibkit counters --reset errors leaf1`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags(), args); err != nil {
				return err
			}
			switch {
			case len(c.optional) > 0:
				return c.setOptional(cmd.Context())
			case c.local:
				return c.runLocal(cmd.Context())
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
	c.selection.define(c.env, cmd)
	flags.DurationVar(&c.rate, "window", 0, "show rates in a window of `TIME`")
	flags.DurationVar(&c.interval, "interval", 0, "show rates in windows of `TIME`, as many as --count or --watch")
	flags.IntVar(&c.count, "count", 1, "end after `N` windows (--interval)")
	flags.BoolVar(&c.watch, "watch", false, "repeat until interrupted, on a cleared terminal (--interval)")
	flags.StringVar(&c.since, "since", "", "show increases since the baseline in `FILE`")
	flags.StringVar(&c.save, "save", "", "store the counters as a baseline in `FILE`")
	flags.BoolVar(&c.savePartial, "save-partial", false, "with --save: store a partial result, too")
	flags.StringVar(&c.stored, "fabric", "", "read the counters of the ports in the stored `FILE`, without a scan")
	c.source.Define(cmd)
	c.limitFlags.Define(flags)
	flags.BoolVar(&c.ber, "ber", false, "check the bit error rates 1e-14 (12 min) and 1e-15 (125 min)")
	flags.BoolVar(&c.phy, "phy", false, "show the bit error rates that the devices measure, as ibkit phy")
	flags.StringVar(&c.vendorKey, "vs-key", "", "vendor key of requests: a `KEY`, @FILE or - (prompt)")
	flags.BoolVar(&c.data, "data", false, "show traffic of every port")
	flags.BoolVar(&c.details, "details", false, "read the causes of errors and FEC of every port")
	flags.BoolVar(&c.lanes, "vl", false, "show counters by virtual lane and service level")
	flags.BoolVar(&c.local, "local", false, "show the kernel's counters of the ports of this host")
	cmdutil.EnumListFlag(cmd, &c.reset, "reset", []string{"errors", "traffic", "details"}, "clear a `LIST` of counters of the selected ports")
	flags.StringSliceVar(&c.optional, "optional", nil, "enable only a `LIST` of optional counters, or none (--local)")
	c.change.Define(cmd, " (--reset)")
	c.rows.define(cmd)
	flags.BoolVar(&c.json, "json", false, "print JSON, a document per window")
	flags.BoolVar(&c.csv, "csv", false, "print comma-separated values")
	c.fabric.Define(c.env, cmd)
}

// rules are the relations between the flags.
var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"csv"}},
		{Flags: []string{"window"}, Others: []string{"interval", "since"}},
		{Flags: []string{"interval"}, Others: []string{"since"}},
		{Flags: []string{"count"}, Others: []string{"watch"}},
		{Flags: []string{"watch"}, Others: []string{"json", "csv"}},
		change.DryRunClash,
		{Flags: []string{"reset"}, Others: []string{"window", "interval", "since", "csv", "json", "save"}},
		{Flags: []string{"optional"}, Others: []string{"window", "interval", "json"}},
		{Flags: []string{"vl"}, Others: []string{"csv"}},
		{Flags: []string{"fabric"}, Others: []string{"from"}},
		{Flags: []string{"local"}, Others: []string{
			"node", "ports", "switches", "cas", "routers", "since", "save", "save-partial", "fabric", "from", "threshold-file", "max-wait", "ber", "phy", "vs-key", "data",
			"details", "vl", "reset", "columns", "top", "sort", "csv", "sim", "timeout", "sm-port", "m-key", "outstanding-smps", "errors", "node-name-map",
		}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"count", "watch"}, Others: []string{"interval"}},
		{Flags: []string{"ber"}, Others: []string{"window", "interval", "since"}},
		{Flags: []string{"vs-key"}, Others: []string{"phy"}},
		{Flags: []string{"optional"}, Others: []string{"local"}},
		{Flags: change.FlagNames, Others: []string{"reset", "optional"}},
		{Flags: []string{"save-partial"}, Others: []string{"save"}},
		{Flags: []string{"reset"}, Others: []string{"all", "node", "switches", "cas", "routers", "ports", "reset"}},
	},
}

// complete checks the flags and derives the options.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	switch {
	case flags.Changed("window") && c.rate <= 0:
		return cmdutil.UsageErrorf("invalid --window %v: want a time above 0", c.rate)
	case flags.Changed("interval") && c.interval <= 0:
		return cmdutil.UsageErrorf("invalid --interval %v: want a time above 0", c.interval)
	case c.count < 1:
		return cmdutil.UsageErrorf("invalid --count %d: want at least 1", c.count)
	case len(c.reset) > 0 && len(args) == 0 && cmdutil.Given(flags, []string{"all", "node", "switches", "cas", "routers"}) == "":
		return cmdutil.UsageErrorf("--reset requires a selection: targets, --node, --switches, --cas, --routers or --all")
	}
	if c.local && len(args) > 0 {
		return cmdutil.UsageErrorf("--local and targets are mutually exclusive")
	}
	if flags.Changed("optional") && (len(c.optional) == 0 || len(c.optional) > 1 && slices.Contains(c.optional, noCounters)) {
		return cmdutil.UsageErrorf("invalid --optional %q: want names of counters, or none", strings.Join(c.optional, ","))
	}
	if flags.Changed("optional") && c.fabric.Device == "" {
		return cmdutil.WithHint(cmdutil.UsageErrorf("--optional requires a device: -C DEVICE"), "list the counters: ibkit devinfo --roce")
	}
	if len(c.reset) > 0 {
		if err := c.change.CheckConfirm(c.env); err != nil {
			return err
		}
	}
	if err := c.rows.complete(flags); err != nil {
		return err
	}
	if err := c.source.Complete([]string{"window", "interval", "count", "watch", "reset", "details", "vl", "phy"}, nil); err != nil {
		return err
	}
	if c.names, err = c.fabric.CompleteNames(ctx, c.env); err != nil {
		return err
	}
	if c.key, err = fabricflag.OptionalKey(ctx, c.env, "vendor key", c.vendorKey); err != nil {
		return err
	}
	o := &c.options
	o.Source = c.source.Fabric(&c.fabric.Settings, c.env)
	if c.source.File != "" && len(args) > 0 {
		return cmdutil.UsageErrorf("--from %s and targets are mutually exclusive", c.source.File)
	}
	if o.Database, err = c.source.Database(); err != nil {
		return err
	}
	if c.stored != "" {
		stored, err := fabricfile.Read(c.stored)
		if err != nil {
			return &cmdutil.UsageError{Err: err}
		}
		o.Source.Stored = stored.Fabric
	}
	if err := cmdutil.CheckPorts(args); err != nil {
		return err
	}
	if o.Targets, err = cmdutil.ParseTargets(c.env, args, false, false, ""); err != nil {
		return err
	}
	o.Resolve.Names, o.Resolve.Simulated, o.Resolve.Sysfs, o.Resolve.SMLID = c.names, c.fabric.IsSimulated(), c.env.Sysfs(), c.fabric.SMLID
	if err := c.selection.complete(o, c.names); err != nil {
		return err
	}
	o.Window, o.Windows = max(c.rate, c.interval), c.count
	if c.watch {
		o.Windows = -1
	}
	o.Details, o.Lanes = c.details, c.lanes
	o.Data = c.data || c.save != "" || c.rows.needsAll() || len(c.reset) > 0
	return c.limits()
}

// limits reads the thresholds and the baseline.
func (c *command) limits() (err error) {
	o := &c.options
	if o.Limits, err = c.limitFlags.Limits(c.env); err != nil {
		return err
	}
	if c.ber {
		o.Limits.BER = counters.BERRules
	}
	if c.since != "" {
		if o.Since, err = counters.ReadBaselineFile(c.since); err != nil {
			return &cmdutil.UsageError{Err: cmdutil.WithFileHint(err, cmdutil.BaselineHint)}
		}
		c.fabric.ContinueSimulation(o.Since.Simulation)
		if o.Since.Partial {
			fmt.Fprintf(c.env.ErrOut, "warning: the baseline in %s is partial\n", cmdutil.Visible(c.since))
			c.fabric.PrintFailed(c.env, o.Since.Damage)
		}
	}
	return nil
}
