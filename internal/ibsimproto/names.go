package ibsimproto

import (
	"fmt"
	"net"
)

// The default server name and UDP port.
const (
	DefaultSockName = "sim"
	DefaultPort     = 7070
)

// A SockName is the socket name prefix on this host. The names are abstract and
// end with a NUL byte, because the C programs include the string terminator.
type SockName string

// Control returns the server's control socket name.
func (s SockName) Control() *net.UnixAddr { return s.addr(":ctl") }

// Data returns the server's data socket name for a client.
func (s SockName) Data(slot uint32) *net.UnixAddr { return s.addr(":out%d", slot) }

// ClientControl returns a client's control socket name.
func (s SockName) ClientControl(id uint32) *net.UnixAddr { return s.addr(":ctl%d", id) }

// ClientData returns a client's data socket name.
func (s SockName) ClientData(id uint32) *net.UnixAddr { return s.addr(":in%d", id) }

func (s SockName) addr(format string, args ...any) *net.UnixAddr {
	return &net.UnixAddr{Net: "unixgram", Name: "@" + string(s) + fmt.Sprintf(format, args...) + "\x00"}
}

// Sender returns the sender address with a NUL byte at the end, which package net removes.
func Sender(a net.Addr) net.Addr {
	if local, ok := a.(*net.UnixAddr); ok && local != nil {
		return &net.UnixAddr{Net: local.Net, Name: local.Name + "\x00"}
	}
	return a
}

// DataPort returns the UDP port for the server's data socket for a client, and false if it
// exceeds the largest port number.
func DataPort(control int, slot uint32) (int, bool) {
	port := int64(control) + 1 + int64(slot)
	return int(port), port <= 0xffff
}
