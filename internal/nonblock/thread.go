package nonblock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// thread waits in a system call. A long wait occupies a process thread, but the kernel
// wakes the waiting thread itself, without the detour through Go's poller.
type thread struct {
	wakeup *os.File // an eventfd that Interrupt writes to
	fds    [2]unix.PollFd
	limit  unix.Timespec
	until  *unix.Timespec // limit, or nil without a deadline
	block  func(fd uintptr)
	err    error
}

// WaitInThread makes Receive wait in a system call from now on. Interrupt and the
// deadline end the wait as before. No Receive may be in progress. The caller
// calls [Conn.Release] at the end. Further calls have no effect.
func (c *Conn) WaitInThread() error {
	if c.thread.Load() != nil {
		return nil
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("make eventfd: %w", err)
	}
	t := &thread{wakeup: os.NewFile(uintptr(fd), "eventfd")}
	t.fds[1] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	t.block = func(fd uintptr) {
		t.fds[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		_, t.err = unix.Ppoll(t.fds[:], t.until, nil)
	}
	c.thread.Store(t)
	return nil
}

// Release closes the descriptor that WaitInThread opened. Interrupt may still be
// called after it.
func (c *Conn) Release() error {
	if t := c.thread.Load(); t != nil {
		return t.wakeup.Close()
	}
	return nil
}

// wake ends the current wait, or the next wait.
func (t *thread) wake() {
	// The kernel adds the numbers from calls that no wait has read. A write blocks when
	// the sum overflows.
	_, _ = t.wakeup.Write(binary.NativeEndian.AppendUint64(nil, 1))
}

// receive reads the next message and waits for it if necessary.
func (t *thread) receive(c *Conn, deadline time.Time) (int, error) {
	for {
		if err := c.raw.Control(c.receive); err != nil {
			return 0, err
		}
		if !errors.Is(c.err, unix.EAGAIN) {
			return c.n, c.err
		}
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
	}
}
