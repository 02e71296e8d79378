package serve

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// A socket is a datagram socket connected to a client's socket. The reader blocks a thread
// and does not use the runtime's poller: a client with two outstanding requests waits for
// each reply, and a poller adds three system calls and a wake-up to the two system calls
// that a packet needs.
type socket struct {
	fd     int
	remote unix.Sockaddr
}

// newSocket opens a socket with an address and connects it to another address.
func newSocket(family int, local, remote unix.Sockaddr) (*socket, error) {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open socket: %w", err)
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

// connect connects the socket, for the first time or again. It fails if the client is on
// this host and the client's socket is closed.
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

// send sends a datagram. It returns EAGAIN if the client's queue is full.
func (s *socket) send(b []byte) error {
	for {
		err := unix.Send(s.fd, b, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// awaitRoom waits until send may succeed, or until shutdown.
func (s *socket) awaitRoom() {
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLOUT}}, -1)
}

// shutdown makes read and awaitRoom return.
func (s *socket) shutdown() { _ = unix.Shutdown(s.fd, unix.SHUT_RDWR) }

// shutdownRead makes read return 0 bytes after the datagrams that have arrived.
func (s *socket) shutdownRead() { _ = unix.Shutdown(s.fd, unix.SHUT_RD) }

// close closes the socket, which must not be used any more.
func (s *socket) close() { _ = unix.Close(s.fd) }

// unixSockaddr returns an address for system calls.
func unixSockaddr(a *net.UnixAddr) unix.Sockaddr { return &unix.SockaddrUnix{Name: a.Name} }

// udpSockaddr returns an IPv4 address for system calls; a nil IP stands for all addresses
// on this host.
func udpSockaddr(ip net.IP, port int) unix.Sockaddr {
	a := &unix.SockaddrInet4{Port: port}
	copy(a.Addr[:], ip.To4())
	return a
}
