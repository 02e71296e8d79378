package rdmacm

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// A ListenConfig has the options of a Listener. The zero value is useful.
type ListenConfig struct {
	Space   PortSpace
	QPType  verbs.QPType  // with PortSpaceIB, see [Channel.NewID]
	Backlog uint32        // requests that may wait for Accept; 0: limit of the kernel
	Timeout time.Duration // of the peer's confirmation of the start and the end; zero is ten seconds

	// Control, if not nil, sets options of the ID before it is bound.
	Control func(*ID) error
}

// A Listener receives connection requests.
type Listener struct {
	channel *Channel
	id      *ID
	timeout time.Duration
	addr    Addr

	open func() (*Channel, error)
}

// Listen listens on "host:port". Without a host it accepts requests to all local IPv4
// and IPv6 addresses; port 0 selects a free port.
func (l ListenConfig) Listen(ctx context.Context, address string) (*Listener, error) {
	local, err := ResolveAddr(ctx, address)
	if err != nil {
		return nil, err
	}
	return l.ListenAddr(local)
}

// ListenAddr listens on an address.
func (l ListenConfig) ListenAddr(local Addr) (*Listener, error) { return l.listen(local, NewChannel) }

func (l ListenConfig) listen(local Addr, open func() (*Channel, error)) (_ *Listener, err error) {
	s := &Listener{open: open, timeout: cmp.Or(l.Timeout, defaultTimeout)}
	if s.channel, err = open(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.channel.Close())
		}
	}()
	if s.id, err = s.channel.NewID(l.Space, l.QPType); err != nil {
		return nil, err
	}
	if l.Control != nil {
		if err := l.Control(s.id); err != nil {
			return nil, err
		}
	}
	if err := s.id.Bind(local); err != nil {
		return nil, err
	}
	if err := s.id.Listen(l.Backlog); err != nil {
		return nil, err
	}
	a, err := s.id.Addresses()
	s.addr = a.Local
	return s, err
}

// Addr returns the local address with the port.
func (l *Listener) Addr() Addr { return l.addr }

// ID returns the ID that listens.
func (l *Listener) ID() *ID { return l.id }

// Accept waits for a connection request. An error of a single request does not affect
// the listener, except fs.ErrClosed after Close and verbs.ErrDeviceRemoved.
func (l *Listener) Accept(ctx context.Context) (*Request, error) {
	for {
		e, err := l.channel.Next(ctx)
		if err != nil {
			return nil, err
		}
		if e.Type == EventConnectRequest {
			return l.request(e)
		}
		if err := e.Err(); err != nil {
			return nil, err
		}
	}
}

// request moves the ID of a request to a channel of its own.
func (l *Listener) request(e Event) (*Request, error) {
	channel, err := l.open()
	if err != nil {
		return nil, errors.Join(err, e.ID.Close())
	}
	if err := e.ID.Migrate(channel); err != nil {
		return nil, errors.Join(err, e.ID.Close(), channel.Close())
	}
	c := &Conn{channel: channel, id: e.ID, param: e.Param, timeout: l.timeout}
	if a, err := e.ID.Addresses(); err == nil {
		c.peer = a.Peer
	}
	return &Request{c}, nil
}

// Close stops to listen. Waiting requests are rejected, accepted connections stay. A
// second Close returns fs.ErrClosed.
func (l *Listener) Close() error {
	return errors.Join(l.id.Close(), l.channel.Close())
}

// A Request is a connection request. It must be accepted, rejected or closed.
type Request struct{ conn *Conn }

// ID returns the ID of the request, with the device that received it.
func (r *Request) ID() *ID { return r.conn.id }

// Peer returns the address of the peer.
func (r *Request) Peer() Addr { return r.conn.peer }

// Param returns the parameters of the peer, with its private data.
func (r *Request) Param() ConnParam { return r.conn.param }

// Accept accepts the request with a queue pair in the state RESET or INIT, see
// [ID.InitQP], and waits for the confirmation of the peer. Without param, the reply
// has DefaultParam. If Accept fails, the ID is destroyed. The caller closes the queue
// pair.
func (r *Request) Accept(ctx context.Context, qp *verbs.QP, param *ConnParam) (*Conn, error) {
	c := r.conn
	c.qp = qp
	if err := r.accept(ctx, param); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (r *Request) accept(ctx context.Context, param *ConnParam) error {
	c := r.conn
	var p ConnParam
	if param != nil {
		p = *param
	} else {
		p = DefaultParam
		p.ResponderResources = min(p.ResponderResources, c.param.ResponderResources)
		p.InitiatorDepth = min(p.InitiatorDepth, c.param.InitiatorDepth)
	}
	p.QPN = c.qp.Number()
	accept := func() error { return c.id.Accept(p) }
	if c.id.qpType == verbs.QPTypeUD {
		_, err := c.run(ctx, StepConnect, c.timeout, func() error {
			if err := c.id.InitQP(c.qp); err != nil {
				return err
			}
			return accept()
		})
		return err
	}
	_, err := c.run(ctx, StepEstablish, c.timeout, func() error {
		ready := func() error { return c.id.ReadyQP(c.qp, &p) }
		if c.qp.IWARP() {
			ready = func() error { return c.id.InitQP(c.qp) }
		}
		if err := ready(); err != nil {
			return err
		}
		return accept()
	}, EventEstablished)
	if err == nil && c.qp.IWARP() {
		err = c.id.ReadyQP(c.qp, nil)
	}
	return err
}

// Reject rejects the request with private data and destroys its ID. The peer sees
// RejectConsumer.
func (r *Request) Reject(privateData []byte) error {
	return errors.Join(r.conn.id.Reject(privateData), r.Close())
}

// Close destroys the ID of the request, which rejects it.
func (r *Request) Close() error { return r.conn.Close() }
