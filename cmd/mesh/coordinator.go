package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/hostlist"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/mesh/live"
)

// coordinator is the flags of a process that gathers workers and judges their results.
type coordinator struct {
	env     *cmdutil.Env
	from    string // command, in front of messages
	source  source
	model   modelFlags
	verdict verdictFlags
	within  time.Duration
	pace    time.Duration
}

func (c *coordinator) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&c.within, "join-timeout", time.Minute, "`TIME` for joining; then the run begins without the others")
	c.model.define(c.env, cmd)
	flags.DurationVar(&c.pace, "pace", 10*time.Millisecond, "`TIME` that a simulated measurement takes")
	c.verdict.define(cmd)
	c.source.fabric.Define(c.env, cmd)
	_ = flags.MarkHidden("sm-port") // no subnet manager is queried
}

// maxPace is the highest value of --pace.
const maxPace = time.Minute

// complete checks the flags of all processes.
func (c *coordinator) complete(flags *pflag.FlagSet) error {
	switch {
	case c.within <= 0:
		return cmdutil.UsageErrorf("invalid --join-timeout %v: want a time above 0", c.within)
	case c.pace < 0 || c.pace > maxPace:
		return cmdutil.UsageErrorf("invalid --pace %v: want 0s to %v", c.pace, maxPace)
	}
	if err := c.verdict.complete(flags); err != nil {
		return err
	}
	return c.model.complete()
}

// completeSource checks the flags of the fabric.
func (c *coordinator) completeSource(ctx context.Context, flags *pflag.FlagSet) error {
	if err := c.source.complete(ctx, flags); err != nil {
		return err
	}
	if !c.source.fabric.IsSimulated() {
		err := cmdutil.UsageErrorf("the fabric is not simulated: measurements over RDMA devices are not supported yet")
		return cmdutil.WithHint(err, "select a fabric: --sim fat-tree; to judge results of other programs: ibkit mesh analyze FILE")
	}
	return nil
}

// options returns the options for joining.
func (c *coordinator) options(token string) crew.Options {
	return crew.Options{Token: token, Version: buildinfo.Version(), Within: c.within, Event: c.event}
}

// event prints refused and lost workers.
func (c *coordinator) event(e crew.Event) {
	switch {
	case e.Refused != nil:
		cmdutil.PrintError(c.env, c.from, fmt.Errorf("refused %v", e.Refused))
	case e.Lost != nil:
		cmdutil.PrintError(c.env, c.from, fmt.Errorf("lost %s in round %d: %s", e.Lost.Name, e.Lost.Round, e.Lost.Detail))
	}
}

// run gathers workers, runs the rounds and prints the verdict. It closes the listener.
func (c *coordinator) run(ctx context.Context, l net.Listener, o crew.Options) error {
	w, options, err := c.prepare(ctx)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	members, err := crew.Gather(ctx, l, o)
	if err != nil {
		return err
	}
	expected := o.Expect
	if expected == nil {
		expected = members.Members()
	}
	c.absent(members, o)
	simulation, workers, err := live.Place(w, expected, options)
	if err != nil {
		members.Close("no run: " + err.Error())
		return &cmdutil.UsageError{Err: err}
	}
	bar := render.NewProgress(c.env.ErrOut)
	run := live.Options{Simulation: simulation, Workers: workers, Pace: c.pace, Progress: progress(bar.Wait)}
	out := live.Run(ctx, members, run)
	bar.Close()
	r := live.Judge(members, w, run, out, mesh.Options{Began: c.source.routing.Began})
	members.Close(plural.Count(len(r.Findings), "finding", "findings"))
	if err := c.verdict.print(c.env, r); err != nil {
		return err
	}
	fmt.Fprintf(c.env.ErrOut, "%d of %s, %d of %s in %v\n", len(members.Members()), plural.Count(size(o), "worker", "workers"),
		out.Rounds, plural.Count(out.Of, "round", "rounds"), out.Elapsed.Round(time.Millisecond))
	return cmdutil.HeadError(&r.Head)
}

// prepare reads the fabric and the faults.
func (c *coordinator) prepare(ctx context.Context) (*mesh.Wiring, mesh.SimulateOptions, error) {
	w, err := c.source.wiring(ctx)
	if err != nil {
		return nil, mesh.SimulateOptions{}, err
	}
	o, err := c.model.options(w)
	return w, o, err
}

// absent names the workers that did not join. A launcher may have started a part of them
// only.
func (c *coordinator) absent(members *crew.Crew, o crew.Options) {
	if names, unnamed := members.Missing(); len(names)+unnamed > 0 {
		text := fmt.Sprintf("%d of %d workers did not join", len(names)+unnamed, size(o))
		if len(names) > 0 {
			text += ": " + hostlist.Compress(names)
		}
		cmdutil.PrintError(c.env, c.from, errors.New(text))
	}
	if hint := crew.FanOutHint(len(members.Members()), size(o)); hint != "" {
		fmt.Fprintf(c.env.ErrOut, "hint: %s\n", hint)
	}
}

// size returns the number of expected workers.
func size(o crew.Options) int { return max(o.Count, len(o.Expect)) }

// progressEvery is the time between two progress lines.
const progressEvery = 200 * time.Millisecond

// progress shows rounds and the time left.
func progress(show func(string)) func(done, of int, left time.Duration) {
	next := time.Now().Add(progressEvery)
	return func(done, of int, left time.Duration) {
		if now := time.Now(); done > 0 && now.After(next) {
			next = now.Add(progressEvery)
			show(fmt.Sprintf("round %d of %d, about %s left", done+1, of, render.Duration(left.Round(time.Second))))
		}
	}
}
