// Package nonblock reads and writes whole messages on a file descriptor of Go's
// poller: a message to a system call, without a wait where there is something to
// read, without an allocation, and with a way to interrupt.
package nonblock

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Conn carries messages over a descriptor. It serves one goroutine at a time,
// but for Interrupt, which may be called from any.
type Conn struct {
	file        File
	raw         syscall.RawConn
	interrupted atomic.Bool
	deadline    time.Time              // that the file has, unless it is stale
	stale       bool                   // Interrupt may have set another
	thread      atomic.Pointer[thread] // nil: Go's poller waits

	// The system calls, made once: a closure for each call would be an
	// allocation for each message.
	send, receive func(fd uintptr)
	wait          func(fd uintptr) bool
	out, in       []byte
	n             int
	err           error
}

// A File is an *os.File or a *net.UnixConn, *net.UDPConn and the like.
type File interface {
	syscall.Conn
	SetReadDeadline(t time.Time) error
}

// New returns a Conn over a file, which stays the caller's to close.
func New(f File) (*Conn, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &Conn{file: f, raw: raw}
	c.send = func(fd uintptr) { _, c.err = unix.Write(int(fd), c.out) }
	c.receive = func(fd uintptr) { c.n, c.err = unix.Read(int(fd), c.in) }
	c.wait = func(fd uintptr) bool {
		c.receive(fd)
		return !errors.Is(c.err, unix.EAGAIN)
	}
	return c, nil
}

// Send writes a message. It does not wait: where there is no room, the error is
// EAGAIN or whatever else the file says.
func (c *Conn) Send(b []byte) error {
	c.out = b
	if err := c.raw.Control(c.send); err != nil {
		return err
	}
	return c.err
}

// Receive reads the next message into b and returns its length. It returns
// os.ErrDeadlineExceeded where none came by the deadline, or by when Interrupt
// was called; with a zero deadline it waits as long as it takes.
func (c *Conn) Receive(b []byte, deadline time.Time) (int, error) {
	c.in = b
	if err := c.raw.Control(c.receive); err != nil {
		return 0, err
	}
	if !errors.Is(c.err, unix.EAGAIN) {
		return c.n, c.err
	}
	if t := c.thread.Load(); t != nil {
		return t.receive(c, deadline)
	}
	if c.stale || !deadline.Equal(c.deadline) {
		c.deadline, c.stale = deadline, false
		if err := c.file.SetReadDeadline(deadline); err != nil {
			return 0, err
		}
	}
	// Interrupt sets its mark first and its own deadline then: the mark is
	// seen here, or its deadline comes after ours.
	if c.interrupted.Swap(false) {
		c.stale = true
		return 0, os.ErrDeadlineExceeded
	}
	if err := c.raw.Read(c.wait); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			c.stale = true
			c.interrupted.Store(false)
			err = os.ErrDeadlineExceeded
		}
		return 0, err
	}
	return c.n, c.err
}

// Interrupt ends the Receive that waits, or the next one that would.
func (c *Conn) Interrupt() {
	if t := c.thread.Load(); t != nil {
		t.ring()
		return
	}
	c.interrupted.Store(true)
	_ = c.file.SetReadDeadline(time.Now())
}
