package watch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// netdevs are the kernel's messages about network devices (RTM_NEWLINK and RTM_DELLINK in
// <linux/rtnetlink.h>).
type netdevs struct{ conn *netlink.Conn }

func openNetdevs() (*netdevs, error) {
	c, err := netlink.Dial(unix.NETLINK_ROUTE, &netlink.Config{Groups: unix.RTMGRP_LINK})
	if err != nil {
		return nil, fmt.Errorf("open NETLINK_ROUTE: %w", err)
	}
	return &netdevs{c}, nil
}

// Close closes the socket, and ends read.
func (n *netdevs) Close() error { return n.conn.Close() }

// read requests all network device states, and passes these and their changes to a function
// until the socket is closed. It calls missed, and requests the states again, if the kernel
// dropped messages because they came faster than they were read.
func (n *netdevs) read(f func(netdevState), missed func(error)) error {
	err := n.request()
	for again := false; err == nil; {
		var messages []netlink.Message
		messages, err = n.conn.Receive()
		switch {
		case errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrClosed), errors.Is(err, unix.EBADF):
			return nil
		case errors.Is(err, unix.ENOBUFS):
			missed(fmt.Errorf("read NETLINK_ROUTE: %w", err))
			again, err = true, n.request()
			continue
		case err != nil:
			err = fmt.Errorf("read NETLINK_ROUTE: %w", err)
		}
		for _, m := range messages {
			if s, ok := parseNetdev(m); ok {
				s.initial = s.initial && !again
				f(s)
			}
		}
	}
	return err
}

// request requests all network device states.
func (n *netdevs) request() error {
	request := netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETLINK, Flags: netlink.Request | netlink.Dump},
		Data:   make([]byte, unix.SizeofIfInfomsg),
	}
	if _, err := n.conn.Send(request); err != nil {
		return fmt.Errorf("query network devices: %w", err)
	}
	return nil
}

// A netdevState is a network device's state.
type netdevState struct {
	index      uint32
	name       string
	infiniband bool // IPoIB (ARPHRD_INFINIBAND)
	running    bool // operational (IFF_UP and IFF_RUNNING)
	adminUp    bool
	removed    bool
	initial    bool // from the list at the start
}

// A netdevTable has network devices' last states by index: names can change.
type netdevTable map[uint32]netdevState

// changed stores a state. It reports whether the device can transmit and could not before, or
// vice versa.
func (t netdevTable) changed(s netdevState) bool {
	was, known := t[s.index]
	t[s.index] = s
	if s.removed {
		delete(t, s.index)
	}
	if known {
		return was.running != s.running
	}
	return s.running && !s.initial
}

// parseNetdev parses RTM_NEWLINK and RTM_DELLINK: struct ifinfomsg and attributes. It
// rejects messages from a bridge about its ports, which have the same types.
func parseNetdev(m netlink.Message) (n netdevState, ok bool) {
	if t := m.Header.Type; t != unix.RTM_NEWLINK && t != unix.RTM_DELLINK || len(m.Data) < unix.SizeofIfInfomsg || m.Data[0] != unix.AF_UNSPEC {
		return n, false
	}
	flags := binary.NativeEndian.Uint32(m.Data[8:])
	n = netdevState{
		index:      binary.NativeEndian.Uint32(m.Data[4:]),
		infiniband: binary.NativeEndian.Uint16(m.Data[2:]) == unix.ARPHRD_INFINIBAND,
		adminUp:    flags&unix.IFF_UP != 0,
		running:    flags&unix.IFF_UP != 0 && flags&unix.IFF_RUNNING != 0,
		removed:    m.Header.Type == unix.RTM_DELLINK,
		initial:    m.Header.Flags&netlink.Multi != 0,
	}
	if n.removed {
		n.running = false
	}
	attributes, err := netlink.NewAttributeDecoder(m.Data[unix.SizeofIfInfomsg:])
	if err != nil {
		return n, false
	}
	for attributes.Next() {
		if attributes.Type() == unix.IFLA_IFNAME {
			n.name = attributes.String()
		}
	}
	return n, attributes.Err() == nil && n.name != ""
}

// text describes the state.
func (n netdevState) text() string {
	switch {
	case n.removed:
		return "removed"
	case n.running:
		return "running"
	case n.adminUp:
		return "no carrier"
	}
	return "not up"
}
