// Package trap is the command that prints the notices of events in a fabric.
package trap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// command is one call of trap.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	traps []string
	nodes fabricflag.NodePatterns
	smKey string
	json  bool

	options trap.Options
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "trap [flags]",
		Short: "Print the notices of events in a fabric as they happen",
		Long: strings.TrimSpace(`
trap subscribes to the notices that subnet administration forwards, and prints
one line for each: links that go up or down, ports that come into service or go
out of service, multicast groups, errors on links, packets with a wrong key, and
notices of vendors. It ends the subscription at exit, also after Ctrl-C.

It renews the subscription, so that it continues after a change of the subnet
manager, and reports if subnet administration does not respond. The exit code is
4 if notices may have been missed.

Only one program per port can receive these notices.`),
		Example: strings.Trim(`
  # all notices until Ctrl-C
  ibkit trap

  # ports that come and go, as JSON, one object per line
  ibkit trap --trap in-service,out-of-service --json

  # wait at most a minute for the next event at the switch leaf1
  ibkit trap --node leaf1 --count 1 --for 1m

  # a link that flaps, simulated
  echo "1s flap leaf1[1] 1s 3" > events
  ibkit trap --sim demo --sim-events events --for 8s

  # check that the subnet manager receives traps
  ibkit trap send link-integrity --port 3`, "\n"),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdutil.UnknownCommand(cmd, args[0])
			}
			if err := c.complete(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	cmd.AddCommand(newSend(env))
	return cmd
}

// kindNames returns the names of the kinds of traps.
func kindNames() []string {
	var names []string
	for _, k := range trap.Kinds {
		names = append(names, k.Name)
	}
	return names
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&c.traps, "trap", nil, "subscribe to a `LIST` of traps, by name or number (default: all)")
	cmdutil.CompleteList(c.env, cmd, "trap", cmdutil.Constant(kindNames()...))
	c.nodes.Register(c.env, cmd, "show")
	flags.IntVar(&c.options.Count, "count", 0, "end after `N` notices (default: no limit)")
	flags.DurationVar(&c.options.Duration, "for", 0, "end after a `TIME` (default: no limit)")
	flags.DurationVar(&c.options.Renew, "renew", 5*time.Second, "renew the subscription after each `TIME`")
	cmdutil.EnumFlag(cmd, &c.options.Names, "source", lookup.ModeAll, lookup.Modes, "`SOURCE` of names (all: sa and a scan of the nodes)")
	flags.StringVar(&c.smKey, "sm-key", "", "SM_Key of requests: a `KEY`, @FILE with it, or - for a prompt")
	flags.BoolVar(&c.json, "json", false, "print JSON, one object per line")
	flags.BoolVarP(&c.options.ShowKeys, "show-keys", "K", false, "show M_Keys, printed as 0 by default (--json)")
	c.fabric.Define(c.env, cmd)
}

var rules = cmdutil.FlagRules{
	Needs: []cmdutil.Need{{Flags: []string{"show-keys"}, Others: []string{"json"}}},
}

// complete validates the command line.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if err := errors.Join(rules.Check(flags), c.nodes.Check()); err != nil {
		return err
	}
	o := &c.options
	for _, text := range c.traps {
		k, err := parseKind(text)
		if err != nil {
			return err
		}
		o.Traps = append(o.Traps, k.Number)
	}
	switch {
	case o.Count < 0 || flags.Changed("count") && o.Count == 0:
		return cmdutil.UsageErrorf("invalid --count %d: want at least 1", o.Count)
	case o.Duration < 0 || flags.Changed("for") && o.Duration == 0:
		return cmdutil.UsageErrorf("invalid --for %v: want a time above 0", o.Duration)
	case o.Renew <= 0:
		return cmdutil.UsageErrorf("invalid --renew %v: want a time above 0", o.Renew)
	}
	if c.options.NameMap, err = c.fabric.CompleteNames(ctx, c.env); err != nil {
		return err
	}
	if o.SMKey, err = c.fabric.SMKey(ctx, c.env, c.smKey); err != nil {
		return err
	}
	o.Source, o.SMLID = c.fabric.Source(c.env), c.fabric.SMLID
	o.Source.OpenPort = c.fabric.OpenListener(c.env)
	if len(c.nodes) > 0 {
		o.Accept, o.Known = c.accept, c.warnMissing
	}
	return nil
}

