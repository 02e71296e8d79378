// Package multicast makes queue pairs members of multicast groups of RoCE.
package multicast

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/verbs"
)

// QPN is the number of the receivers of datagrams to a group (InfiniBand Architecture,
// volume 1, 10.5.1).
const QPN = 0xffffff

// Errors of groups.
var (
	// ErrGroup is wrapped if an address is not one of a multicast group.
	ErrGroup = errors.New("not a multicast address")

	// ErrScope is wrapped if the packets of a driver in software cannot leave the host.
	ErrScope = errors.New("packets to a group of this scope do not leave the host")

	// ErrLink is wrapped for a port of InfiniBand.
	ErrLink = errors.New("only groups of RoCE are supported")
)

// Check returns an error unless the GID is one of a group: an IPv6 multicast address, or
// an IPv4 one in the form of an IPv6 address.
func Check(group netip.Addr) error {
	if !group.Is6() || !group.Unmap().IsMulticast() {
		return fmt.Errorf("use group %v: %w", group, ErrGroup)
	}
	return nil
}

// A Member is the membership of a port in a group.
type Member struct {
	group    netip.Addr
	socket   *net.UDPConn
	attached *verbs.QP
}

// Join makes the network device of a GID receive the packets of a group. Without it, the
// kernel drops the packets of a driver in software, and switches do not forward any.
func Join(p *port.Port, gidIndex uint8, group netip.Addr) (*Member, error) {
	op := func(err error) error { return fmt.Errorf("join group %v at %s: %w", group.Unmap(), p.Device, err) }
	if !p.Ethernet() {
		return nil, op(ErrLink)
	}
	m := &Member{group: group}
	for _, e := range p.GIDs {
		if e.Index != uint32(gidIndex) || e.Type != verbs.GIDTypeRoCEv2 {
			continue
		}
		link, err := net.InterfaceByIndex(int(e.Ifindex))
		if err != nil {
			return nil, op(err)
		}
		// The socket receives no packets: those of RoCE have another port.
		if m.socket, err = net.ListenMulticastUDP("udp", link, &net.UDPAddr{IP: group.Unmap().AsSlice()}); err != nil {
			return nil, op(err)
		}
	}
	return m, nil
}

// Attach makes a queue pair receive the datagrams of the group.
func (m *Member) Attach(qp *verbs.QP) error {
	err := qp.AttachMulticast(ib.GID(m.group.As16()), 0)
	if err == nil {
		m.attached = qp
	}
	return err
}

// Close leaves the group. It must precede Close of an attached queue pair.
func (m *Member) Close() error {
	var errs []error
	if m.attached != nil {
		errs = append(errs, m.attached.DetachMulticast(ib.GID(m.group.As16()), 0))
	}
	if m.socket != nil {
		errs = append(errs, m.socket.Close())
	}
	return errors.Join(errs...)
}
