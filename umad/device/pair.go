package device

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/nonblock"
)

// An adapter with ports that are divided into planes, as at XDR, has two devices with the
// same port GUID. One device sends subnet management packets, on each plane by a
// separate port. The other device sends general packets, and its ports have the
// capability IsSMDisabled (rdma-core 61, libibumad, umad_get_smi_gsi_pairs). LID routing
// of subnet management packets does not work reliably in such fabrics, so they are sent
// along directed routes.

// paired returns the port for general packets in the pair that a port belongs to,
// with the other device's best port for subnet management. A port without a pair
// is returned unchanged. Ethernet ports belong to no pair, whatever their GUID.
func (p LocalPort) paired(all []LocalPort) LocalPort {
	if p.Attr.LinkLayer != infiniBand {
		return p
	}
	var others []LocalPort
	for _, o := range all {
		if o.Attr.LinkLayer == infiniBand && o.Attr.PortGUID == p.Attr.PortGUID && o.Attr.PortGUID != 0 && o.Attr.Device != p.Attr.Device &&
			o.NoSubnetManagement != p.NoSubnetManagement {
			others = append(others, o)
		}
	}
	other, ok := best(others)
	if !ok {
		return p
	}
	general, management := p, other
	if !p.NoSubnetManagement {
		general, management = other, p
	}
	general.smi = &management
	general.Attr.DirectedOnly = true
	return general
}

// joinReads makes Recv return the messages of a port and its partner for
// subnet management.
func (p *Port) joinReads() error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("make epoll descriptor: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // so that Go's poller waits for it
		return errors.Join(err, unix.Close(fd))
	}
	p.epoll, p.ready = fd, os.NewFile(uintptr(fd), "epoll")
	for _, port := range []*Port{p, p.smi} {
		raw, err := port.file.SyscallConn()
		if err != nil {
			return err
		}
		var failed error
		if err := raw.Control(func(member uintptr) {
			failed = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, int(member), &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(member)})
		}); err != nil {
			return err
		}
		if failed != nil {
			return fmt.Errorf("wait for %s: %w", port.name, failed)
		}
	}
	p.reads, err = nonblock.NewReader(p.ready, p.tryReceive)
	return err
}

// tryReceive reads a message from either port without waiting, and remembers the port.
// The ports take turns, so that one port's messages do not keep back the other's.
func (p *Port) tryReceive(b []byte) (int, error) {
	for {
		for range 2 {
			if p.from == p {
				p.from = p.smi
			} else {
				p.from = p
			}
			n, err := p.from.conn.TryReceive(b)
			if !errors.Is(err, unix.EAGAIN) {
				return n, err
			}
		}
		// A poll on the descriptor forgets the events for messages that were read.
		var events [2]unix.EpollEvent
		n, err := unix.EpollWait(p.epoll, events[:], 0)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0:
			return 0, unix.EAGAIN
		}
	}
}
