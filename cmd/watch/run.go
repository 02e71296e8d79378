package watch

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/hook"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/watch"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// execQueue limits the events that wait for a program.
const execQueue = 1024

// errEnded is the reason why programs are killed at the end of --for.
var errEnded = errors.New("the time of the watch has ended")

// run prints the stream and runs the programs.
func (c *command) run(ctx context.Context) error {
	programs, release, err := c.startPrograms(ctx)
	if err != nil {
		return err
	}
	defer release()
	v := &view{out: render.NewOutput(c.env.Out), colour: render.NewPalette(c.env.Out, c.env.Getenv)}
	summary, err := watch.Run(ctx, c.options, func(e *watch.Event) error {
		if programs != nil && !e.Kind.IsState() {
			programs.Submit(append(render.MustMarshal(e), '\n'))
		}
		if e.Kind == report.SourceUp && e.Data.Source != watch.Local { // after Known
			for _, err := range c.missing {
				cmdutil.PrintError(c.env, "warning", err)
			}
			c.missing = nil
		}
		switch {
		case c.json:
			render.WriteLine(v.out, e)
		case e.Kind.IsState():
			c.report(e)
		default:
			v.row(e)
		}
		return v.out.Flush()
	})
	missed := !summary.Complete()
	if programs != nil {
		missed = c.finish(ctx, programs) || missed
	}
	if err != nil {
		return explain(err)
	}
	c.fabric.PrintStats(c.env)
	if o := c.options; o.Count > 0 && summary.Events < o.Count && ctx.Err() == nil {
		return fmt.Errorf("watch: got %d of %d events within %v", summary.Events, o.Count, o.Duration)
	}
	return cmdutil.ResultError(missed, false)
}

// startPrograms starts the runner of programs, nil without --exec. The end of --for ends it,
// but an interrupt does not. release must be called at the end.
func (c *command) startPrograms(ctx context.Context) (programs *hook.Runner, release func(), err error) {
	if c.program == nil {
		return nil, func() {}, nil
	}
	ctx, release = context.WithoutCancel(ctx), func() {}
	if c.options.Duration > 0 {
		ctx, release = context.WithTimeoutCause(ctx, c.options.Duration, errEnded)
	}
	programs, err = hook.New(ctx, hook.Options{
		Command: c.program, Jobs: c.jobs, Timeout: c.timeout, Queue: execQueue, Output: c.env.ErrOut,
		Failed: func(err error) { cmdutil.PrintError(c.env, "warning", err) },
	})
	if err != nil {
		release()
		return nil, nil, &cmdutil.UsageError{Err: err}
	}
	return programs, release, nil
}

// finish waits for the programs, and reports whether one failed or did not run.
func (c *command) finish(ctx context.Context, programs *hook.Runner) bool {
	s := programs.Close(ctx)
	if s.Dropped > 0 {
		fmt.Fprintf(c.env.ErrOut, "warning: %s without a run of %s\n", plural.Count(s.Dropped, "event", "events"), cmdutil.Visible(c.exec))
	}
	return s.Failed+s.Dropped > 0
}

// report prints an event about the stream to standard error.
func (c *command) report(e *watch.Event) {
	switch e.Kind {
	case report.SourceUp:
		c.lost = ""
		if e.Detail != "" {
			fmt.Fprintf(c.env.ErrOut, "watching %s: %s\n", e.Subject, cmdutil.Visible(e.Detail))
		} else {
			fmt.Fprintf(c.env.ErrOut, "watching %s\n", e.Subject)
		}
	case report.SourceLost:
		if e.Detail != c.lost { // that of the source before, which has the same port
			cmdutil.PrintError(c.env, "warning", fmt.Errorf("no events of %s: %s", e.Subject, e.Detail))
		}
		c.lost = e.Detail
	default:
		fmt.Fprintf(c.env.ErrOut, "warning: %s: %s\n", plural.Count(*e.Data.Count, "event", "events"), cmdutil.Visible(e.Detail))
	}
}

// explain adds a hint to the error of the stream.
func explain(err error) error {
	if errors.Is(err, umad.ErrTaken) {
		return cmdutil.WithHint(err, "only a single program on a port receives notices: omit traps from --sources")
	}
	return fabricflag.WithHint(err)
}
