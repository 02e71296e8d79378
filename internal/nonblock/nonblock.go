// Package nonblock reads and writes whole messages on a file descriptor in Go's poller: a
// system call per message, or per message batch on a socket. It polls only after a read
// that found no message, does not allocate, and a waiting read can be interrupted.
package nonblock

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Conn carries messages over a descriptor. The methods are not safe for concurrent use,
// except Interrupt.
type Conn struct {
	file        File
	raw         syscall.RawConn
	interrupted atomic.Bool
	deadline    time.Time              // set on the file, unless stale
	stale       bool                   // Interrupt may have set another deadline
	thread      atomic.Pointer[thread] // nil: Go's poller waits

	// The system calls, made once: a closure for each call would cost an
	// allocation for each message.
	write, read           func(fd uintptr)
	writeBatch, readBatch func(fd uintptr)
	receive               func(fd uintptr) // read or readBatch
	wait                  func(fd uintptr) bool
	out, in               []byte
	batch                 []mmsghdr
	n                     int
	err                   error
}

// A File is an *os.File or a *net.UnixConn, *net.UDPConn and the like.
type File interface {
	syscall.Conn
	SetReadDeadline(t time.Time) error
}

// New returns a Conn over a file. The caller closes the file.
func New(f File) (*Conn, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &Conn{file: f, raw: raw}
	c.write = func(fd uintptr) { _, c.err = unix.Write(int(fd), c.out) }
	c.read = func(fd uintptr) { c.n, c.err = unix.Read(int(fd), c.in) }
	c.writeBatch = func(fd uintptr) { c.n, c.err = mmsg(unix.SYS_SENDMMSG, fd, c.batch) }
	c.readBatch = func(fd uintptr) { c.n, c.err = mmsg(unix.SYS_RECVMMSG, fd, c.batch) }
	c.wait = func(fd uintptr) bool {
		c.receive(fd)
		return !errors.Is(c.err, unix.EAGAIN)
	}
	return c, nil
}

// NewReader is [New] for a file that reports when a message can be read elsewhere, such
// as an epoll descriptor: read reads it without waiting, and returns EAGAIN if there is
// none. The Conn cannot send.
func NewReader(f File, read func(b []byte) (int, error)) (*Conn, error) {
	c, err := New(f)
	if err != nil {
		return nil, err
	}
	c.read = func(uintptr) { c.n, c.err = read(c.in) }
	return c, nil
}

// TryReceive reads a message into b without waiting. It returns EAGAIN if there is none.
func (c *Conn) TryReceive(b []byte) (int, error) {
	c.in = b
	if err := c.raw.Control(c.read); err != nil {
		return 0, err
	}
	return c.n, c.err
}

// Send writes a message. It does not wait: if the file has no room, it returns
// EAGAIN or the error that the file's driver uses instead.
func (c *Conn) Send(b []byte) error {
	c.out = b
	if err := c.raw.Control(c.write); err != nil {
		return err
	}
	return c.err
}

// Receive reads the next message into b and returns the length. It returns
// os.ErrDeadlineExceeded if no message arrives before the deadline or an Interrupt. A zero
// deadline never expires.
func (c *Conn) Receive(b []byte, deadline time.Time) (int, error) {
	c.in = b
	return c.next(c.read, deadline)
}

// next runs a non-blocking read until it returns a message or an error other than
// EAGAIN. It returns the length that the read left in c.n.
func (c *Conn) next(read func(fd uintptr), deadline time.Time) (int, error) {
	c.receive = read
	if t := c.thread.Load(); t != nil {
		return t.receive(c, deadline)
	}
	if !c.expired(deadline) {
		// The poller's own read comes first: a read before it would return
		// EAGAIN whenever the caller has to wait, and would be repeated.
		err := c.raw.Read(c.wait)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			if err != nil {
				return 0, err
			}
			return c.n, c.err
		}
		c.stale = true
	}
	if err := c.raw.Control(read); err != nil {
		return 0, err
	}
	if !errors.Is(c.err, unix.EAGAIN) {
		return c.n, c.err
	}
	c.interrupted.Store(false)
	return 0, os.ErrDeadlineExceeded
}

// expired reports whether a read has no time to wait. Otherwise it sets the
// file's deadline.
func (c *Conn) expired(deadline time.Time) bool {
	if !deadline.IsZero() && !deadline.After(time.Now()) {
		return true
	}
	if c.stale || !deadline.Equal(c.deadline) {
		c.deadline, c.stale = deadline, false
		// An error means that the file is closed, which the read reports.
		_ = c.file.SetReadDeadline(deadline)
	}
	// Interrupt sets its mark first and then its own deadline: either the mark is seen
	// here, or Interrupt's deadline replaces the deadline set above.
	if c.interrupted.Load() {
		c.stale = true
		return true
	}
	return false
}

// Interrupt ends the current wait for a message, or the next wait.
func (c *Conn) Interrupt() {
	if t := c.thread.Load(); t != nil {
		t.wake()
		return
	}
	c.interrupted.Store(true)
	_ = c.file.SetReadDeadline(time.Now())
}
