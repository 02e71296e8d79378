// Package cc is the command that shows and changes congestion control of a fabric.
package cc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/change"
	"github.com/ibkit/ibkit/cmd/internal/changelog"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/cc"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// command is one call of cc.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	nodes  fabricflag.NodePatterns
	show   []string
	ignore []report.Kind
	set    string
	change change.Flags
	key    string
	json   bool

	options  cc.Options
	settings *cc.Settings // nil: show only
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "cc [flags]",
		Short: "Show congestion control of a fabric, or set it from a file",
		Long: strings.TrimSpace(`
cc reads all nodes' congestion control agents: the thresholds by which
switches mark packets, the settings of single switch ports, and the tables and
timers by which adapters slow down. It reports nodes without an agent, nodes
that have congestion control off while others of their type have it on, and
settings that differ from most nodes of the same type. Its tables have different
columns, so there is no CSV; --json has all values.

With --settings, it compares all nodes with the settings in a file, shows the
differences by node, asks for confirmation, sets them on all nodes at the same
time, and reads them back. The file has sections with lines KEY = VALUE;
without the keys node, ports and sls, a section is for all nodes, ports or
service levels; [port] requires control:

` + keyHelp() + `

Each change is recorded in the system log, or in the file of --log. Changes to
simulated fabrics are recorded only with --log.`),
		Example: strings.Trim(`
  # the settings of all nodes; exit code 3 if there are findings
  ibkit cc

  # service levels and tables of some adapters
  ibkit cc --show sls,cct --node 'node*'

  # settings: switches, except for some ports, and the tables of adapters
  printf '%s\n' '[switch]' 'threshold = 12' \
    '[port]' 'ports = 1-4' 'control = congestion' 'threshold = 8' \
    '[adapter]' 'cct = 0:0, 0:10, 1:20' > cc.conf

  # show the changes that the settings in a file require
  ibkit cc --settings cc.conf --dry-run

  # set them, with the CC_Key in a file
  ibkit cc --settings cc.conf --cc-key @/etc/ibkit/cc_key`, "\n"),
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	return cmd
}

// keyHelp lists the keys of a settings file.
func keyHelp() string {
	var b strings.Builder
	for _, section := range cc.Sections {
		fmt.Fprintf(&b, "  [%s]\n    %-19s patterns of names or GUIDs: leaf*, 0x0002c90000800200\n", section, "node")
		for _, k := range cc.Keys(section) {
			fmt.Fprintf(&b, "    %-19s %s\n", k.Name, k.Values)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	c.nodes.Register(c.env, cmd, "read and change")
	c.show = []string{partNodes}
	cmdutil.EnumListFlag(cmd, &c.show, "show", parts, "show these `TABLES`")
	cmdutil.EnumListFlag(cmd, &c.ignore, "ignore", cc.Kinds, "do not report a `FINDING`")
	flags.StringVar(&c.set, "settings", "", "change nodes that differ from the settings in `FILE` (-: input)")
	c.change.Define(cmd, " (--settings)")
	flags.StringVar(&c.key, "cc-key", "", "CC_Key of requests: a `KEY`, @FILE with it, or - for a prompt")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	c.fabric.Define(c.env, cmd)
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"settings"}, Others: []string{"show", "ignore"}},
		change.DryRunClash,
		{Flags: []string{"json"}, Others: []string{"show"}},
	},
	Needs: []cmdutil.Need{{Flags: change.FlagNames, Others: []string{"settings"}}},
}

// complete validates the command line.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if err := c.nodes.Check(); err != nil {
		return err
	}
	if flags.Changed("settings") {
		if c.settings, err = c.readSettings(); err != nil {
			return &cmdutil.UsageError{Err: cmdutil.WithFileHint(err, "keys and an example of such a file: ibkit cc --help")}
		}
	}
	if c.settings != nil {
		if err := c.change.CheckConfirm(c.env); err != nil {
			return err
		}
	}
	o := &c.options
	if o.Key, err = fabricflag.OptionalKey(ctx, c.env, "CC_Key", c.key); err != nil {
		return err
	}
	if o.Names, err = c.fabric.CompleteNames(ctx, c.env); err != nil {
		return err
	}
	o.Source = c.fabric.Source(c.env)
	o.Selected = func(n *fabric.Node) bool { return c.nodes.Match(n, o.Names) }
	return nil
}

func (c *command) readSettings() (*cc.Settings, error) {
	if c.set == "-" {
		return cc.ReadSettings(interrupt.Reader(c.env.In), "standard input")
	}
	return cc.ReadSettingsFile(c.set)
}

