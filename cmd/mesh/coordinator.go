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
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/hostlist"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/mesh/drain"
	"github.com/ibkit/ibkit/internal/tool/mesh/live"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// coordinator is the flags of a process that gathers workers and judges their results.
type coordinator struct {
	env     *cmdutil.Env
	from    string // command, in front of messages
	source  source
	model   modelFlags
	verdict verdictFlags
	test    testFlags
	within  time.Duration
	pace    time.Duration
	results string // file

	termination string // file

	scheduled bool        // --schedule is set
	tests     []perf.Test // of a measured run
	load      []perf.Test // of its congestors
}

func (c *coordinator) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&c.within, "join-timeout", time.Minute, "`TIME` for joining; then the run begins without the others")
	c.model.define(c.env, cmd)
	flags.DurationVar(&c.pace, "pace", 10*time.Millisecond, "`TIME` that a simulated measurement takes")
	c.test.define(cmd)
	c.verdict.define(cmd)
	flags.StringVar(&c.results, "results", "", "write the figures to `FILE` for ibkit mesh analyze (.json, .jsonl: JSON)")
	flags.StringVar(&c.termination, "termination-log", "", "write a short verdict to `FILE` (default in a pod:\n"+terminationLog+")")
	c.source.define(cmd)
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
	if err := c.verdict.complete(c.env, flags); err != nil {
		return err
	}
	return c.model.complete()
}

// completeSource checks the flags of the fabric.
func (c *coordinator) completeSource(ctx context.Context, flags *pflag.FlagSet) error {
	if err := c.source.complete(ctx, flags); err != nil {
		return err
	}
	simulated := c.isSimulated()
	if err := c.test.check(flags, simulated); err != nil {
		return err
	}
	if c.results != "" {
		if err := fileout.Check(c.results); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
	}
	if simulated {
		return nil
	}
	if err := checkMeasured(flags); err != nil {
		return err
	}
	var err error
	c.scheduled = flags.Changed("schedule")
	c.tests, c.load, err = c.test.tests(flags)
	return err
}

// isSimulated reports whether the figures are calculated.
func (c *coordinator) isSimulated() bool {
	return c.source.from.File == "" && c.source.fabric.IsSimulated()
}

// retryTime is the time in which a queue pair gives up.
const retryTime = 3 * time.Second

// options returns the options for joining.
func (c *coordinator) options(token string) crew.Options {
	return crew.Options{Token: token, Version: buildinfo.Version(), Within: c.within, Retry: retryTime, Tests: c.tests, Load: c.load, Event: c.event}
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
	var s *session
	if c.isSimulated() {
		var err error
		if s, err = c.simulated(ctx); err != nil {
			return errors.Join(err, l.Close())
		}
	}
	members, err := crew.Gather(ctx, l, o)
	if err != nil {
		return err
	}
	c.absent(members, o)
	if s, err = c.place(ctx, s, members, o); err != nil {
		members.Close("no run: " + err.Error())
		return err
	}
	r, out, err := c.judge(ctx, s, members)
	c.failed(r)
	members.Close(plural.Count(len(r.Findings), "finding", "findings"))
	err = errors.Join(err, c.verdict.print(ctx, c.env, c.from, r))
	summary := fmt.Sprintf("%d of %s, %d of %s in %v", len(members.Members()), plural.Count(size(o), "worker", "workers"),
		out.Rounds, plural.Count(out.Of, "round", "rounds"), out.Elapsed.Round(time.Millisecond))
	c.terminate(r, fmt.Sprintf("%s: %s; %s", c.from, plural.Count(len(r.Findings), "finding", "findings"), summary))
	if err != nil {
		return err
	}
	fmt.Fprintln(c.env.ErrOut, summary)
	return cmdutil.HeadError(&r.Head)
}

// failed prints the failures of a run, such as pairs and ports that cannot measure.
func (c *coordinator) failed(r *mesh.Result) {
	failures := c.source.fabric.Failures(c.env, "warning")
	defer failures.Close()
	for _, f := range r.Failures {
		if f.Attribute != "" {
			continue // of the scan, which has printed it
		}
		text := f.Error
		if f.Subject != "" {
			text = f.Subject + ": " + text
		}
		failures.Print(errors.New(text))
	}
}

// place assigns the workers to hosts: s is a simulation, or nil for measurements.
func (c *coordinator) place(ctx context.Context, s *session, members *crew.Crew, o crew.Options) (*session, error) {
	if s == nil {
		return c.measured(ctx, members)
	}
	expected := o.Expect
	if expected == nil {
		expected = members.Members()
	}
	if err := s.place(expected); err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	return s, nil
}

// judge runs the rounds, saves and analyses the figures, and confirms the suspects. An error is
// that of saving.
func (c *coordinator) judge(ctx context.Context, s *session, members *crew.Crew) (*mesh.Result, *live.Outcome, error) {
	bar := render.NewProgress(c.env.ErrOut)
	defer bar.Close()
	s.run.Progress = progress(bar.Wait)
	out := live.Run(ctx, members, s.run)
	err := c.save(s, out)
	r := live.Conclude(ctx, members, s.wiring, s.run, out, mesh.Options{Began: s.began, Baseline: c.verdict.before})
	s.finish(r)
	return r, out, err
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
	if hint := crew.FanOutHint(len(members.Members()), size(o)); hint != "" && c.env.Getenv(drain.InPod) == "" {
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
