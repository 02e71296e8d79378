// Package port is the command that shows a port and its peer, and changes ports.
package port

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/portchange"
)

// command is one call of port.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	from   string
	change change.Flags
	wait   time.Duration
	json   bool

	targets []portchange.Target
	wanted  portchange.Change
	force   []portchange.Risk
	names   *fabric.NameMap
	options portchange.Options
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "port [flags] TARGET [PORT] [CHANGE...]",
		Short: "Show a port and its peer, or change ports",
		Long: strings.TrimSpace(`
port shows a port and its peer, checked against each other. With a CHANGE, it
shows the effect at both ends and the nodes that the change cuts off, asks for
confirmation, changes the port, and waits until its link is up again.

A TARGET is any address that ibkit addr accepts: a LID, a GUID, a GID, a
directed route, an IP address or a name. PORT is the number of a port of that
node; for an adapter the default is the port with the address, and without a
CHANGE, a switch stands for all of its ports. NAME[3] also means port 3 of a
node. A CHANGE is an action, settings, or both:

` + changeHelp() + `

Widths and speeds take effect when the link trains: add reset to train it. All
other fields of the port keep their values.

A port is not changed if this has a risk that --force does not name:

` + riskHelp() + `

Link risks apply to a reset, too: a link that trains may stay down. Requests use
a route around the link if there is one. Before each change, ibkit first checks
that the planned port still has this address.

Several ports are changed one after another, until the first failure. Changes
that cut off the port of a later one are refused, with an order that does not.
--targets-file reads them from a file: a line per port with TARGET and PORT, or
the output of ibkit linkinfo --json. A link with both ends in the list is
changed once.

Each change is recorded in the system log, or in the file of --log. Changes to
simulated fabrics are recorded only with --log.`),
		Example: strings.Trim(`
  # all ports of a switch; a port and its peer
  ibkit port leaf1
  ibkit port leaf1 3

  # the nodes that disabling the port would cut off
  ibkit port --dry-run leaf1 3 disable

  # disable a port, and enable it again
  ibkit port leaf1 1 disable
  ibkit port leaf1 1 enable

  # limit a link to EDR, and train it
  ibkit port leaf1 1 espeed=FDR,EDR reset

  # train all links that run below their rate, also those of hosts
  ibkit linkinfo --json --finding slow |
    ibkit port --targets-file - --yes --force last-link reset`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags(), args); err != nil {
				return err
			}
			if c.wanted.IsZero() {
				return c.show(cmd.Context())
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	return cmd
}

// changeHelp lists the actions and settings.
func changeHelp() string {
	var b strings.Builder
	for _, a := range []struct{ name, about string }{
		{"enable", "enable a disabled port"},
		{"disable", "disable the port: its link goes down until the port is enabled"},
		{"reset", "train the link again (physical state Polling)"},
		{"down", "take the link down (state Down), so that it trains again"},
		{"arm, active", "set the state: arm after Initialize, then active"},
	} {
		fmt.Fprintf(&b, "  %-12s %s\n", a.name, a.about)
	}
	for _, s := range portchange.Settings {
		fmt.Fprintf(&b, "  %-12s %s\n", s.Name+"=", s.Values)
	}
	return strings.TrimRight(b.String(), "\n")
}

// riskHelp lists the risks.
func riskHelp() string {
	var b strings.Builder
	for _, r := range portchange.Risks {
		fmt.Fprintf(&b, "  %-12s %s\n", r, r.About())
	}
	return strings.TrimRight(b.String(), "\n")
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.from, "targets-file", "", "change the ports in `FILE` (-: standard input), instead of TARGET")
	c.change.Define(cmd, "")
	cmdutil.EnumListFlag(cmd, &c.force, "force", portchange.Risks, "change ports despite a `REASON`")
	flags.DurationVar(&c.wait, "wait", 30*time.Second, "wait this `TIME` for a link to come up")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	c.fabric.Define(c.env, cmd)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 && c.from == "" {
			return fabricflag.NodeNames(c.env, cmd.Flags()), cobra.ShellCompDirectiveNoFileComp
		}
		return cmdutil.BeginningWith(begun, changeWords()), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// changeWords returns the beginnings of changes, for shells.
