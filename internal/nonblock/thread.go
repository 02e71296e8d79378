package nonblock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// thread is what waits in a system call. Where that goes on for long, it keeps a
// thread of the process from doing anything else; but who waits is woken by the
// kernel, and not by Go's poller, which first has to be woken itself.
type thread struct {
	bell  *os.File // an eventfd, which Interrupt rings
	fds   [2]unix.PollFd
	limit unix.Timespec
	until *unix.Timespec // limit, or nil: none
	block func(fd uintptr)
	err   error
}

// WaitInThread has Receive wait in a system call from now on. Interrupt and the
// deadline end it as before. No Receive may be under way, and [Conn.Release] has
// to be called at the end. To call it again does nothing.
func (c *Conn) WaitInThread() error {
	if c.thread.Load() != nil {
		return nil
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("make eventfd: %w", err)
	}
	t := &thread{bell: os.NewFile(uintptr(fd), "eventfd")}
	t.fds[1] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	t.block = func(fd uintptr) {
		t.fds[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		_, t.err = unix.Ppoll(t.fds[:], t.until, nil)
	}
	c.thread.Store(t)
	return nil
}

// Release gives back what WaitInThread took. Interrupt may be called after it.
func (c *Conn) Release() error {
	if t := c.thread.Load(); t != nil {
		return t.bell.Close()
	}
	return nil
}

// ring ends the wait, or the next one.
func (t *thread) ring() {
	one := [8]byte{7: 1} // whatever the byte order, not 0
	_, _ = t.bell.Write(one[:])
}

// receive waits for a message and reads it.
func (t *thread) receive(c *Conn, deadline time.Time) (int, error) {
	for {
		t.until = nil
		if !deadline.IsZero() {
			left := time.Until(deadline)
			if left <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
			t.limit = unix.NsecToTimespec(int64(left))
			t.until = &t.limit
		}
		if err := c.raw.Control(t.block); err != nil {
			return 0, err
		}
		switch {
		case errors.Is(t.err, syscall.EINTR):
			continue
		case t.err != nil:
			return 0, t.err
		case t.fds[1].Revents != 0:
			var count [8]byte
			if _, err := unix.Read(int(t.fds[1].Fd), count[:]); err != nil {
				return 0, err
			}
			return 0, os.ErrDeadlineExceeded
		case t.fds[0].Revents == 0:
			return 0, os.ErrDeadlineExceeded
		}
		if err := c.raw.Control(c.receive); err != nil {
			return 0, err
		}
		if !errors.Is(c.err, unix.EAGAIN) {
			return c.n, c.err
		}
	}
}
