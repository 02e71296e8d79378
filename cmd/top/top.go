// Package top is the command that shows the links of a fabric on a terminal as they change.
package top

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/limits"
	"github.com/ibkit/ibkit/cmd/internal/shared/portindex"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/internal/tool/top"
)

// command is one call of top.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags
	limits limits.Flags

	order    string
	reverse  bool
	filter   string
	problems bool
	history  int
	once     bool
	json     bool
	lines    int
	exports  string
	phy      bool
	key      string

	targets []lookup.Address
	options top.Options
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "top [flags] [TARGET [TARGET]]",
		Short: "Show links on a terminal, the worst first",
		Long: strings.TrimSpace(`
top shows the links of a fabric and updates them after each interval: errors per
second, utilization in both directions, bandwidth lost by waiting for the peer,
and findings. The links with the worst findings are first; s selects another
order. Enter shows the port of a link with its counters and its recent values, n
its node, and / filters by name. The arrow keys left and right show earlier and
later samples. ? shows all keys.

Without --interval, the interval is 5 s, or longer on large fabrics, so that the
process uses less than 5 % of a core.

The first screen shows all links without a TARGET, a node or a port (NAME[3])
with one TARGET, and the paths between two ports with two. A TARGET is a LID, a
GUID, a directed route or a name.

With --once it prints one sample without a terminal.`),
		Example: strings.Trim(`
  # the worst links now
  ibkit top

  # the busiest links of a switch
  ibkit top --sort util --filter 'leaf1['

  # the links on the paths between two hosts
  ibkit top node01 node16

  # a port with its module, light and bit error rate
  ibkit top --phy 'leaf1[1]'

  # one sample for a script
  ibkit top --once --json --problems

  # a simulated fabric
  ibkit top --sim demo --interval 1s`, "\n"),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags(), args); err != nil {
				return err
			}
			defer c.fabric.PrintStats(env)
			if c.once {
				return c.runOnce(cmd.Context())
			}
			return c.runTerminal(cmd.Context())
		},
	}
	c.define(cmd)
	cmdutil.CompleteOperands(env, cmd, fabricflag.NodeNames)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&c.options.Interval, "interval", 0, "read the counters after each `TIME` (default from 5s, by the size)")
	flags.DurationVar(&c.options.Rescan, "rescan", 5*time.Minute, "scan the whole fabric after each `TIME`")
	cmdutil.EnumFlag(cmd, &c.order, "sort", top.Orders[0], top.Orders, "`KEY` that orders the links")
	flags.BoolVar(&c.reverse, "reverse", false, "sort in the other direction")
	flags.StringVar(&c.filter, "filter", "", "show only links with `TEXT` in their name")
	flags.BoolVar(&c.problems, "problems", false, "show only links with errors or findings")
	flags.BoolVar(&c.phy, "phy", false, "read module, light and bit error rate of the port on the screen")
	flags.StringVar(&c.key, "vs-key", "", "vendor key of requests: a `KEY`, @FILE or - (prompt)")
	c.limits.Define(flags)
	flags.IntVar(&c.history, "history", 120, "keep the last `N` samples")
	flags.StringVar(&c.exports, "export-dir", ".", "write screens as JSON to files in `DIR` (key e)")
	flags.BoolVar(&c.once, "once", false, "print a sample and end")
	flags.IntVar(&c.lines, "limit", 20, "print at most `N` links; 0: all (--once)")
	flags.BoolVar(&c.json, "json", false, "print JSON (--once)")
	c.fabric.Define(c.env, cmd)
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{{Flags: []string{"once"}, Others: []string{"history", "export-dir"}}},
	Needs:   []cmdutil.Need{{Flags: []string{"json", "limit"}, Others: []string{"once"}}, {Flags: []string{"vs-key"}, Others: []string{"phy"}}},
}

// complete validates the command line.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	o := &c.options
	switch {
	case flags.Changed("interval") && o.Interval <= 0:
		return cmdutil.UsageErrorf("invalid --interval %v: want a time above 0", o.Interval)
	case o.Rescan <= 0:
		return cmdutil.UsageErrorf("invalid --rescan %v: want a time above 0", o.Rescan)
	case c.history < 2:
		return cmdutil.UsageErrorf("invalid --history %d: want at least 2", c.history)
	case c.lines < 0:
		return cmdutil.UsageErrorf("invalid --limit %d: want at least 0", c.lines)
	case len(args) > 2:
		return cmdutil.UsageErrorf("number of targets: got %d, want at most 2", len(args))
	}
	if o.VendorKey, err = fabricflag.OptionalKey(ctx, c.env, "vendor key", c.key); err != nil {
		return err
	}
	if c.once && o.Interval == 0 {
		o.Interval = top.MinInterval
	}
	if !c.once && (!render.IsTerminal(c.env.Out) || !render.IsTerminal(c.env.In)) {
		err := cmdutil.UsageErrorf("standard input or standard output is not a terminal")
		return cmdutil.WithHint(err, "ibkit counters --interval 5s --watch prints tables, ibkit top --once one sample")
	}
	for _, arg := range args {
		a, err := portindex.Parse(arg)
		if err != nil {
			return &cmdutil.UsageError{Err: err}
		}
		c.targets = append(c.targets, a)
	}
	if o.Names, err = c.fabric.CompleteNames(ctx, c.env); err != nil {
		return err
	}
	if o.Limits, err = c.limits.Limits(c.env); err != nil {
		return err
	}
	o.Source = c.fabric.Source(c.env)
	return nil
}

// newState returns the state that the flags select.
func (c *command) newState() *top.State {
	s := top.NewState(c.history)
	for i, name := range top.Orders {
		if name == c.order {
			s.Order = top.Order(i)
		}
	}
	s.Reverse, s.Filter, s.Problems = c.reverse, c.filter, c.problems
	return s
}

// explain adds a hint to the error of a run.
func explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return fabricflag.WithHint(err)
}