func changeWords() []string {
	words := append([]string(nil), portchange.ActionNames...)
	for _, s := range portchange.Settings {
		words = append(words, s.Name+"=")
	}
	return words
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{change.DryRunClash, {Flags: []string{"dry-run"}, Others: []string{"wait"}}},
}

// complete validates the command line.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if c.wait < 0 {
		return cmdutil.UsageErrorf("invalid --wait %v: want at least 0", c.wait)
	}
	words, err := c.completeTargets(args)
	if err != nil {
		return err
	}
	if words, err = c.readMKey(ctx, words); err != nil {
		return err
	}
	if c.wanted, err = portchange.ParseChange(words); err != nil {
		return cmdutil.WithHint(&cmdutil.UsageError{Err: err}, changeHint(args, words))
	}
	if given := cmdutil.Given(flags, append([]string{"targets-file", "force", "wait"}, change.FlagNames...)); given != "" && c.wanted.IsZero() {
		return cmdutil.UsageErrorf("%s has no effect without a change", given)
	}
	if c.names, err = c.fabric.CompleteNames(ctx, c.env); err != nil {
		return err
	}
	c.options = portchange.Options{
		Source: c.fabric.Source(c.env), Wait: c.wait, Resolve: c.fabric.Resolve(c.env, c.names),
	}
	return nil
}

// completeTargets parses the targets and returns the words of the change.
func (c *command) completeTargets(args []string) (words []string, err error) {
	if c.from != "" {
		c.targets, err = readTargets(interrupt.Reader(c.env.In), c.from)
		if err != nil {
			return nil, cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, cmdutil.TargetsHint)
		}
		if len(args) > 0 && !strings.Contains(args[0], "=") && !slices.Contains(portchange.ActionNames, strings.ToLower(args[0])) {
			return nil, cmdutil.UsageErrorf("%q is not a change: --targets-file and a TARGET are mutually exclusive", args[0])
		}
		return args, nil
	}
	if len(args) == 0 {
		return nil, cmdutil.Missing("port")
	}
	t := portchange.Target{Number: portchange.AddressedPort}
	if t.Address, err = lookup.Parse(args[0]); err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	words = args[1:]
	if len(words) > 0 {
		if number, err := strconv.ParseUint(words[0], 0, 31); err == nil {
			t.Number, words = int(number), words[1:]
		}
	}
	c.targets = []portchange.Target{t}
	return words, nil
}

// readMKey replaces the value of a new M_Key that is in a file or typed in by its number.
func (c *command) readMKey(ctx context.Context, words []string) ([]string, error) {
	words = append([]string(nil), words...)
	for i, word := range words {
		text, isKey := strings.CutPrefix(strings.ToLower(word), "mkey=")
		if !isKey {
			continue
		}
		key, err := fabricflag.ReadKey(ctx, c.env, "new M_Key", word[len(word)-len(text):])
		if err != nil {
			return nil, err
		}
		words[i] = "mkey=" + strconv.FormatUint(uint64(key), 10)
	}
	return words, nil
}