func parseKind(text string) (trap.Kind, error) {
	k, err := trap.ParseKind(text)
	if err != nil {
		return k, cmdutil.WithHint(&cmdutil.UsageError{Err: err}, "names: "+strings.Join(kindNames(), ", "))
	}
	return k, nil
}

// warnMissing prints a warning for each pattern of --node that matches no node. The node may
// join the fabric later.
func (c *command) warnMissing(known []*trap.Node) {
	nodes := make([]*fabric.Node, len(known))
	for i, n := range known {
		nodes[i] = &fabric.Node{GUID: n.GUID, Desc: n.Description}
	}
	for _, pattern := range c.nodes {
		if err := (fabricflag.NodePatterns{pattern}).Missing(nil, nodes, c.options.NameMap); err != nil {
			cmdutil.PrintError(c.env, "warning", err)
		}
	}
}

// accept reports whether a notice is about a node that --node selects, or comes from one.
func (c *command) accept(n *trap.Notice) bool {
	for _, p := range []trap.Place{n.Subject, n.Issuer} {
		if p.Node != nil && c.nodes.Match(&fabric.Node{GUID: p.Node.GUID, Desc: p.Node.Description}, c.options.NameMap) {
			return true
		}
	}
	return false
}

func (c *command) run(ctx context.Context) error {
	v := &view{out: render.NewOutput(c.env.Out), colour: render.NewPalette(c.env.Out, c.env.Getenv)}
	show := v.row
	if c.json {
		show = v.json
	}
	summary, err := trap.Watch(ctx, c.options, func(e *trap.Event) error {
		c.report(e)
		show(e)
		return v.out.Flush()
	})
	if err != nil {
		return c.explain(err)
	}
	if c.fabric.Verbose > 0 {
		fmt.Fprintf(c.env.ErrOut, "%s in %v; reports: %d duplicate, %d malformed, %d from other ports\n",
			plural.Count(summary.Notices, "notice", "notices"), summary.Elapsed.Round(time.Millisecond),
			summary.Duplicate, summary.Malformed, summary.Foreign)
	}
	c.fabric.PrintStats(c.env)
	if o := c.options; o.Count > 0 && summary.Notices < o.Count && ctx.Err() == nil {
		return fmt.Errorf("receive notices: got %d of %d within %v", summary.Notices, o.Count, o.Duration)
	}
	return cmdutil.ResultError(!summary.Complete(), false)
}

// report prints an event that is not a notice to standard error.
func (c *command) report(e *trap.Event) {
	switch e.Kind {
	case report.SourceUp:
		fmt.Fprintf(c.env.ErrOut, "subscribed to notices at LID %d\n", e.Data.SALID)
	case report.SourceLost:
		cmdutil.PrintError(c.env, "lost subscription", fabricflag.WithHint(e.Err))
	case report.Refused:
		cmdutil.PrintError(c.env, "warning", e.Err)
	case report.Unnamed:
		cmdutil.PrintError(c.env, "warning", fmt.Errorf("read names of nodes: %w", e.Err))
	case report.Dropped:
		fmt.Fprintf(c.env.ErrOut, "warning: %s came too fast and were dropped\n", plural.Count(*e.Data.Count, "notice", "notices"))
	}
}

// explain adds a hint to the error of a stream.
func (c *command) explain(err error) error {
	status, refused := errors.AsType[mad.StatusError](err)
	switch {
	case errors.Is(err, umad.ErrTaken):
		return cmdutil.WithHint(err, "only a single program on a port receives notices: srp_daemon is another")
	case refused && c.options.SMKey == 0 && mad.Status(status) == mad.StatusInvalidRequest:
		return cmdutil.WithHint(err, "security traps require the SM_Key of the subnet manager: --sm-key")
	}
	return fabricflag.WithHint(err)
}
