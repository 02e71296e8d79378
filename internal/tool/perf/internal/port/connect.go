package port

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"

	"github.com/ibkit/ibkit/internal/tool/perf/host"
)

// SelectorFor returns the Selector for a connection's two ends.
func SelectorFor(conn net.Conn, gidIndex int) Selector {
	s := Selector{Index: gidIndex}
	if a, err := netip.ParseAddrPort(conn.LocalAddr().String()); err == nil {
		s.Local = a.Addr()
	}
	if a, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		s.Remote = a.Addr()
	}
	return s
}

// Connect opens a device's ports, calls connect if they have the GID that s requires, and
// selects the port and the GID for the connection's peer: s without its addresses. It
// closes all other ports.
func Connect(ctx context.Context, device string, number uint8, s Selector, connect func(context.Context) (net.Conn, error)) (net.Conn, Choice, error) {
	ports, err := Open(device, number)
	if err != nil {
		return nil, Choice{}, err
	}
	var conn net.Conn
	if err = CheckIndex(ports, s.Index); err == nil {
		conn, err = connect(ctx)
	}
	if err != nil {
		return nil, Choice{}, errors.Join(err, CloseAll(ports))
	}
	ends := SelectorFor(conn, s.Index)
	s.Local, s.Remote = ends.Local, ends.Remote
	choice, err := s.ChooseByAddress(ports)
	if err == nil {
		ports = slices.DeleteFunc(ports, func(p *Port) bool { return p == choice.Port })
	}
	if err = errors.Join(err, CloseAll(ports)); err != nil {
		if choice.Port != nil {
			err = errors.Join(err, choice.Port.Close())
		}
		return nil, Choice{}, errors.Join(err, conn.Close())
	}
	return conn, choice, nil
}

// LeaveToPeer returns the processors that a client must not use because a server on the
// same host does. Other programs' protocols have no message about processors, so that
// the client assumes a server that selects like this server.
func LeaveToPeer(cpus host.CPUs, p *Port, conn net.Conn, client bool) []int {
	s := SelectorFor(conn, -1)
	if !client || !s.Local.IsValid() || s.Local.Unmap() != s.Remote.Unmap() {
		return nil
	}
	theirs, _ := cpus.Pick(p.Device, 1, nil)
	return theirs
}
