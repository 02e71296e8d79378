// Package loop has the loops that move and measure data: what runs between the
// first and the last time stamp of a test, and nothing else.
//
// A loop serves one goroutine, which is locked to its thread ([Pinned]) and is not
// preempted as long as it polls. It allocates nothing once it runs, reads the clock
// no more often than it must, and waits by polling, or by completion events where it
// is told to. Its queue pairs and completion queue are used by nobody else
// meanwhile: to wait for another's lock would end the program (see still). All that
// can be prepared is: work requests are made by [Lane.Prepare].
//
// Both sides of a test run a loop. One that leads sends the first message of a
// round trip, and one that follows answers ([PingPong]); in a test of bandwidth
// each side sends, receives, or does both ([Stream]). Of reads and atomics, and of
// writes that are not answered, the other side runs none.
package loop

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// A Queue is what is posted to: a verbs.QP.
type Queue interface {
	PostSend([]verbs.SendWR) (int, error)
	PostRecv([]verbs.RecvWR) (int, error)
}

// Completions are what is polled: a verbs.CQ.
type Completions interface {
	Poll([]verbs.Completion) (int, error)
	Wait(context.Context, []verbs.Completion) (int, error)
}

// ErrStalled means that nothing came for as long as a Watch has patience.
var ErrStalled = errors.New("nothing more comes")

// ErrCorrupt means that what arrived is not what was sent.
var ErrCorrupt = errors.New("payload is corrupt")

// ErrUntouched means that the device reported a read as done whose buffer is as it
// was before. Soft-RoCE does so (seen with Linux 6.1, rxe_comp.c and rxe_resp.c):
// a responder that could not send its answer, because the way to the requester was
// gone for a moment, goes on with the last packet of the answer when the request
// comes again. The requester takes that for an error in the sequence and ends the
// work request with the status that it has, which is 0.
var ErrUntouched = errors.New("the device reported a read as done and wrote nothing to its buffer " +
	"(Soft-RoCE does so after the way back from the other side was gone for a moment)")

// A Watch ends loops from outside, and by their own patience.
type Watch struct {
	stopped atomic.Bool
	ctx     context.Context
	cancel  context.CancelFunc

	// Patience is how long a loop that waits for something to happen next goes on
	// without: 0 for ever.
	Patience time.Duration

	// Yield gives the processor away between polls, for two sides on one.
	Yield bool
}

// NewWatch returns a Watch that ends loops with ctx, too. Stop is to be called at
// the end.
func NewWatch(ctx context.Context, patience time.Duration) *Watch {
	w := &Watch{Patience: patience}
	w.ctx, w.cancel = context.WithCancel(ctx)
	context.AfterFunc(w.ctx, func() { w.stopped.Store(true) })
	return w
}

// Stop ends the loops. They return without an error.
func (w *Watch) Stop() {
	w.stopped.Store(true)
	w.cancel()
}

// stalled is ErrStalled of this Watch.
func (w *Watch) stalled() error { return fmt.Errorf("%w: nothing for %v", ErrStalled, w.Patience) }

// Stopped tells whether Stop was called or the context ended.
func (w *Watch) Stopped() bool { return w.stopped.Load() }

// Done is closed when the loops are to end.
func (w *Watch) Done() <-chan struct{} { return w.ctx.Done() }

// Context ends when the loops are to end.
func (w *Watch) Context() context.Context { return w.ctx }