func (c *command) run(ctx context.Context) (failed error) {
	if c.settings != nil {
		log, err := c.change.OpenLog(c.env, &c.fabric.Settings)
		if err != nil {
			return err
		}
		defer func() { failed = errors.Join(failed, log.Close()) }()
		c.options.Log = func(e cc.Entry) error { return c.record(log, e) }
	}
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Source.Progress = bar.Update
	s, err := cc.NewSession(ctx, c.options)
	bar.Close()
	if err != nil {
		return fabricflag.WithHint(err)
	}
	defer func() { failed = errors.Join(failed, s.Close()) }()
	if s.Fabric.Partial() {
		c.fabric.PrintFailed(c.env, s.Fabric.FailureErrors(s.Names))
		cmdutil.PrintError(c.env, "warning", fmt.Errorf("nodes may be missing: scan the fabric: %w", s.Fabric.Incomplete()))
	}
	if err := c.nodes.Missing(s.Fabric, s.Fabric.Nodes, s.Names); err != nil {
		return err
	}
	if c.settings != nil {
		err = c.apply(ctx, s)
	} else {
		err = c.print(s)
	}
	c.fabric.PrintStats(c.env)
	return err
}

// print shows the settings.
func (c *command) print(s *cc.Session) error {
	ignored := func(f report.Finding) bool { return slices.Contains(c.ignore, f.Kind) }
	for _, a := range s.Agents {
		a.Findings = slices.DeleteFunc(a.Findings, ignored)
	}
	v := newView(c.env, s)
	document := s.Report(nil, false)
	if c.json {
		v.json(document)
	} else {
		v.tables(c.show)
	}
	if err := v.out.Flush(); err != nil {
		return err
	}
	c.printFailures(v)
	return cmdutil.HeadError(&document.Head)
}

// printFailures prints the requests without a reply.
func (c *command) printFailures(v *view) {
	failures := c.fabric.Failures(c.env, "ibkit cc")
	for _, a := range v.session.Agents {
		for _, err := range a.Failures {
			failures.Print(fmt.Errorf("%s: %w", v.name(a), err))
		}
	}
	failures.Close()
}

// printOmitted prints the ports that a change leaves out.
func (c *command) printOmitted(v *view, p *cc.Plan) {
	failures := c.fabric.Failures(c.env, "warning")
	for _, a := range p.Without {
		failures.Print(fmt.Errorf("%s is left out: %w", v.name(a), a.Err()))
	}
	failures.Close()
}

// apply changes the nodes that differ from the settings.
func (c *command) apply(ctx context.Context, s *cc.Session) error {
	plan, err := s.Plan(c.settings)
	if err != nil {
		return err
	}
	v := newView(c.env, s)
	if !c.json {
		v.plan(plan)
		if err := v.out.Flush(); err != nil {
			return err
		}
	}
	c.printOmitted(v, plan)
	if st, err := plan.Err(); err != nil || c.change.DryRun || len(plan.Steps) == 0 {
		if c.json {
			v.json(s.Report(plan, true))
		}
		if err != nil {
			return errors.Join(fmt.Errorf("change %s: %w", v.name(st.Agent), err), v.out.Flush())
		}
		return cmp.Or(v.out.Flush(), cmdutil.ResultError(plan.IsPartial(), false))
	}
	question := "Change congestion control of " + plural.Count(len(plan.Steps), "node", "nodes") + "?"
	if err := c.change.Confirm(ctx, c.env, "set congestion control", question); err != nil {
		return err
	}
	err = s.Apply(ctx, plan)
	if c.json {
		v.json(s.Report(plan, false))
	} else {
		v.outcomes(plan)
	}
	return c.result(v, plan, errors.Join(err, v.out.Flush()))
}

// result prints the failures and returns the exit code. ended is the error that ended the
// change early, or nil.
func (c *command) result(v *view, plan *cc.Plan, ended error) error {
	summary := change.Summary{Partial: plan.IsPartial()}
	failures := c.fabric.Failures(c.env, "ibkit cc")
	for _, st := range plan.Steps {
		summary.Add(st.Outcome)
		if st.Failure == nil || st.Outcome == outcome.NotAttempted {
			continue
		}
		err := fmt.Errorf("%s: %v: %w", v.name(st.Agent), st.Outcome, st.Failure)
		if errors.Is(st.Failure, umad.ErrTimeout) {
			err = cmdutil.WithHint(err, "the agent replies to queries: it may have another CC_Key (-c @FILE)")
		}
		failures.Print(err)
	}
	failures.Close()
	if ended != nil {
		cmdutil.PrintError(c.env, "ibkit cc", ended)
	}
	return summary.Err(ended)
}

// record writes a line to the log before a change and another one after it.
func (c *command) record(log *changelog.Log, e cc.Entry) error {
	attrs := changelog.Port(e.Step.Agent.Port, c.options.Names)
	for _, edit := range e.Step.Edits {
		attrs = append(attrs, slog.String(strings.ReplaceAll(edit.Name, " ", "_"), edit.From+" → "+edit.To))
	}
	if !e.Ended {
		return log.Begin(attrs...)
	}
	return log.End(e.Step.Outcome, e.Step.Failure, attrs...)
}
