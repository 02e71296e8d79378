// Package sm is the command that shows the subnet managers of a fabric.
package sm

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
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/internal/tool/sm"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// command is one call of sm.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	wait     time.Duration
	set      sm.Operation // 0: show only
	state    uint8
	priority uint8
	activity uint32
	change   change.Flags
	force    []sm.Risk
	json     bool
	csv      bool
	ignore   []report.Kind

	names   *fabric.NameMap
	options sm.Options
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "sm [flags] [TARGET...]",
		Short: "Show the subnet managers of a fabric and check them",
		Long: strings.TrimSpace(`
sm finds the subnet managers of a fabric: the ports with the capability IsSM, by
a scan and by subnet administration. It queries each of them twice, and shows
states, priorities, and whether the activity count advances. With a TARGET, it
queries only the managers there, and ignores ports without one.

The exit code is 3 if there is no master or more than one, if two managers have
the same priority, if a manager does not advance, or is in another state than
subnet administration reports, if a port with the capability has no manager, if
none of the TARGETs has one, or if the local port is served by another manager
than the master. It is 4 if a manager does not reply, or if a source could not
be read as a whole: the missing part may have more findings.

--set changes the state of one manager, by a Set of SMInfo with an operation as
its attribute modifier:

` + operationHelp() + `

It shows the state of the manager, the request and the other managers, asks for
confirmation, sends the operation, and reads the state until it is the wanted
one, for at most 10 s. Managers reject an operation in other states than those,
and from a sender that is not master (acknowledge: standby): the request states
that it is.

An operation is refused if no other manager can take over (only-manager), if it
makes the only master leave (master-leaves), or if it makes a second one
(second-master), unless --force names the reason.

Each change is recorded in the system log, or in the file of --log. Changes to
simulated fabrics are recorded only with --log.`),
		Example: strings.Trim(`
  # all subnet managers
  ibkit sm

  # the manager of one port, read twice in ten seconds
  ibkit sm --sm-wait 10s 7

  # the LID of the master, for scripts
  ibkit sm --json | jq '.managers[] | select(.state == "Master") | .lid'

  # the effect of stopping the standby manager at LID 7
  ibkit sm --set disable --dry-run 7

  # stop it, and make it standby again
  ibkit sm --set disable 7
  ibkit sm --set standby 7`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags(), args); err != nil {
				return err
			}
			if c.set != 0 {
				return c.apply(cmd.Context())
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	cmdutil.CompleteOperands(env, cmd, fabricflag.NodeNames)
	return cmd
}

// operationHelp lists the operations.
func operationHelp() string {
	var b strings.Builder
	for _, o := range sm.Operations {
		fmt.Fprintf(&b, "  %-12s %s → %v\n", o, strings.Join(stateNames(o.AcceptedIn()), ", "), o.LeadsTo())
	}
	return strings.TrimRight(b.String(), "\n")
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.EnumFlag(cmd, &c.options.Mode, "source", lookup.ModeAll, lookup.Modes, "`SOURCE` of managers (all: sa and a scan of the nodes)")
	flags.DurationVar(&c.wait, "sm-wait", time.Second, "read activity counts twice in this `TIME` (0: once)")
	cmdutil.EnumListFlag(cmd, &c.ignore, "ignore", sm.Kinds, "do not report a `FINDING`")
	cmdutil.EnumFlag(cmd, &c.set, "set", 0, sm.Operations, "send an `OPERATION` to a manager")
	c.change.Define(cmd, " (--set)")
	cmdutil.EnumListFlag(cmd, &c.force, "force", sm.Risks, "change the state despite a `REASON` (--set)")
	cmdutil.NumberFlag(flags, &c.state, "request-state", cmdutil.NumberRange{Most: uint8(mad.SMMaster)}, "`STATE` in the request, 0 to 3 (--set)")
	cmdutil.NumberFlag(flags, &c.priority, "priority", cmdutil.NumberRange{Most: 15}, "`PRIORITY` in the request, 0 to 15 (--set)")
	flags.Uint32Var(&c.activity, "activity", 0, "activity `COUNT` in the request (--set)")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print CSV")
	c.fabric.Define(c.env, cmd)
}

// changeLimit is the time for a manager to change its state, which opensm does at once.
const changeLimit = 10 * time.Second

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"set"}, Others: []string{"sm-wait", "source", "ignore", "csv"}},
		{Flags: []string{"json"}, Others: []string{"csv"}},
		change.DryRunClash,
	},
	Needs: []cmdutil.Need{{Flags: append([]string{"request-state", "priority", "activity", "force"}, change.FlagNames...), Others: []string{"set"}}},
}

// complete validates the command line.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	o := &c.options
	switch {
	case c.wait < 0:
		return cmdutil.UsageErrorf("invalid --sm-wait %v: want at least 0", c.wait)
	case c.set != 0 && len(args) != 1:
		return cmdutil.UsageErrorf("number of targets of --set: got %d, want 1", len(args))
	}
	if c.set != 0 {
		if err := c.change.CheckConfirm(c.env); err != nil {
			return err
		}
	}
	if !flags.Changed("request-state") {
		c.state = uint8(c.set.Sender())
	}
	if o.Targets, err = cmdutil.ParseTargets(c.env, args, false, false, ""); err != nil {
		return err
	}
	if c.names, err = c.fabric.CompleteNames(ctx, c.env); err != nil {
		return err
	}
	o.Source, o.Wait = c.fabric.Source(c.env), c.wait
	o.Resolve = c.fabric.Resolve(c.env, c.names)
	o.Resolve.Mode = o.Mode
	o.Limit = changeLimit
	return nil
}

func (c *command) run(ctx context.Context) error {
	bar := render.NewProgress(c.env.ErrOut)
	defer bar.Close()
	c.options.Source.Progress = bar.Update
	c.options.Resolve.Progress = bar.Update
	if c.wait > 0 && !c.json {
		bar.Wait(fmt.Sprintf("reading twice, %v apart (--sm-wait)", c.wait))
	}
	result, err := sm.Run(ctx, c.options)
	bar.Close()
	if err != nil {
		return fabricflag.WithSourceHint(err, c.options.Mode)
	}
	for _, w := range result.Warnings {
		cmdutil.PrintError(c.env, "warning", fabricflag.WithSourceHint(w, c.options.Mode))
	}
	c.drop(result)
	v := &view{env: c.env, names: c.names, result: result, complete: len(c.options.Targets) == 0}
	document := result.Report(c.names)
	if err := v.print(c, document); err != nil {
		return err
	}
	c.fabric.PrintStats(c.env)
	return cmdutil.HeadError(&document.Head)
}

// drop removes the findings that are not to be reported.
func (c *command) drop(r *sm.Result) {
	ignored := func(f report.Finding) bool { return slices.Contains(c.ignore, f.Kind) }
	r.Findings = slices.DeleteFunc(r.Findings, ignored)
	for _, m := range r.Managers {
		m.Findings = slices.DeleteFunc(m.Findings, ignored)
	}
}
