package exchange

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/tool/cm/internal/device"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// resolveTimeout is the time limit for the address and for the route.
const resolveTimeout = 2 * time.Second

// Connect connects to a server. After an Error some connections may exist. local is nil
// unless the local address matters.
func (s *Session) Connect(ctx context.Context, local, peer rdmacm.Addr) error {
	s.local, s.peer = local, peer
	for _, n := range s.nodes {
		if err := s.fail(failed("failure getting addr", n.id.ResolveAddr(s.local, s.peer, resolveTimeout))); err != nil {
			return err
		}
	}
	return s.await(ctx, &s.connecting)
}

// addressResolved resolves the route.
func (s *Session) addressResolved(n *node) error {
	if s.TOS != nil {
		s.warn(failed("set TOS option failed", n.id.SetTOS(*s.TOS)))
	}
	s.setACKTimeout(n)
	return s.fail(failed("resolve route failed", n.id.ResolveRoute(resolveTimeout)))
}

func (s *Session) setACKTimeout(n *node) {
	if s.ACKTimeout != nil {
		s.warn(failed("set ack timeout option failed", n.id.SetACKTimeout(*s.ACKTimeout)))
	}
}

// warn reports a failure that does not end the test.
func (s *Session) warn(err error) {
	if f, ok := errors.AsType[*Error](err); ok {
		s.Warn(f)
	}
}

// routeResolved creates the queue pair and sends the request.
func (s *Session) routeResolved(n *node) error {
	if err := s.setUp(n); err != nil {
		return s.fail(err)
	}
	p := s.Param
	p.QPN = n.qp.Number()
	return s.fail(failed("failure connecting", n.id.Connect(s.peer, p)))
}

// setUp creates a connection's queue pair and posts its receives.
func (s *Session) setUp(n *node) error {
	if err := s.open(n); err != nil {
		return err
	}
	return s.receive(n)
}

// confirm completes a connection after the peer's reply.
func (s *Session) confirm(n *node) error {
	err := n.id.ReadyQP(n.qp, nil)
	if err == nil {
		err = n.id.Establish()
	}
	if err != nil {
		n.failed = true
		_ = n.qp.Modify(verbs.QPStateError, verbs.QPAttr{}) // the connection has failed anyway
		return s.ended(rdmacm.Event{Type: rdmacm.EventConnectError, Status: -1})
	}
	return s.established(n, rdmacm.Event{})
}

func (s *Session) established(n *node, e rdmacm.Event) error {
	if s.Datagrams {
		if err := n.resolved(e.Datagram); err != nil {
			return s.fail(err)
		}
	} else {
		if n.qp.IWARP() {
			if err := n.id.ReadyQP(n.qp, nil); err != nil {
				return s.fail(err)
			}
		}
		s.connected++
	}
	n.connected = true
	s.connecting--
	return nil
}

// Listen listens on a local address.
func (s *Session) Listen(local rdmacm.Addr) (err error) {
	if s.listener, err = s.channel.NewID(s.Space, s.qpType()); err != nil {
		return failed("listen request failed", err)
	}
	if err := s.listener.Bind(local); err != nil {
		return failed("bind address failed", err)
	}
	return failed("failure trying to listen", s.listener.Listen(0))
}

// Accept waits until all connections are established.
func (s *Session) Accept(ctx context.Context) error { return s.await(ctx, &s.connecting) }

// accept accepts a request, or rejects it if all connections exist.
func (s *Session) accept(e rdmacm.Event) error {
	code := -int(outOfMemory)
	if s.accepted < s.Connections {
		s.accepted++
		n := s.add(e.ID)
		err := s.acceptNode(n, e)
		if err == nil {
			return nil
		}
		s.nodes = s.nodes[:len(s.nodes)-1]
		delete(s.byID, e.ID)
		s.connecting--
		s.warn(err)
		if f, ok := errors.AsType[*Error](err); ok {
			code = f.Code
		}
	}
	// Both fail if the peer has given up.
	_ = e.ID.Reject(nil)
	_ = e.ID.Close()
	return &Error{Op: "failing connection request", Code: code}
}

func (s *Session) acceptNode(n *node, e rdmacm.Event) error {
	if err := s.open(n); err != nil {
		return err
	}
	s.setACKTimeout(n)
	if err := s.receive(n); err != nil {
		return err
	}
	p := device.Reply(e.Param, n.qp.Number())
	if !s.Datagrams {
		if err := n.id.ReadyQP(n.qp, &p); err != nil {
			return failed("failure accepting", err)
		}
	}
	if err := n.id.Accept(p); err != nil {
		return failed("failure accepting", err)
	}
	if s.Datagrams {
		n.connected = true
		s.connecting--
	}
	return nil
}

// checkSize checks that a datagram fits into a port's packet.
func (s *Session) checkSize(c *verbs.Context, port uint8) error {
	attr, err := c.QueryPort(uint32(port))
	if err != nil {
		return failed("query port", err)
	}
	if mtu := attr.ActiveMTU.Bytes(); s.Count > 0 && s.Size > mtu {
		return unable(unix.EINVAL, errors.ErrUnsupported, "message_size %d is larger than active mtu %d", s.Size, mtu)
	}
	return nil
}
