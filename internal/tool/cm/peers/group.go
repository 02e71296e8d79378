// Package peers implements librdmacm's cmtime since release 57: any number of peers, which
// connect or listen, measure each step of many connections together.
package peers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// A participant is a host in a test.
type participant struct {
	Listens bool
	Addr    netip.AddrPort // on which it listens
}

// Encoded sizes (struct peer_info of cmtime.c): an address and a role.
const (
	addrSize = 128 // struct sockaddr_storage
	peerSize = addrSize + 8
)

// encode returns the peer as a C program on this host has it.
func (p participant) encode() []byte {
	b := make([]byte, peerSize)
	if !p.Listens {
		return b
	}
	binary.NativeEndian.PutUint32(b[addrSize:], 1)
	binary.BigEndian.PutUint16(b[2:], p.Addr.Port())
	if ip := p.Addr.Addr().Unmap(); ip.Is4() {
		binary.NativeEndian.PutUint16(b, unix.AF_INET)
		copy(b[4:], ip.AsSlice())
	} else {
		binary.NativeEndian.PutUint16(b, unix.AF_INET6)
		copy(b[8:], ip.AsSlice())
	}
	return b
}

func decodeParticipant(b []byte) (participant, error) {
	role := binary.NativeEndian.Uint32(b[addrSize:])
	switch {
	case role == 0:
		return participant{}, nil
	case role != 1:
		return participant{}, fmt.Errorf("got role %d of a peer, want 0 or 1", role)
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); family {
	case unix.AF_INET:
		return participant{true, netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:])), port)}, nil
	case unix.AF_INET6:
		return participant{true, netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:])), port)}, nil
	default:
		return participant{}, fmt.Errorf("got address family %d of a listening peer, want IPv4 or IPv6", family)
	}
}

// A group is the TCP connections over which the peers synchronize: the root's to all
// others, or that of another peer to the root.
type group struct {
	root  bool
	conns []net.Conn
}

// join returns the group at the controller's address. The peer that has this address, and is
// the first there, is the root. begun is called before the root waits for the other peers.
func join(ctx context.Context, controller string, peers int, begun func()) (*group, error) {
	g, err := lead(ctx, controller, peers, begun)
	if errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EADDRINUSE) {
		return follow(ctx, controller)
	}
	return g, err
}

// follow connects to the root.
func follow(ctx context.Context, controller string) (*group, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", controller)
	if err != nil {
		return nil, err
	}
	return &group{conns: []net.Conn{conn}}, nil
}

// lead waits for the other peers as the root.
func lead(ctx context.Context, controller string, peers int, begun func()) (*group, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", controller)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	begun()
	g := &group{root: true}
	for range peers - 1 {
		conn, err := listener.Accept()
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		g.conns = append(g.conns, conn)
	}
	return g, nil
}

func (g *group) close() error {
	var errs []error
	for _, c := range g.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// exchange sends this peer to all peers, and returns all peers, the root first.
func (g *group) exchange(own participant, peers int) ([]participant, error) {
	all := make([]byte, peers*peerSize)
	if g.root {
		copy(all, own.encode())
		for i, c := range g.conns {
			if _, err := io.ReadFull(c, all[(i+1)*peerSize:][:peerSize]); err != nil {
				return nil, err
			}
		}
		if err := g.send(all); err != nil {
			return nil, err
		}
	} else {
		if err := g.send(own.encode()); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(g.conns[0], all); err != nil {
			return nil, err
		}
	}
	var list []participant
	for b := range slices.Chunk(all, peerSize) {
		p, err := decodeParticipant(b)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (g *group) send(b []byte) error {
	for _, c := range g.conns {
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// sync waits until all peers have reached a step.
func (g *group) sync(step Step) error {
	receive := func() error {
		for _, c := range g.conns {
			var got [1]byte
			if _, err := io.ReadFull(c, got[:]); err != nil {
				return fmt.Errorf("wait for %v at a peer: %w", step, err)
			}
			if Step(got[0]) != step {
				return fmt.Errorf("wait for %v at a peer: it is at step %d", step, got[0])
			}
		}
		return nil
	}
	if g.root {
		return errors.Join(receive(), g.send([]byte{byte(step)}))
	}
	return errors.Join(g.send([]byte{byte(step)}), receive())
}
