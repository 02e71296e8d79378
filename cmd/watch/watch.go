// Package watch is the command that prints changes of a fabric and of the local devices.
package watch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/shared/limits"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/watch"
	"github.com/ibkit/ibkit/report"
)

// command is one call of watch.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	sources []watch.Source
	kinds   []report.EventKind
	rated   []report.Severity
	nodes   fabricflag.NodePatterns
	limits  limits.Flags
	smKey   string
	json    bool
	exec    string
	jobs    int
	timeout time.Duration

	missing []error  // patterns of --node without a node in the first scan
	lost    string   // last reason of a source that does not work
	program []string // of --exec with its arguments; nil: not given
	options watch.Options
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "watch [flags] [--exec PROGRAM -- ARGUMENT...]",
		Short: "Print changes of links, counters and local devices as they happen",
		Long: strings.TrimSpace(`
watch prints a line for each change: links that go down, come up or change
their speed, nodes that join or leave, notices of the subnet manager, counters
that exceed their thresholds, events of the RDMA devices of this host, and
lost packets, pauses and notifications on its RoCE ports.

It scans the fabric once, and then checks the states of all links with one
request per switch. A difference, and a notice about a link, cause a new scan.
Counters are compared over windows. A link that goes down and comes up between
two checks is shown by its counters and by notices.

With --exec, a program runs for each event, with the event as JSON on its
standard input. No shell interprets the program and its arguments.`),
		Example: strings.Trim(`
  # all changes until Ctrl-C
  ibkit watch

  # links and nodes only, checked each second, as JSON
  ibkit watch --sources links --interval 1s --json

  # run a program for each problem
  ibkit watch --severity error --exec /usr/local/bin/page -- --team fabric

  # wait at most a minute until a link of leaf1 comes up
  ibkit watch --node leaf1 --event link-up --count 1 --for 1m

  # a link that flaps, simulated
  echo "2s flap leaf1[1] 1s 2" > events
  ibkit watch --sim demo --sim-events events --interval 200ms --for 8s`, "\n"),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags(), args); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.EnumListFlag(cmd, &c.sources, "sources", watch.Sources, "use only a `LIST` of sources (default: all available)")
	cmdutil.EnumListFlag(cmd, &c.kinds, "event", report.EventKinds(), "show only a `LIST` of events")
	cmdutil.EnumListFlag(cmd, &c.rated, "severity", report.EventSeverities(), "show only events of a `LIST` of severities")
	c.nodes.Register(c.env, cmd, "show")
	flags.DurationVar(&c.options.Interval, "interval", 10*time.Second, "check the states of links after each `TIME`")
	flags.DurationVar(&c.options.Rescan, "rescan", 5*time.Minute, "scan the whole fabric after each `TIME`")
	flags.DurationVar(&c.options.Window, "window", 30*time.Second, "compare counters over windows of `TIME`")
	c.limits.Define(flags)
	flags.IntVar(&c.options.Count, "count", 0, "end after `N` events (default: no limit)")
	flags.DurationVar(&c.options.Duration, "for", 0, "end after a `TIME` (default: no limit)")
	flags.StringVar(&c.exec, "exec", "", "run a `PROGRAM` for each event, with arguments after --")
	flags.IntVar(&c.jobs, "exec-jobs", 4, "run at most `N` programs at the same time")
	flags.DurationVar(&c.timeout, "exec-timeout", 30*time.Second, "kill a program and its processes after `TIME`")
	flags.StringVar(&c.smKey, "sm-key", "", "SM_Key of requests: a `KEY`, @FILE with it, or - for a prompt")
	flags.BoolVar(&c.json, "json", false, "print JSON, one object per line")
	c.fabric.Define(c.env, cmd)
}

var rules = cmdutil.FlagRules{
	Needs: []cmdutil.Need{{Flags: []string{"exec-jobs", "exec-timeout"}, Others: []string{"exec"}}},
}

// complete validates the command line.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (err error) {
	if err := errors.Join(rules.Check(flags), c.nodes.Check()); err != nil {
		return err
	}
	o := &c.options
	for name, value := range map[string]time.Duration{"interval": o.Interval, "rescan": o.Rescan, "window": o.Window, "exec-timeout": c.timeout} {
		if value <= 0 {
			return cmdutil.UsageErrorf("invalid --%s %v: want a time above 0", name, value)
		}
	}
	switch {
	case o.Count < 0 || flags.Changed("count") && o.Count == 0:
		return cmdutil.UsageErrorf("invalid --count %d: want at least 1", o.Count)
	case o.Duration < 0 || flags.Changed("for") && o.Duration == 0:
		return cmdutil.UsageErrorf("invalid --for %v: want a time above 0", o.Duration)
	case c.jobs < 1:
		return cmdutil.UsageErrorf("invalid --exec-jobs %d: want at least 1", c.jobs)
	case flags.Changed("exec") && c.exec == "":
		return cmdutil.UsageErrorf("invalid --exec %q: want a program", c.exec)
	case len(args) > 0 && c.exec == "":
		hint := "arguments belong to the program of --exec"
		if slices.Contains(watch.Sources, watch.Source(args[0])) {
			hint = "select sources: --sources " + args[0]
		}
		return cmdutil.WithHint(cmdutil.UsageErrorf("unexpected argument %q", args[0]), hint)
	}
	if c.exec != "" {
		c.program = append([]string{c.exec}, args...)
	}
	if o.Names, err = c.fabric.CompleteNames(ctx, c.env); err != nil {
		return err
	}
	if o.SMKey, err = c.fabric.SMKey(ctx, c.env, c.smKey); err != nil {
		return err
	}
	if o.Limits, err = c.limits.Limits(c.env); err != nil {
		return err
	}
	c.selectSources()
	o.Fabric, o.SMLID, o.Sysfs = c.fabric.Source(c.env), c.fabric.SMLID, c.env.Sysfs()
	if slices.Contains(o.Sources, watch.Traps) {
		o.Fabric.OpenPort = c.fabric.OpenListener(c.env)
	}
	o.Accept = c.filter(o.Names)
	o.Known = func(f *fabric.Fabric) { c.missing = c.missingNodes(f) }
	return nil
}

// selectSources selects the given sources, or all: those of this host do not belong to a
// simulated fabric.
func (c *command) selectSources() {
	o := &c.options
	for _, s := range watch.Sources {
		given := slices.Contains(c.sources, s)
		if given {
			o.Required = append(o.Required, s)
		}
		if given || len(c.sources) == 0 && (s != watch.Local || !c.fabric.IsSimulated()) {
			o.Sources = append(o.Sources, s)
		}
	}
}

// missingNodes returns an error for each pattern of --node that matches no node. The node may
// join the fabric later.
func (c *command) missingNodes(f *fabric.Fabric) (errs []error) {
	for _, pattern := range c.nodes {
		if err := (fabricflag.NodePatterns{pattern}).Missing(f, f.Nodes, c.options.Names); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// filter returns the function that selects events.
func (c *command) filter(names *fabric.NameMap) func(*watch.Event) bool {
	return func(e *watch.Event) bool {
		return (len(c.kinds) == 0 || slices.Contains(c.kinds, e.Kind)) &&
			(len(c.rated) == 0 || slices.Contains(c.rated, e.Severity)) &&
			(len(c.nodes) == 0 || e.Match(func(n *fabric.Node) bool { return c.nodes.Match(n, names) }))
	}
}
