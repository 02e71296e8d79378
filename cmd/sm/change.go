package sm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/change"
	"github.com/ibkit/ibkit/cmd/internal/changelog"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/tool/sm"
	"github.com/ibkit/ibkit/mad"
)

// apply plans the operation of --set, and sends it.
func (c *command) apply(ctx context.Context) (failed error) {
	defer c.fabric.PrintStats(c.env)
	log, err := c.change.OpenLog(c.env, &c.fabric.Settings)
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, log.Close()) }()
	c.options.Log = func(e sm.Entry) error { return c.record(log, e) }
	s, err := sm.NewSession(ctx, c.options)
	if err != nil {
		return fabricflag.WithHint(err)
	}
	defer func() { failed = errors.Join(failed, s.Close()) }()
	plan, err := c.plan(ctx, s)
	if err != nil {
		return fmt.Errorf("%v: %w", c.set, fabricflag.WithHint(err))
	}
	v := &changeView{out: render.NewOutput(c.env.Out), command: c, plan: plan}
	if !c.json {
		v.show()
		if err := v.out.Flush(); err != nil {
			return err
		}
	}
	refused := change.Refuse(fmt.Sprintf("send %v to %s", c.set, v.name(plan.Manager)), "to send it nevertheless", plan.NotForced(c.force))
	if c.change.DryRun || refused != nil {
		if c.json {
			v.json(s, true)
		}
		return errors.Join(refused, v.out.Flush())
	}
	if !plan.Needless() {
		if err := c.change.Confirm(ctx, c.env, c.set.String(), fmt.Sprintf("Send %v to %s?", c.set, v.name(plan.Manager))); err != nil {
			return err
		}
	}
	err = s.Apply(ctx, plan)
	if c.json {
		v.json(s, false)
	} else {
		v.outcome()
	}
	return v.result(errors.Join(err, v.out.Flush()))
}

// plan reads the managers, and prints the sources that could not be read.
func (c *command) plan(ctx context.Context, s *sm.Session) (*sm.Plan, error) {
	bar := render.NewProgress(c.env.ErrOut)
	defer bar.Close()
	s.Options.Source.Progress, s.Resolve.Progress = bar.Update, bar.Update
	plan, err := s.Plan(ctx, sm.Change{Operation: c.set, State: mad.SMState(c.state), Priority: c.priority, ActCount: c.activity})
	bar.Close()
	if err != nil {
		return nil, err
	}
	for _, w := range plan.Warnings {
		cmdutil.PrintError(c.env, "warning", fmt.Errorf("other managers may be missing: %w", fabricflag.WithSourceHint(w, c.options.Mode)))
	}
	return plan, nil
}

// record writes a line to the log before a change and another one after it.
func (c *command) record(log *changelog.Log, e sm.Entry) error {
	p := e.Plan
	attrs := []slog.Attr{
		slog.String("port_guid", p.Manager.GUID().String()), slog.Int("port", int(p.Manager.Node.LocalPort)), slog.String("name", p.Manager.Name(c.names)),
		slog.String("change", p.Operation.String()), slog.String("before", p.Manager.Info.State.String()),
	}
	if !e.Ended {
		return log.Begin(attrs...)
	}
	return log.End(p.Outcome, p.Failure, append(attrs, slog.String("after", stateText(p.After)))...)
}

// A changeView prints a plan and its outcome.
type changeView struct {
	*command
	out  *render.Output
	plan *sm.Plan
}

func (v *changeView) json(s *sm.Session, dryRun bool) {
	render.WriteLine(v.out, v.plan.Report(s.Local(), dryRun, v.names))
}

// name returns the name of the node of a manager, or its address.
func (v *changeView) name(m *sm.Manager) string {
	return cmp.Or(m.Name(v.names), m.To.Place())
}

// show prints the manager, the request, the other managers and the risks.
func (v *changeView) show() {
	p := v.plan
	fmt.Fprintf(v.out, "%s (%v, %s): %s\n", v.name(p.Manager), p.Manager.GUID(), p.Manager.To.Place(), infoText(p.Manager.Info))
	if p.Needless() {
		fmt.Fprintf(v.out, "  %v: not needed, the manager is %v\n", p.Operation, p.Manager.Info.State)
		return
	}
	fmt.Fprintf(v.out, "  %v: %v → %v\n", p.Operation, p.Manager.Info.State, p.Operation.LeadsTo())
	fmt.Fprintf(v.out, "  request: Set SMInfo, modifier %d: %s, GUID %v\n", uint32(p.Operation), infoText(&p.Request), p.Request.GUID)
	if accepted := p.Operation.AcceptedIn(); !slices.Contains(accepted, p.Manager.Info.State) {
		fmt.Fprintf(v.out, "  managers accept %v in the state %s only\n", p.Operation, strings.Join(stateNames(accepted), ", "))
	}
	if len(p.Others) == 0 {
		fmt.Fprintln(v.out, "  no other manager")
	}
	for _, m := range p.Others {
		fmt.Fprintf(v.out, "  other manager %s (%s): %s\n", v.name(m), m.To.Place(), infoText(m.Info))
	}
	for _, r := range p.Risks {
		fmt.Fprintf(v.out, "  %v: %s\n", r, r.Detail())
	}
}

// outcome prints the result.
func (v *changeView) outcome() {
	p := v.plan
	fmt.Fprintf(v.out, "%s: %v", v.name(p.Manager), p.Outcome)
	if p.After != nil {
		fmt.Fprintf(v.out, ", now %v", p.After.State)
	}
	if p.Outcome == outcome.Changed {
		fmt.Fprintf(v.out, ", after %.1f s", p.Elapsed.Seconds())
	}
	fmt.Fprintln(v.out)
}

// result prints the failure and returns the exit code. ended is the error that ended the
// change early, or nil.
func (v *changeView) result(ended error) error {
	p := v.plan
	if p.Failure != nil {
		cmdutil.PrintError(v.env, "ibkit sm", fmt.Errorf("%s: %v: %w", v.name(p.Manager), p.Outcome, p.Failure))
	}
	if ended != nil {
		cmdutil.PrintError(v.env, "ibkit sm", ended)
	}
	var summary change.Summary
	summary.Add(p.Outcome)
	return summary.Err(ended)
}

// infoText describes SMInfo, which may be nil.
func infoText(i *mad.SMInfo) string {
	if i == nil {
		return "no reply"
	}
	return fmt.Sprintf("%v, priority %d, activity count %d", i.State, i.Priority, i.ActCount)
}

// stateText returns the state in an SMInfo, which may be nil.
func stateText(i *mad.SMInfo) string {
	if i == nil {
		return "unknown"
	}
	return i.State.String()
}

// stateNames returns the names of states.
func stateNames(states []mad.SMState) []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = s.String()
	}
	return names
}
