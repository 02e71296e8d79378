package rdmacm

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// defaultTimeout is a step's time limit unless given. The kernel repeats a
// request after about 4 s for the first time.
const defaultTimeout = 10 * time.Second

// Timeouts are the step time limits. Zero is ten seconds.
type Timeouts struct {
	Address, Route, Connect, Establish, Disconnect time.Duration
}

func (t Timeouts) orDefault() Timeouts {
	return Timeouts{
		Address: cmp.Or(t.Address, defaultTimeout), Route: cmp.Or(t.Route, defaultTimeout),
		Connect: cmp.Or(t.Connect, defaultTimeout), Establish: cmp.Or(t.Establish, defaultTimeout),
		Disconnect: cmp.Or(t.Disconnect, defaultTimeout),
	}
}

// A Dialer connects to addresses. The zero value is not useful: Setup is required.
type Dialer struct {
	Space    PortSpace
	QPType   verbs.QPType // with PortSpaceIB, see [Channel.NewID]
	Local    Addr         // nil: selected by the kernel
	Timeouts Timeouts
	Param    *ConnParam // nil: DefaultParam

	// Control, if not nil, sets ID options before its address is resolved.
	Control func(*ID) error

	// Setup creates the queue pair when the connection's device is known, see
	// [ID.Device]. To post receives before the connection, it calls [ID.InitQP]. The
	// caller closes the queue pair, also if Dial fails.
	Setup func(context.Context, *ID) (*verbs.QP, error)

	// Trace, if not nil, is called after each successful step.
	Trace func(Step, time.Duration)
}

// Dial connects to "host:port". See DialAddr.
func (d Dialer) Dial(ctx context.Context, address string) (*Conn, error) {
	peer, err := ResolveAddr(ctx, address)
	if err != nil {
		return nil, err
	}
	return d.DialAddr(ctx, peer)
}

// DialAddr connects to an address. A step error is a StepError, after which
// nothing is left in the kernel but the queue pair. ctx's end does not affect a
// connection that exists.
func (d Dialer) DialAddr(ctx context.Context, peer Addr) (*Conn, error) {
	channel, err := NewChannel()
	if err != nil {
		return nil, err
	}
	return d.dial(ctx, channel, peer)
}

// dial connects over a new channel, which it owns.
func (d Dialer) dial(ctx context.Context, channel *Channel, peer Addr) (_ *Conn, err error) {
	limit := d.Timeouts.orDefault()
	c := &Conn{channel: channel, peer: peer, trace: d.Trace, timeout: limit.Disconnect}
	defer func() {
		if err != nil {
			err = errors.Join(err, channel.Close())
		}
	}()
	if c.id, err = channel.NewID(d.Space, d.QPType); err != nil {
		return nil, err
	}
	if d.Control != nil {
		if err := d.Control(c.id); err != nil {
			return nil, err
		}
	}
	if _, err := c.run(ctx, StepAddress, limit.Address, func() error {
		return c.id.ResolveAddr(d.Local, peer, min(AddressAttempt, limit.Address))
	}, EventAddrResolved); err != nil {
		return nil, err
	}
	if _, err := c.run(ctx, StepRoute, limit.Route, func() error {
		return c.id.ResolveRoute(limit.Route)
	}, EventRouteResolved); err != nil {
		return nil, err
	}
	if _, err := c.run(ctx, StepSetup, limit.Connect, func() (err error) {
		if c.qp, err = d.Setup(ctx, c.id); err == nil && c.qp.State() == verbs.QPStateReset {
			err = c.id.InitQP(c.qp)
		}
		return err
	}); err != nil {
		return nil, err
	}
	if err := c.connect(ctx, limit, d.Param); err != nil {
		return nil, err
	}
	return c, nil
}

// connect runs the steps after the route is known.
func (c *Conn) connect(ctx context.Context, limit Timeouts, param *ConnParam) error {
	if param == nil {
		param = &DefaultParam
	}
	p := *param
	p.QPN = c.qp.Number()
	e, err := c.run(ctx, StepConnect, limit.Connect, func() error {
		return c.id.Connect(c.peer, p)
	}, EventConnectResponse, EventEstablished)
	if err != nil {
		return err
	}
	c.param, c.datagram = e.Param, e.Datagram
	_, err = c.run(ctx, StepEstablish, limit.Establish, func() error {
		if e.Type == EventEstablished { // datagrams, and iWARP
			if c.qp.IWARP() {
				return c.id.ReadyQP(c.qp, nil)
			}
			return nil
		}
		if err := c.id.ReadyQP(c.qp, nil); err != nil {
			return errors.Join(err, c.id.Reject(nil))
		}
		return c.id.Establish()
	})
	return err
}
