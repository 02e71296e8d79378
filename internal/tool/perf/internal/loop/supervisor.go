package loop

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// A Supervisor ends loops: on request, with its context, or when they stall.
type Supervisor struct {
	stopped atomic.Bool
	ctx     context.Context
	cancel  context.CancelFunc

	// StallTimeout is how long a loop waits for the next event before it fails with
	// ErrStalled. 0 means no limit.
	StallTimeout time.Duration

	// Yield makes loops release the processor between polls. It is meant for two
	// sides that share a processor.
	Yield bool
}

// NewSupervisor returns a Supervisor that also ends its loops when ctx ends. Stop
// releases its resources.
func NewSupervisor(ctx context.Context, stallTimeout time.Duration) *Supervisor {
	s := &Supervisor{StallTimeout: stallTimeout}
	s.ctx, s.cancel = context.WithCancel(ctx)
	context.AfterFunc(s.ctx, func() { s.stopped.Store(true) })
	return s
}

// Stop ends the loops. They return without an error.
func (s *Supervisor) Stop() {
	s.stopped.Store(true)
	s.cancel()
}

// stallError returns ErrStalled with the timeout.
func (s *Supervisor) stallError() error { return fmt.Errorf("%w for %v", ErrStalled, s.StallTimeout) }

// Stopped reports whether Stop was called or the context ended.
func (s *Supervisor) Stopped() bool { return s.stopped.Load() }

// Done returns a channel that is closed when the loops are to end.
func (s *Supervisor) Done() <-chan struct{} { return s.ctx.Done() }

// Context returns a context that ends when the loops are to end.
func (s *Supervisor) Context() context.Context { return s.ctx }
