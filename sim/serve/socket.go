package serve

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// A socket is a datagram socket that is connected to that of a client. Who reads
// blocks a thread, not the runtime's poller: a client with two requests in
// flight waits for each of our replies, and a poller adds three system calls and
// a wake-up to the two that a packet needs.
type socket struct {
	fd     int
	remote unix.Sockaddr
}

// newSocket makes a socket with an address and connects it to another.
func newSocket(family int, local, remote unix.Sockaddr) (*socket, error) {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make socket: %w", err)
	}
	s := &socket{fd: fd, remote: remote}
	if err := unix.Bind(fd, local); err != nil {
		s.close()
		return nil, fmt.Errorf("bind socket: %w", err)
	}
	if err := s.connect(); err != nil {
		s.close()
		return nil, fmt.Errorf("connect socket: %w", err)
	}
	return s, nil
}

// connect connects the socket, for the first time or again. It is refused where
// a client of this host is gone.
func (s *socket) connect() error { return unix.Connect(s.fd, s.remote) }

// read waits for a datagram. After shutdown it returns 0 bytes or an error.
func (s *socket) read(b []byte) (int, error) {
	for {
		n, err := unix.Read(s.fd, b)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// send sends a datagram, or returns EAGAIN where the client has no room.
func (s *socket) send(b []byte) error {
	for {
		err := unix.Send(s.fd, b, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// awaitRoom waits until the client may have room, or shutdown.
func (s *socket) awaitRoom() {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLOUT}}, -1)
}

// shutdown ends read and awaitRoom.
func (s *socket) shutdown() { _ = unix.Shutdown(s.fd, unix.SHUT_RDWR) }

// close frees the socket, which nobody may use any more.
func (s *socket) close() { _ = unix.Close(s.fd) }

// unixSockaddr returns the form that system calls take an address in.
func unixSockaddr(a *net.UnixAddr) unix.Sockaddr { return &unix.SockaddrUnix{Name: a.Name} }

// udpSockaddr is the same for IPv4; no address stands for all of this host's.
func udpSockaddr(ip net.IP, port int) unix.Sockaddr {
	a := &unix.SockaddrInet4{Port: port}
	copy(a.Addr[:], ip.To4())
	return a
}
