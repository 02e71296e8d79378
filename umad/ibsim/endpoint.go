package ibsim

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/ibsimproto"
)

// An endpoint holds the client's two sockets.
type endpoint struct {
	control, data net.Conn
	id            uint32 // identifies the data socket to the server

	// server returns the server's data socket address for a client.
	server func(slot uint32) (unix.Sockaddr, error)
}

// connectData connects the data socket to the server's data socket. Its address depends
// on the client's slot.
func (e *endpoint) connectData(slot uint32) error {
	to, err := e.server(slot)
	if err != nil {
		return err
	}
	raw, err := e.data.(syscall.Conn).SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = unix.Connect(int(fd), to) }); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("connect to data socket %d: %w", slot, failed)
	}
	return nil
}

// clients counts this process's clients, which need different IDs.
var clients atomic.Uint32

// firstID separates the IDs from the C clients' IDs, which are process IDs.
const firstID = 1 << 30

// dialUnix connects to a server on this host.
func dialUnix(name ibsimproto.SockName) (endpoint, error) {
	id := firstID + uint32(os.Getpid())<<4 + clients.Add(1)&0xf
	control, err := net.DialUnix("unixgram", name.ClientControl(id), name.Control())
	if err != nil {
		return endpoint{}, &serverError{fmt.Errorf("no server responds: %w", plainError(err))}
	}
	// The data socket must exist before the server receives a request: without
	// it the server exits.
	data, err := net.ListenUnixgram("unixgram", name.ClientData(id))
	if err != nil {
		control.Close()
		return endpoint{}, plainError(err)
	}
	return endpoint{
		control: control,
		data:    data,
		id:      id,
		server: func(slot uint32) (unix.Sockaddr, error) {
			return &unix.SockaddrUnix{Name: name.Data(slot).Name}, nil
		},
	}, nil
}

// dialUDP connects to a server on another host, by IPv4: the control socket has the
// port, and client N's data socket has port+1+N.
func dialUDP(ctx context.Context, host string, port int) (endpoint, error) {
	var d net.Dialer
	control, err := d.DialContext(ctx, "udp4", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return endpoint{}, &serverError{err}
	}
	data, err := net.ListenUDP("udp4", &net.UDPAddr{IP: control.LocalAddr().(*net.UDPAddr).IP})
	if err != nil {
		control.Close()
		return endpoint{}, err
	}
	return endpoint{
		control: control,
		data:    data,
		id:      uint32(data.LocalAddr().(*net.UDPAddr).Port),
		server: func(slot uint32) (unix.Sockaddr, error) {
			dataPort, ok := ibsimproto.DataPort(port, slot)
			to := &unix.SockaddrInet4{Port: dataPort}
			if !ok {
				return nil, fmt.Errorf("invalid slot %d of the server: no UDP port", slot)
			}
			copy(to.Addr[:], control.RemoteAddr().(*net.UDPAddr).IP.To4())
			return to, nil
		},
	}, nil
}
