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

// quietLimit is the default for Spec.Quiet. With an interval until its end is noticed, a
// step ends within two minutes of its last progress.
const quietLimit = 110 * time.Second

// outputLimits is the time for which a step waits for a text while the command prints
// others, in limits without progress.
const outputLimits = 3

// looks is the number of times that a step without progress looks at the guest.
const looks = 11

// busy is the part of the time between two looks for which a process uses a processor if
// it works. A guest counts the time that its processors wait for this machine's
// processors, so that this machine's load does not matter.
const busy = 0.1

// activity counts the events in a guest, or in all guests on a network: commands that
// start or end, and output that a step waits for.
type activity struct{ atomic.Uint64 }

// HangError reports a test step without progress. The guest has ended, and so has the
// other guest in its pair.
type HangError struct {
	Guest     string
	Test      string        // that waits; empty if it is not known
	Step      string        // awaited condition: `output "ready" of ["ibkit" "ping"]`
	Elapsed   time.Duration // since the step began
	Quiet     time.Duration // since the last progress
	Output    string        // the command's last output lines
	Processes string        // processes in the guest, a line for each
}

func (e *HangError) Error() string {
	return fmt.Sprintf("wait for %s in guest %s, test %s: no progress for %v of %v\nlast output:\n%s\nprocesses:\n%s",
		e.Step, e.Guest, cmp.Or(e.Test, "unknown"), e.Quiet.Round(time.Second), e.Elapsed.Round(time.Second), e.Output, e.Processes)
}

// idleKey is the context key for [Idle].
type idleKey struct{}

// Idle returns a context for steps that wait for a known time without progress, as for a
// kernel timeout: they may take that time longer.
func Idle(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, idleKey{}, d)
}

// A watch looks for progress while a step waits: commands that start or end, output from
// the command that it waits for, and that command's processor time. Load on this machine
// delays looks, so that a step has more time then.
type watch struct {
	guest    *Guest
	step     string
	process  *Process // process that the step waits for, or the last
	previous *Process // that it has waited for before
	limit    time.Duration
	interval time.Duration

	begin, progress time.Time // times of the step's begin and last progress
	timer           *time.Timer
	reply           <-chan []wire.Process // nil if none is expected
	late            time.Duration         // reply delay
	quiet           time.Duration         // over all looks since the last progress
	waited          time.Duration         // over all looks
	longest         time.Duration         // for the step, whatever its progress; 0: unlimited
	seen            uint64                // activity
	id              uint32                // process ID at the last look
	cpu             time.Duration         // process time at the last look
}

// watching is the context key for the watch of a step that runs commands repeatedly.
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
	if w.waited += w.interval; w.longest > 0 && w.waited >= w.longest {
		return w.hang(table(all))
	}
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

// hang ends the guest and returns the step's error.
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
	for _, peer := range w.guest.peers {
		peer.end(err)
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
