// Package multicast makes queue pairs members in RoCE multicast groups.
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

// QPN is the receivers' number for datagrams to a group (InfiniBand Architecture,
// volume 1, 10.5.1).
const QPN = 0xffffff

// Group errors.
var (
	// ErrGroup is wrapped if an address is not a multicast group address.
	ErrGroup = errors.New("not a multicast address")

	// ErrScope is wrapped if packets from a software driver cannot leave the host.
	ErrScope = errors.New("packets to a group of this scope do not leave the host")

	// ErrLink is wrapped for an InfiniBand port.
	ErrLink = errors.New("only groups of RoCE are supported")
)

// Check returns an error unless the GID is a group GID: an IPv6 multicast address, or an
// IPv4 multicast address in IPv6 form.
func Check(group netip.Addr) error {
	if !group.Is6() || !group.Unmap().IsMulticast() {
		return fmt.Errorf("use group %v: %w", group, ErrGroup)
	}
	return nil
}

// A Member is a port's group membership.
type Member struct {
	group    netip.Addr
	socket   *net.UDPConn
	attached *verbs.QP
}

// Join makes a GID's network device receive a group's packets. Without it, the kernel
// drops packets for a software driver, and switches do not forward any.
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
		// The socket receives no packets: RoCE packets have another port.
		if m.socket, err = net.ListenMulticastUDP("udp", link, &net.UDPAddr{IP: group.Unmap().AsSlice()}); err != nil {
			return nil, op(err)
		}
	}
	return m, nil
}

// Attach makes a queue pair receive the group's datagrams.
func (m *Member) Attach(qp *verbs.QP) error {
	err := qp.AttachMulticast(ib.GID(m.group.As16()), 0)
	if err == nil {
		m.attached = qp
	}
	return err
}

// Close leaves the group. It must precede Close for an attached queue pair.
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
