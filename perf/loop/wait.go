package loop

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/verbs"
)

// A waiter takes completions from a queue.
type waiter struct {
	cq     Completions
	into   []verbs.Completion
	watch  *Watch
	events bool
	still  still

	// With events and a Watch that has patience: what ends a wait that takes too
	// long. It is made anew once it has done so.
	patient context.Context
	late    *time.Timer
}

// Polls between two looks at the Watch, and at the clock.
const (
	lookEvery  = 1 << 8
	clockEvery = 1 << 12
	yieldEvery = 1 << 5
	restEvery  = 1 << 3
)

// virtual: the processor may share a core with the other side's, or be a thread of an
// emulator's. There a loop that never pauses slows the other side down, by four
// percent where it was measured. On a processor of one's own a pause only makes a
// loop see later what has come.
var virtual = isVirtual()

// hold keeps the loop on its thread until what it returns is called, unless it waits
// for events.
func (w *waiter) hold() (release func()) {
	if !w.events {
		w.still.hold()
	}
	return w.still.release
}

// next returns at least one completion, or none when the Watch has stopped. An
// empty wait that is longer than the Watch's patience is ErrStalled.
func (w *waiter) next() ([]verbs.Completion, error) {
	if w.events {
		return w.event()
	}
	w.still.turn(1)
	since := int64(0)
	for spins := 1; ; spins++ {
		n, err := w.cq.Poll(w.into)
		if n > 0 || err != nil {
			return w.into[:n], err
		}
		if spins%restEvery == 0 {
			w.rest(spins)
		}
		if spins%lookEvery != 0 {
			continue
		}
		w.still.turn(lookEvery)
		if w.watch.Stopped() {
			return nil, nil
		}
		if w.watch.Patience > 0 && spins%clockEvery == 0 {
			if since, err = w.impatient(since); err != nil {
				return nil, err
			}
		}
	}
}

// rest lets others have of the processor what a loop that only waits can spare.
func (w *waiter) rest(spins int) {
	if w.watch.Yield && spins%yieldEvery == 0 {
		yield()
	}
	if virtual {
		relax()
	}
}

// impatient takes the time at its first call, and holds it against the patience
// from then on.
func (w *waiter) impatient(since int64) (int64, error) {
	now := Now()
	if since == 0 {
		return now, nil
	}
	if now-since > int64(w.watch.Patience) {
		return since, w.watch.stalled()
	}
	return since, nil
}

// event is next by the completion channel.
func (w *waiter) event() ([]verbs.Completion, error) {
	ctx := w.watch.ctx
	if w.watch.Patience > 0 {
		ctx = w.timed()
	}
	n, err := w.cq.Wait(ctx, w.into)
	switch {
	case err == nil:
	case w.watch.Stopped():
		return nil, nil
	case errors.Is(context.Cause(ctx), ErrStalled):
		w.patient = nil
		return nil, context.Cause(ctx)
	}
	return w.into[:n], err
}

// timed returns a context that ends when a wait from now on takes longer than the
// Watch's patience.
func (w *waiter) timed() context.Context {
	if w.patient != nil && w.late.Reset(w.watch.Patience) {
		return w.patient
	}
	ctx, cancel := context.WithCancelCause(w.watch.ctx)
	late := time.AfterFunc(w.watch.Patience, func() { cancel(w.watch.stalled()) })
	context.AfterFunc(w.watch.ctx, func() { late.Stop() })
	w.patient, w.late = ctx, late
	return ctx
}

// poll returns what completions there are, without a wait.
func (w *waiter) poll() ([]verbs.Completion, error) {
	w.still.turn(1)
	n, err := w.cq.Poll(w.into)
	return w.into[:n], err
}

// yield lets another thread run on this processor.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
