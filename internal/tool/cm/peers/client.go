package peers

import (
	"context"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/internal/tool/cm/exchange"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// connect runs a round of a connecting peer.
func (r *run) connect(ctx context.Context, count int) error {
	if err := r.reset(count); err != nil {
		return err
	}
	r.begin(StepFull)
	for _, step := range []func(context.Context) error{r.create, r.resolve, r.prepareQPs, r.establish, r.disconnect} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return r.destroy(true)
}

// create creates and binds all IDs.
func (r *run) create(context.Context) error {
	r.Print("\tCreating IDs\n")
	r.begin(StepCreate)
	for _, c := range r.conns {
		c.spans[StepFull].begin = time.Now()
		err := c.do(StepCreate, func() (err error) {
			c.id, err = r.channel.NewID(rdmacm.PortSpaceTCP, verbs.QPTypeRC)
			return err
		})
		if err != nil {
			return failed("rdma_create_id", err)
		}
		r.byID[c.id] = c
	}
	r.end(StepCreate)
	if r.Local == nil {
		return nil
	}
	r.Print("\tBinding addresses\n")
	r.begin(StepBind)
	for _, c := range r.conns {
		if err := c.do(StepBind, func() error { return c.id.Bind(r.Local) }); err != nil {
			return failed("rdma_bind_addr", err)
		}
	}
	r.end(StepBind)
	return nil
}

// resolve resolves the addresses and the routes.
func (r *run) resolve(ctx context.Context) error {
	r.Print("\tResolving addresses\n")
	resolve := func(c *conn) error { return c.id.ResolveAddr(r.Local, rdmacm.IPAddr{AddrPort: c.peer}, r.Timeout) }
	if err := r.await(ctx, StepAddress, "rdma_resolve_addr", resolve); err != nil {
		return err
	}
	r.Print("\tResolving routes\n")
	return r.await(ctx, StepRoute, "rdma_resolve_route", func(c *conn) error { return c.id.ResolveRoute(r.Timeout) })
}

// await runs a step that an event completes, and repeats it in connections in which it failed.
func (r *run) await(ctx context.Context, s Step, op string, f func(*conn) error) error {
	r.begin(s)
	start := func(c *conn) error {
		c.retries, c.spans[s].begin = r.Retries, time.Now()
		if err := f(c); err != nil {
			return failed(op, err)
		}
		return nil
	}
	if err := r.each(start); err != nil {
		return err
	}
	pending := len(r.conns)
	err := r.events(ctx, func() bool { return pending == 0 }, func(e rdmacm.Event) error {
		c := r.byID[e.ID]
		switch {
		case c == nil:
		case e.Type == rdmacm.EventAddrResolved && s == StepAddress, e.Type == rdmacm.EventRouteResolved && s == StepRoute:
			c.spans[s].end = time.Now()
			pending--
		case e.Type == rdmacm.EventAddrError, e.Type == rdmacm.EventRouteError:
			if c.retries--; c.retries < 0 || f(c) != nil {
				return eventFailure(e)
			}
		}
		return nil
	})
	r.end(s)
	return err
}

// eventFailure is the failure that an event reports.
func eventFailure(e rdmacm.Event) error {
	text := fmt.Sprintf("event: %v, error: %d", e.Type, e.Status)
	if e.Type == rdmacm.EventAddrError || e.Type == rdmacm.EventRouteError {
		text = fmt.Sprintf("%v, error: %d", e.Type, e.Status)
	}
	return &exchange.Error{Op: text, Code: 1, Event: &e}
}

// prepareQPs creates the queue pairs and changes them to INIT.
func (r *run) prepareQPs(context.Context) error {
	r.Print("\tCreating QPs\n")
	r.begin(StepCreateQP)
	if err := r.each(r.createQP); err != nil {
		return err
	}
	r.end(StepCreateQP)
	r.Print("\tModify QPs to INIT\n")
	r.begin(StepInit)
	if err := r.each(func(c *conn) error { return r.modify(c, verbs.QPStateInit, StepInitAttr) }); err != nil {
		return err
	}
	r.end(StepInit)
	return r.prepared()
}

// establish connects to the listening peers.
func (r *run) establish(ctx context.Context) error {
	r.Print("\tConnecting\n")
	r.begin(StepConnect)
	for _, c := range r.conns {
		c.spans[StepConnect].begin = time.Now()
		if err := c.id.Connect(rdmacm.IPAddr{AddrPort: c.peer}, r.param(c)); err != nil {
			return failed("rdma_connect", err)
		}
	}
	pending := len(r.conns)
	err := r.events(ctx, func() bool { return pending == 0 }, func(e rdmacm.Event) error {
		c := r.byID[e.ID]
		if c == nil {
			return nil
		}
		switch e.Type {
		case rdmacm.EventConnectResponse:
			if err := r.ready(c); err != nil {
				return err
			}
		case rdmacm.EventEstablished: // iWARP
		case rdmacm.EventConnectError, rdmacm.EventUnreachable, rdmacm.EventRejected:
			return eventFailure(e)
		default:
			return nil
		}
		now := time.Now()
		c.spans[StepConnect].end, c.spans[StepFull].end = now, now
		pending--
		return nil
	})
	if err != nil {
		return err
	}
	r.end(StepConnect)
	r.end(StepFull)
	return r.group.sync(StepConnect)
}

// ready makes the queue pair ready and confirms the connection.
func (r *run) ready(c *conn) error {
	if err := r.modify(c, verbs.QPStateRTR, StepRTRAttr); err != nil {
		return err
	}
	if err := r.modify(c, verbs.QPStateRTS, StepRTSAttr); err != nil {
		return err
	}
	if err := c.do(StepEstablish, c.id.Establish); err != nil {
		return failed("rdma_establish", err)
	}
	return nil
}

// disconnect ends all connections. It does not wait for the peers' replies: sync does.
func (r *run) disconnect(context.Context) error {
	r.Print("\tDisconnecting\n")
	r.begin(StepDisconnect)
	err := r.each(func(c *conn) error {
		_ = c.do(StepDisconnect, c.id.Disconnect) // the peer may have ended it
		return nil
	})
	r.end(StepDisconnect)
	if err != nil {
		return err
	}
	return r.group.sync(StepDisconnect)
}
