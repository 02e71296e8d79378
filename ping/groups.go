package ping

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Group is the targets that are reached through a port.
type Group struct {
	Port    umad.Port
	Targets []*Target

	// Answer replaces Options.Answer; 0 does not.
	Answer mad.Method
}

// RunGroups pings the targets in all groups at the same time, as [Run] does for a single
// port. The window applies to each port. Calls to the option functions do not overlap. If a
// port fails, the run ends for all groups.
func RunGroups(ctx context.Context, groups []Group, o Options) (*Result, error) {
	if len(groups) == 1 {
		o.Answer = cmp.Or(groups[0].Answer, o.Answer)
		return Run(ctx, groups[0].Port, groups[0].Targets, o)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	o.setDefaults()
	result := &Result{Total: newStats(totalDigits), Start: time.Now()}
	for _, g := range groups {
		result.Targets = append(result.Targets, g.Targets...)
	}
	var turn sync.Mutex
	var running sync.WaitGroup
	for _, g := range groups {
		own := o
		own.Answer = cmp.Or(g.Answer, o.Answer)
		running.Go(func() {
			turn.Lock()
			defer turn.Unlock()
			r := newRunner(turnPort{g.Port, &turn}, own, result)
			if err := r.start(ctx, g.Port, g.Targets); err != nil {
				stop(err)
			}
		})
	}
	running.Wait()
	result.Duration = time.Since(result.Start)
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return result, err
	}
	return result, nil
}

// A turnPort is the port of a run that shares the result with other runs: the run holds a
// lock except while it waits for a packet.
type turnPort struct {
	umad.Port
	turn *sync.Mutex
}

// Recv waits without the lock.
func (p turnPort) Recv(m *umad.Message, deadline time.Time) error {
	p.turn.Unlock()
	defer p.turn.Lock()
	return p.Port.Recv(m, deadline)
}
