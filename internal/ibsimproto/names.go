package ibsimproto

import (
	"fmt"
	"net"
)

// What a server goes by unless told otherwise.
const (
	DefaultSockName = "sim"
	DefaultPort     = 7070
)

// A SockName is what the names of the sockets on this host begin with. They are
// abstract, and every one ends in a NUL byte, as the C programs count the one
// that ends the string.
type SockName string

// Control returns the name of the server's control socket.
func (s SockName) Control() *net.UnixAddr { return s.addr(":ctl") }

// Data returns the name of the server's data socket for a client.
func (s SockName) Data(slot uint32) *net.UnixAddr { return s.addr(":out%d", slot) }

// ClientControl returns the name of a client's control socket.
func (s SockName) ClientControl(id uint32) *net.UnixAddr { return s.addr(":ctl%d", id) }

// ClientData returns the name of a client's data socket.
func (s SockName) ClientData(id uint32) *net.UnixAddr { return s.addr(":in%d", id) }

func (s SockName) addr(format string, args ...any) *net.UnixAddr {
	return &net.UnixAddr{Net: "unixgram", Name: "@" + string(s) + fmt.Sprintf(format, args...) + "\x00"}
}

// Sender repairs the address that a datagram came from: package net takes the
// NUL byte at its end for the end of the name.
func Sender(a net.Addr) net.Addr {
	if local, ok := a.(*net.UnixAddr); ok && local != nil {
		return &net.UnixAddr{Net: local.Net, Name: local.Name + "\x00"}
	}
	return a
}

// DataPort returns the UDP port of the server's data socket for a client, and
// false where the numbers do not reach so far.
func DataPort(control int, slot uint32) (int, bool) {
	port := int64(control) + 1 + int64(slot)
	return int(port), port <= 0xffff
}
