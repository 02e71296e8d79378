package serve

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/ibsimproto"
)

// A listener is a control socket and a function that opens data sockets of the same kind.
type listener struct {
	control net.PacketConn

	// open opens the data socket for a slot and connects it to a client's data socket. The
	// client has the ID id and a control socket with the address from.
	open func(slot, id uint32, from net.Addr) (*socket, error)
}

func listenUnix(name ibsimproto.SockName) (*listener, error) {
	control, err := net.ListenUnixgram("unixgram", name.Control())
	if err != nil {
		return nil, withoutAddress(err)
	}
	return &listener{
		control: control,
		open: func(slot, id uint32, _ net.Addr) (*socket, error) {
			return newSocket(unix.AF_UNIX, unixSockaddr(name.Data(slot)), unixSockaddr(name.ClientData(id)))
		},
	}, nil
}

func listenUDP(port int) (*listener, error) {
	control, err := net.ListenUDP("udp4", &net.UDPAddr{Port: port})
	if err != nil {
		return nil, withoutAddress(err)
	}
	return &listener{
		control: control,
		open: func(slot, id uint32, from net.Addr) (*socket, error) {
			client, ok := from.(*net.UDPAddr)
			data, fits := ibsimproto.DataPort(port, slot)
			if !ok || !fits || id == 0 || id > 0xffff {
				return nil, fmt.Errorf("no UDP port for slot %d and client %d", slot, id)
			}
			return newSocket(unix.AF_INET, udpSockaddr(nil, data), udpSockaddr(client.IP, int(id)))
		},
	}, nil
}

// withoutAddress removes the addresses from a network error: abstract socket names contain
// NUL bytes.
func withoutAddress(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
