package rdmacm

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/verbs"
)

// A ListenConfig has a Listener's options. The zero value is useful.
type ListenConfig struct {
	Space   PortSpace
	QPType  verbs.QPType  // with PortSpaceIB, see [Channel.NewID]
	Backlog uint32        // requests that may wait for Accept; 0: kernel limit
	Timeout time.Duration // for the peer to confirm the start and the end; zero is ten seconds

	// Control, if not nil, sets ID options before it is bound. It is called for each ID if
	// there are several.
	Control func(*ID) error
}

// A Listener receives connection requests.
type Listener struct {
	channel *Channel
	ids     []*ID
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
	s.ids, s.addr, err = l.ListenOn(s.channel, local)
	return s, err
}

// portAttempts limits the attempts to find a port that is free for both families.
const portAttempts = 16

// ListenOn listens on a caller's channel, and that channel's Next returns the requests. It
// returns the IDs that listen and their address, or closes the IDs if it fails.
//
// All local addresses of both families take two IDs: a software iWARP device accepts
// requests in a single family (siw_cm.c, siw_create_listen), while an ID for IPv6 accepts
// both on other devices.
func (l ListenConfig) ListenOn(c *Channel, local Addr) (ids []*ID, addr Addr, err error) {
	ip, ok := local.(IPAddr)
	if !ok || ip.Addr().IsValid() {
		id, addr, err := l.listenOne(c, local, l.Control)
		if err != nil {
			return nil, nil, err
		}
		return []*ID{id}, addr, nil
	}
	for range portAttempts {
		if ids, addr, err = l.listenBoth(c, ip.Port()); err == nil || ip.Port() != 0 || !errors.Is(err, unix.EADDRINUSE) && !errors.Is(err, unix.EADDRNOTAVAIL) {
			break
		}
	}
	return ids, addr, err
}

// listenBoth listens on all local IPv6 and IPv4 addresses, or on IPv4 if this host has no
// IPv6. In Linux 5.10, a software iWARP listener for IPv6 takes the port of both families
// (siw_cm.c, siw_create_listen): then it listens on IPv4 only.
func (l ListenConfig) listenBoth(c *Channel, port uint16) ([]*ID, Addr, error) {
	wildcard := func(a netip.Addr, port uint16) Addr { return IPAddr{netip.AddrPortFrom(a, port)} }
	six, addr, err := l.listenOne(c, wildcard(netip.IPv6Unspecified(), port), func(id *ID) error {
		if l.Control != nil {
			if err := l.Control(id); err != nil {
				return err
			}
		}
		return id.SetAFOnly(true)
	})
	var ids []*ID
	switch {
	case err == nil:
		ids = append(ids, six)
		port = addr.(IPAddr).Port()
	case !errors.Is(err, unix.EAFNOSUPPORT):
		return nil, nil, err
	}
	four, addrFour, err := l.listenOne(c, wildcard(netip.IPv4Unspecified(), port), l.Control)
	if err != nil && len(ids) != 0 {
		inUse := errors.Is(err, unix.EADDRINUSE)
		if closed := six.Close(); closed != nil || !inUse {
			return nil, nil, errors.Join(err, closed)
		}
		ids, addr = nil, nil
		four, addrFour, err = l.listenOne(c, wildcard(netip.IPv4Unspecified(), port), l.Control)
	}
	if err != nil {
		return nil, nil, err
	}
	return append(ids, four), cmp.Or(addr, addrFour), nil
}

// listenOne creates an ID that listens, and returns it with its address.
func (l ListenConfig) listenOne(c *Channel, local Addr, control func(*ID) error) (*ID, Addr, error) {
	id, err := c.NewID(l.Space, l.QPType)
	if err != nil {
		return nil, nil, err
	}
	if control != nil {
		err = control(id)
	}
	if err == nil {
		err = id.Bind(local)
	}
	if err == nil {
		err = id.Listen(l.Backlog)
	}
	var a Addresses
	if err == nil {
		a, err = id.Addresses()
	}
	if err != nil {
		return nil, nil, errors.Join(err, id.Close())
	}
	return id, a.Local, nil
}

// Addr returns the local address with the port.
func (l *Listener) Addr() Addr { return l.addr }

// Accept waits for a connection request. A single request's error does not affect
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

// request moves a request's ID to its own channel.
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
	var errs []error
	for _, id := range l.ids {
		errs = append(errs, id.Close())
	}
	return errors.Join(append(errs, l.channel.Close())...)
}

// A Request is a connection request. It must be accepted, rejected or closed.
type Request struct{ conn *Conn }

// ID returns the request's ID, with the device that received it.
func (r *Request) ID() *ID { return r.conn.id }

// Peer returns the peer address.
func (r *Request) Peer() Addr { return r.conn.peer }

// Param returns the peer's parameters, with its private data.
func (r *Request) Param() ConnParam { return r.conn.param }

// Accept accepts the request with a queue pair in the state RESET or INIT, see
// [ID.InitQP], and waits for the peer's confirmation. Without param, the reply
// has DefaultParam. It returns ErrPeerGone if the peer has given up. If Accept fails, the
// ID is destroyed. The caller closes the queue pair.
func (r *Request) Accept(ctx context.Context, qp *verbs.QP, param *ConnParam) (*Conn, error) {
	c := r.conn
	c.qp = qp
	if err := r.accept(ctx, param); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// ErrPeerGone is Accept's error if the peer has given up its request.
var ErrPeerGone = errors.New("the peer has given up its request")

// replyError returns ErrPeerGone for a command that the kernel rejects in a request's
// state. It reports no event for a request without a reply (ucma.c, ucma_event_handler).
func replyError(err error) error {
	if call, ok := errors.AsType[*CallError](err); ok && errors.Is(call.Err, unix.EINVAL) {
		return ErrPeerGone
	}
	return err
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
			return replyError(accept())
		})
		return err
	}
	_, err := c.run(ctx, StepEstablish, c.timeout, func() error {
		err := c.id.ReadyQP(c.qp, &p)
		if err == nil {
			err = accept()
		}
		return replyError(err)
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

// Close destroys the request's ID, which rejects it.
func (r *Request) Close() error { return r.conn.Close() }
