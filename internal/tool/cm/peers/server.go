package peers

import (
	"context"
	"errors"
	"time"

	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// endTimeout is how long a listening peer waits for the end of all connections before it ends
// the rest itself.
const endTimeout = time.Minute

// accept runs a round of a listening peer.
func (r *run) accept(ctx context.Context, count int) error {
	if err := r.reset(count); err != nil {
		return err
	}
	if err := r.prepared(); err != nil {
		return err
	}
	if err := r.acceptAll(ctx); err != nil {
		return err
	}
	if err := r.group.sync(StepConnect); err != nil {
		return err
	}
	if err := r.awaitEnd(ctx); err != nil {
		return err
	}
	if err := r.group.sync(StepDisconnect); err != nil {
		return err
	}
	return r.destroy(false)
}

// acceptAll accepts all connections.
func (r *run) acceptAll(ctx context.Context) error {
	requests, established := 0, 0
	return r.events(ctx, func() bool { return established == len(r.conns) }, func(e rdmacm.Event) error {
		switch e.Type {
		case rdmacm.EventConnectRequest:
			if requests == len(r.conns) {
				return failed("failure accepting", errors.New("more requests than the peers agreed on"))
			}
			if requests == 0 {
				r.Print("\tAccepting\n")
				r.begin(StepConnect)
			}
			c := r.conns[requests]
			requests++
			c.id, r.byID[e.ID] = e.ID, c
			return r.reply(c)
		case rdmacm.EventEstablished:
			if established++; established == len(r.conns) {
				r.end(StepConnect)
			}
		case rdmacm.EventConnectError, rdmacm.EventUnreachable, rdmacm.EventRejected:
			return eventFailure(e)
		}
		return nil
	})
}

// reply accepts a request.
func (r *run) reply(c *conn) error {
	if err := r.createQP(c); err != nil {
		return err
	}
	for _, s := range []struct {
		state verbs.QPState
		step  Step
	}{{verbs.QPStateInit, StepInitAttr}, {verbs.QPStateRTR, StepRTRAttr}, {verbs.QPStateRTS, StepRTSAttr}} {
		if err := r.modify(c, s.state, s.step); err != nil {
			return err
		}
	}
	if err := c.id.Accept(r.param(c)); err != nil {
		return failed("failure accepting", err)
	}
	return nil
}

// awaitEnd waits until the peers have ended all connections.
func (r *run) awaitEnd(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	ended := 0
	err := r.events(limited, func() bool { return ended == len(r.conns) }, func(e rdmacm.Event) error {
		c := r.byID[e.ID]
		if e.Type != rdmacm.EventDisconnected || c == nil || c.ended {
			return nil
		}
		if ended == 0 {
			r.Print("\tDisconnecting\n")
			r.begin(StepDisconnect)
		}
		ended++
		r.hangUp(c)
		return nil
	})
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		for _, c := range r.conns {
			r.hangUp(c)
		}
		err = nil
	}
	r.end(StepDisconnect)
	return err
}

// hangUp ends a connection from this side.
func (r *run) hangUp(c *conn) {
	if !c.ended {
		c.ended = true
		_ = c.do(StepDisconnect, c.id.Disconnect) // the peer has ended it
	}
}
