package exchange

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/rdmacm"
)

// A Membership are the parameters for Join.
type Membership struct {
	Local         rdmacm.Addr // nil: the port on the route to the group
	Group         rdmacm.Addr // an IBAddr is used as it is, an IP address is mapped to a GID
	Mode          rdmacm.JoinMode
	Send          bool                   // receive no messages
	BlockLoopback bool                   // do not receive the same queue pair's messages
	Joined        func(*rdmacm.Datagram) // called for each connection
	Changed       func(rdmacm.Event)     // called during transfers if the group is lost or the port moved; may be nil
}

// Join joins a multicast group with all connections. Leave must follow if leave is
// true.
func (s *Session) Join(ctx context.Context, m Membership) (leave bool, err error) {
	s.multicast = m
	_, native := m.Group.(rdmacm.IBAddr)
	for _, n := range s.nodes {
		if m.Local != nil {
			if err := n.id.Bind(m.Local); err != nil {
				return false, s.fail(failed("addr bind failure", err))
			}
		}
		if native {
			err = s.join(n)
			s.warn(err)
			if errors.Is(err, errNotSupported) {
				err = unix.EINVAL // strerror replaces an unknown number
			}
		} else {
			err = n.id.ResolveAddr(m.Local, m.Group, resolveTimeout)
		}
		if err != nil {
			return false, s.fail(failed("resolve addr failure", err))
		}
	}
	return true, s.await(ctx, &s.connecting)
}

// join creates a node's queue pair and joins the group.
func (s *Session) join(n *node) error {
	if err := s.open(n); err != nil {
		return s.fail(err)
	}
	if !s.multicast.Send {
		if err := s.receive(n); err != nil {
			return s.fail(err)
		}
	}
	group, err := n.id.Join(s.multicast.Group, s.multicast.Mode)
	n.group = group
	return s.fail(failed("failure joining", err))
}

// joined attaches the queue pair to the group.
func (s *Session) joined(n *node, e rdmacm.Event) error {
	d := e.Datagram
	if e.Status == 0 && d != nil {
		n.groupPath = d.Path
		if err := n.qp.AttachMulticast(ib.GIDFrom(d.Path.DGID), d.Path.DLID); err != nil {
			e.Status = -1
		}
	}
	if e.Status != 0 || d == nil {
		e.Type = rdmacm.EventMulticastError
		return s.ended(e)
	}
	s.multicast.Joined(d)
	if err := n.resolved(d); err != nil {
		return s.fail(err)
	}
	n.connected = true
	s.connecting--
	return nil
}

// Leave leaves the group. It returns the last connection's error and reports the
// others.
func (s *Session) Leave() error {
	var last error
	for _, n := range s.nodes {
		s.warn(last)
		last = failed("failure leaving", n.leave())
	}
	return last
}

func (n *node) leave() error {
	if n.group == nil {
		return unix.EADDRNOTAVAIL
	}
	var err error
	if n.connected {
		err = n.qp.DetachMulticast(ib.GIDFrom(n.groupPath.DGID), n.groupPath.DLID)
	}
	return errors.Join(err, n.group.Leave())
}

// errNotSupported is ENOTSUPP in the kernel's <linux/errno.h>, which libc does not know.
const errNotSupported = unix.Errno(524)