// show reads a port and its peer, or all ports of a switch.
func (c *command) show(ctx context.Context) error {
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Source.Progress, c.options.Resolve.Progress = bar.Update, bar.Update
	links, err := portchange.Show(ctx, c.options, c.targets[0])
	bar.Close()
	if err != nil {
		return withTargetHint(err)
	}
	out := render.NewOutput(c.env.Out)
	v := &view{out: out, names: c.names}
	document := portchange.ReportLinks(links, c.names)
	switch {
	case c.json:
		v.json(document)
	case len(links) == 1:
		v.link(links[0])
	default:
		v.links(links)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	c.fabric.PrintStats(c.env)
	return cmdutil.HeadError(&document.Head)
}

// run plans the change, and makes it.
func (c *command) run(ctx context.Context) (failed error) {
	defer c.fabric.PrintStats(c.env)
	log, err := c.change.OpenLog(c.env, &c.fabric.Settings)
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, log.Close()) }()
	c.options.Log = func(e portchange.Entry) error { return c.record(log, e) }
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Source.Progress = bar.Update
	s, err := portchange.NewSession(ctx, c.options)
	bar.Close()
	if err != nil {
		return fabricflag.WithHint(err)
	}
	defer func() { failed = errors.Join(failed, s.Close()) }()
	plan, err := s.Plan(ctx, c.wanted, c.targets)
	if _, ok := errors.AsType[*portchange.NumberError](err); ok {
		return &cmdutil.UsageError{Err: err}
	}
	if err != nil {
		return withTargetHint(err)
	}
	out := render.NewOutput(c.env.Out)
	v := &view{out: out, names: c.names}
	if !c.json {
		v.plan(plan)
		if err := out.Flush(); err != nil {
			return err
		}
	}
	if plan.Partial {
		cmdutil.PrintError(c.env, "warning", fmt.Errorf("more nodes may lose their path: scan the fabric: %w", s.Fabric.Incomplete()))
	}
	refused := c.refuse(plan)
	if c.change.DryRun || refused != nil {
		if c.json {
			v.json(s.Report(plan, true, c.names))
		}
		return cmp.Or(errors.Join(refused, out.Flush()), cmdutil.ResultError(plan.Partial, false))
	}
	if n := needed(plan); n > 0 {
		if err := c.change.Confirm(ctx, c.env, c.wanted.String(), "Change "+plural.Count(n, "port", "ports")+"?"); err != nil {
			return err
		}
	}
	wait := func() {
		if c.wait > 0 && !c.json && needed(plan) > 0 {
			bar.Wait(fmt.Sprintf("waiting up to %v for the change (--wait)", c.wait))
		}
	}
	done := func(st *portchange.Step) {
		bar.Close()
		if !c.json {
			v.outcome(st)
			_ = out.Flush() // Flush below has the error
		}
		wait()
	}
	wait()
	err = s.Apply(ctx, plan, done)
	bar.Close()
	if c.json {
		v.json(s.Report(plan, false, c.names))
	} else {
		v.summary(plan)
	}
	err = errors.Join(err, out.Flush())
	return c.result(plan, err)
}

// needed returns the number of ports that are not yet in the wanted state.
func needed(plan *portchange.Plan) int {
	n := 0
	for _, st := range plan.Steps {
		if !st.Needless() {
			n++
		}
	}
	return n
}

// refuse returns the reason not to carry out a plan, or nil.
func (c *command) refuse(plan *portchange.Plan) error {
	var impossible []error
	for _, st := range plan.Steps {
		if st.Err != nil {
			impossible = append(impossible, withHint(fmt.Errorf("change %s: %w", c.names.PortName(st.Port), st.Err), st.Err))
		}
	}
	if len(impossible) > 0 {
		return withOrder(errors.Join(impossible...), plan, c.names)
	}
	return change.Refuse("change ports", "to change them nevertheless", plan.NotForced(c.force))
}

// withOrder adds the order in which the ports of a plan can be changed.
func withOrder(err error, plan *portchange.Plan, names *fabric.NameMap) error {
	if !plan.CutOff {
		return err
	}
	if plan.Order == nil {
		return cmdutil.WithHint(err, "each order of the ports cuts off one of them: leave out a port")
	}
	var ports []string
	for _, st := range plan.Order {
		ports = append(ports, names.PortName(st.Port))
	}
	return cmdutil.WithHint(err, "an order that cuts off none: "+strings.Join(ports, ", "))
}

// withHint adds a hint to the cause of a failure.
func withHint(err, cause error) error {
	if errors.Is(cause, portchange.ErrMKey) {
		return cmdutil.WithHint(err, "give the M_Key of the port: -y @FILE, or -y - for a prompt")
	}
	return fabricflag.WithHint(err)
}

// result prints the failures and returns the exit code. ended is the error that ended the
// change early, or nil.
func (c *command) result(plan *portchange.Plan, ended error) error {
	var summary change.Summary
	for _, st := range plan.Steps {
		summary.Add(st.Outcome)
		summary.Findings = summary.Findings || len(st.Findings) > 0
		if st.Failure == nil {
			continue
		}
		err := fmt.Errorf("%s: %v: %w", c.names.PortName(st.Port), st.Outcome, st.Failure)
		if st.Outcome == outcome.NoReply {
			err = cmdutil.WithHint(err, "the port replies to queries: it may have another M_Key (-y)")
		}
		cmdutil.PrintError(c.env, "ibkit port", withHint(err, st.Failure))
	}
	if ended != nil {
		cmdutil.PrintError(c.env, "ibkit port", ended)
	}
	return summary.Err(ended)
}
