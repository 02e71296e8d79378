package ibsimproto

import (
	"fmt"
	"net"
)

// The default name and UDP port of a server.
const (
	DefaultSockName = "sim"
	DefaultPort     = 7070
)

// A SockName is the prefix of the names of the sockets on this host. The names are
// abstract and end with a NUL byte, because the C programs include the terminator of
// the string.
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

// Sender returns the address of a sender with the NUL byte at its end, which package
// net removes.
func Sender(a net.Addr) net.Addr {
	if local, ok := a.(*net.UnixAddr); ok && local != nil {
		return &net.UnixAddr{Net: local.Net, Name: local.Name + "\x00"}
	}
	return a
}

// DataPort returns the UDP port of the server's data socket for a client, and false if
// it exceeds the largest port number.
func DataPort(control int, slot uint32) (int, bool) {
	port := int64(control) + 1 + int64(slot)
	return int(port), port <= 0xffff
}
