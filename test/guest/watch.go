package guest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/test/guest/internal/wire"
)

// quietLimit is the default of Spec.Quiet. With an interval until its end is noticed, a step
// ends within two minutes of its last progress.
const quietLimit = 110 * time.Second

// looks is the number of times that a step without progress looks at the guest.
const looks = 11

// busy is the part of the time between two looks for which a process uses a processor if it
// works. A guest counts the time that its processors wait for those of this machine, so that
// the load of this machine does not matter.
const busy = 0.1

// activity counts what happens in a guest, or in both of a pair: commands that start or
// end, and output that a step waits for.
type activity struct{ atomic.Uint64 }

// HangError reports a step of a test without progress. The guest has ended, and so has the
// other one of its pair.
type HangError struct {
	Guest     string
	Test      string        // that waits; empty if it is not known
	Step      string        // what it waits for: `output "ready" of ["ibkit" "ping"]`
	Elapsed   time.Duration // of the step
	Quiet     time.Duration // since the last progress
	Output    string        // of the command: its last lines
	Processes string        // of the guest, a line for each
}

func (e *HangError) Error() string {
	return fmt.Sprintf("wait for %s in guest %s, test %s: no progress for %v of %v\nlast output:\n%s\nprocesses:\n%s",
		e.Step, e.Guest, cmp.Or(e.Test, "unknown"), e.Quiet.Round(time.Second), e.Elapsed.Round(time.Second), e.Output, e.Processes)
}

// idleKey is the context key of [Idle].
type idleKey struct{}

// Idle returns a context for steps that wait for a known time without progress, as for a
// timeout of the kernel: they may take that time longer.
func Idle(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, idleKey{}, d)
}

// A watch looks for progress while a step waits: commands that start or end, output of the
// command that it waits for, and processor time of that command. Load of this machine
// delays looks, so that a step has more time then.
type watch struct {
	guest    *Guest
	step     string
	process  *Process // that the step waits for, or the last one
	previous *Process // that it has waited for before
	limit    time.Duration
	interval time.Duration

	begin, progress time.Time // of the step, of the last progress
	timer           *time.Timer
	reply           <-chan []wire.Process // nil if none is expected
	late            time.Duration         // of the reply
	quiet           time.Duration         // of all looks since the last progress
	seen            uint64                // activity
	id              uint32                // of the process at the last look
	cpu             time.Duration         // of the process at the last look
}

// watching is the key of a context for the watch of a step that runs commands repeatedly.
type watching struct{}

// watch begins a step.
func (g *Guest) watch(ctx context.Context, step string) *watch {
	limit := g.spec.Quiet
	if d, ok := ctx.Value(idleKey{}).(time.Duration); ok {
		limit += d
	}
	now := time.Now()
	w := &watch{guest: g, step: step, limit: limit, interval: g.spec.Quiet / looks, begin: now, progress: now, seen: g.activity.Load()}
	w.timer = time.NewTimer(w.interval)
	return w
}

// follow makes the step wait for a process. The function that it returns ends that.
func (w *watch) follow(p *Process) (end func()) {
	add := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.awaited += n
	}
	add(1)
	w.previous, w.process = w.process, p
	return func() { add(-1) }
}

// ask asks the agent for the processes.
func (w *watch) ask() error {
	w.timer.Reset(w.interval)
	if w.reply != nil {
		if w.late += w.interval; w.late >= w.limit {
			return w.hang("unknown: the agent does not answer")
		}
		return nil
	}
	w.late = 0
	var err error
	w.reply, err = w.guest.session.status()
	return w.guest.explain(err)
}

// look looks for progress.
func (w *watch) look(all []wire.Process) error {
	w.reply = nil
	var cpu time.Duration
	for _, p := range all {
		if p.ID == w.process.id {
			cpu += p.CPU
		}
	}
	if used := cpu - w.cpu; w.id == w.process.id && (used < 0 || used.Seconds() >= busy*w.interval.Seconds()) {
		w.guest.activity.Add(1)
	}
	w.id, w.cpu = w.process.id, cpu
	if n := w.guest.activity.Load(); n != w.seen {
		w.seen, w.quiet, w.progress = n, 0, time.Now()
		return nil
	}
	if w.quiet += w.interval; w.quiet >= w.limit {
		return w.hang(table(all))
	}
	return nil
}

// hang ends the guest and returns the error of the step.
func (w *watch) hang(processes string) error {
	err := &HangError{
		Guest: w.guest.name(), Step: w.step, Elapsed: time.Since(w.begin), Quiet: time.Since(w.progress), Processes: processes,
	}
	for _, p := range []*Process{w.process, w.previous} {
		if p != nil && err.Output == "" {
			err.Test, err.Output = p.test, tail(p.output(), 20)
		}
	}
	w.guest.end(err)
	if w.guest.peer != nil {
		w.guest.peer.end(err)
	}
	return err
}

// table formats processes.
func table(all []wire.Process) string {
	var s strings.Builder
	s.WriteString("  PID S     CPU COMMAND\n")
	for _, p := range all {
		fmt.Fprintf(&s, "%5d %s %7.2f %s\n", p.PID, p.State, p.CPU.Seconds(), p.Args)
	}
	return s.String()
}
