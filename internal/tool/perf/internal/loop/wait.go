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
	super  *Supervisor
	events bool

	// With events and a StallTimeout: the context that ends a stalled wait. It is
	// replaced after it has ended a wait.
	stallCtx   context.Context
	stallTimer *time.Timer
}

// Polls per burst, bursts between two readings of the clock, and polls between two
// calls that release or pause the processor.
const (
	pollBurst   = 1 << 8
	clockBursts = 1 << 4
	yieldEvery  = 1 << 5
	pauseEvery  = 1 << 3
	memoryBurst = 1 << 12 // polls of memory, which are cheaper
)

// Polls before the first pause, about 15 µs on an emulated processor: the answer to a
// short message arrives earlier, and a pause would delay its detection.
const (
	pauseAfter       = 1 << 7
	memoryPauseAfter = 1 << 10
)

// virtual is set if the processor may share a core with the peer's, or be a thread of
// an emulator. There a loop that never pauses slows the peer down, by four percent in
// a measurement. On a physical processor a pause only delays the loop.
var virtual = isVirtual()

// next returns at least one completion, or none after the Supervisor has stopped. It
// fails with ErrStalled after a StallTimeout without completion.
func (w *waiter) next() ([]verbs.Completion, error) {
	if w.events {
		return w.event()
	}
	since := int64(0)
	after := pauseAfter
	if w.super.Yield {
		after = 0
	}
	for spins := 1; ; spins++ {
		n, err := w.cq.Poll(w.into)
		if n > 0 || err != nil {
			return w.into[:n], err
		}
		if spins%pauseEvery == 0 && spins > after {
			w.pause(spins)
		}
		if spins%pollBurst == 0 && w.super.Stopped() {
			return nil, nil
		}
		if spins%(pollBurst*clockBursts) == 0 {
			if since, err = w.checkStall(since); err != nil {
				return nil, err
			}
		}
	}
}

// pause releases resources that a polling loop does not need.
func (w *waiter) pause(spins int) {
	if w.super.Yield && spins%yieldEvery == 0 {
		schedYield()
	}
	if virtual {
		relax()
	}
}

// checkStall returns the current time on its first call, and from then on ErrStalled
// after a StallTimeout.
func (w *waiter) checkStall(since int64) (int64, error) {
	if w.super.StallTimeout == 0 {
		return 0, nil
	}
	now := Now()
	if since == 0 {
		return now, nil
	}
	if now-since > int64(w.super.StallTimeout) {
		return since, w.super.stallError()
	}
	return since, nil
}

// event is next with completion events.
func (w *waiter) event() ([]verbs.Completion, error) {
	ctx := w.super.ctx
	if w.super.StallTimeout > 0 {
		ctx = w.stallContext()
	}
	n, err := w.cq.Wait(ctx, w.into)
	switch {
	case err == nil:
	case w.super.Stopped():
		return nil, nil
	case errors.Is(context.Cause(ctx), ErrStalled):
		w.stallCtx = nil
		return nil, context.Cause(ctx)
	}
	return w.into[:n], err
}

// stallContext returns a context that ends after StallTimeout from now.
func (w *waiter) stallContext() context.Context {
	if w.stallCtx != nil && w.stallTimer.Reset(w.super.StallTimeout) {
		return w.stallCtx
	}
	ctx, cancel := context.WithCancelCause(w.super.ctx)
	timer := time.AfterFunc(w.super.StallTimeout, func() { cancel(w.super.stallError()) })
	context.AfterFunc(w.super.ctx, func() { timer.Stop() })
	w.stallCtx, w.stallTimer = ctx, timer
	return ctx
}

// poll returns the completions that are present.
func (w *waiter) poll() ([]verbs.Completion, error) {
	n, err := w.cq.Poll(w.into)
	return w.into[:n], err
}

// schedYield lets another thread run on this processor.
func schedYield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
