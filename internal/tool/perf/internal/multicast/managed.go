package multicast

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// A Managed is a membership that the connection manager has.
type Managed struct {
	channel  *rdmacm.Channel
	id       *rdmacm.ID
	attached *verbs.QP

	// To is the destination for datagrams to the group.
	To rdmacm.Datagram
}

// joinTime is the time limit for each step.
const joinTime = 10 * time.Second

// ErrFamily is wrapped for an IPv6 group on RoCE v2, which the connection manager does not
// support (cma.c, cma_iboe_join_multicast).
var ErrFamily = errors.New("the connection manager supports only IPv4 groups on RoCE v2")

// notSupported is the kernel's ENOTSUPP, which is not a user-space error.
const notSupported = unix.Errno(524)

// Manage joins a group through the connection manager at a local address, which must be
// a port address. A send-only member receives no packets from the group; InfiniBand
// knows such members, but not all subnet managers do.
func Manage(ctx context.Context, p *port.Port, local rdmacm.Addr, group netip.Addr, sends bool) (_ *Managed, err error) {
	m := new(Managed)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("join group %v at %s: %w", group, p.Device, err), m.Close())
		}
	}()
	if m.channel, err = rdmacm.NewChannel(); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, joinTime)
	defer stop()
	if m.id, err = m.channel.NewID(rdmacm.PortSpaceUDP, verbs.QPTypeUD); err != nil {
		return nil, err
	}
	to := rdmacm.IPAddr{AddrPort: netip.AddrPortFrom(group, 0)}
	if err := m.id.ResolveAddr(local, to, joinTime); err != nil {
		return nil, err
	}
	if _, err := m.next(ctx, rdmacm.EventAddrResolved); err != nil {
		return nil, err
	}
	mode := rdmacm.JoinFull
	if sends && p.Ethernet() {
		mode = rdmacm.JoinSendOnly
	}
	if _, err := m.id.Join(to, mode); err != nil {
		if group.Is6() && errors.Is(err, notSupported) {
			err = ErrFamily
		}
		return nil, err
	}
	e, err := m.next(ctx, rdmacm.EventMulticastJoin)
	if err != nil {
		return nil, err
	}
	if e.Datagram == nil {
		return nil, errors.New("the connection manager reported no destination")
	}
	m.To = *e.Datagram
	return m, nil
}

// next waits for an event.
func (m *Managed) next(ctx context.Context, want rdmacm.EventType) (rdmacm.Event, error) {
	for {
		e, err := m.channel.Next(ctx)
		if err == nil {
			err = e.Err()
		}
		if err != nil || e.Type == want {
			return e, err
		}
	}
}

// Init moves a queue pair to the state RTS, with the group's Q_Key.
func (m *Managed) Init(qp *verbs.QP) error { return m.id.InitQP(qp) }

// Attach makes a queue pair receive the group's datagrams.
func (m *Managed) Attach(qp *verbs.QP) error {
	err := qp.AttachMulticast(ib.GID(m.To.Path.DGID.As16()), m.To.Path.DLID)
	if err == nil {
		m.attached = qp
	}
	return err
}

// Close leaves the group. It must precede Close for an attached queue pair.
func (m *Managed) Close() error {
	var errs []error
	if m.attached != nil {
		errs = append(errs, m.attached.DetachMulticast(ib.GID(m.To.Path.DGID.As16()), m.To.Path.DLID))
	}
	if m.id != nil {
		errs = append(errs, m.id.Close())
	}
	if m.channel != nil {
		errs = append(errs, m.channel.Close())
	}
	return errors.Join(errs...)
}
