package rdmacm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/nonblock"
)

// devicePath is the device node of the connection manager.
const devicePath = "/dev/infiniband/rdma_cm"

// A node is an open device node: the kernel's, or a fake in tests. A message may
// contain the address of memory for the response, which does not move.
type node interface {
	// command executes a command.
	command(message []byte) error

	// next executes GET_EVENT when there is an event. It waits until ctx ends.
	next(ctx context.Context, message []byte) error

	// tryNext executes GET_EVENT, and returns EAGAIN if there is no event.
	tryNext(message []byte) error

	// waitInThread makes next wait in a system call from now on.
	waitInThread() error

	// keepProcessor makes commands keep the processor of Go's scheduler from now on.
	keepProcessor()

	// number calls f with the number of the file, which stays open until f returns.
	number(f func(fd uint32) error) error

	Close() error
}

// openNode opens the device node.
func openNode() (node, error) {
	// A non-blocking file is served by Go's poller. os.OpenFile names the path in
	// its error.
	file, err := os.OpenFile(devicePath, os.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	n := &deviceNode{file: file}
	if n.raw, err = file.SyscallConn(); err == nil {
		err = n.raw.Control(func(fd uintptr) { n.fd = fd })
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return n, nil
}

// A deviceNode is the device node of the running kernel.
type deviceNode struct {
	file   *os.File
	raw    syscall.RawConn
	keep   atomic.Bool    // commands keep the processor of Go's scheduler
	thread *nonblock.Conn // nil: Go's poller waits

	using  sync.RWMutex // held for reading while fd is in use: raw.Control would cost three allocations
	fd     uintptr
	closed bool
}

func (n *deviceNode) Close() error {
	n.using.Lock()
	n.closed = true
	n.using.Unlock()
	if n.thread == nil {
		return n.file.Close()
	}
	n.thread.Interrupt()
	return errors.Join(n.file.Close(), n.thread.Release())
}

func (n *deviceNode) keepProcessor() { n.keep.Store(true) }

func (n *deviceNode) waitInThread() error {
	if n.thread != nil {
		return nil
	}
	conn, err := nonblock.NewReader(n.file, func(message []byte) (int, error) { return 0, writeBriefly(n.fd, message) })
	if err != nil {
		return err
	}
	if err := conn.WaitInThread(); err != nil {
		return err
	}
	n.thread = conn
	return nil
}

// rawError returns the error of a method of raw. That of a closed file is a private
// one of the runtime.
func (n *deviceNode) rawError(err error) error {
	if n.isClosed() {
		return fs.ErrClosed
	}
	return err
}

func (n *deviceNode) isClosed() bool {
	n.using.RLock()
	defer n.using.RUnlock()
	return n.closed
}

// use keeps the file open until the caller unlocks using.
func (n *deviceNode) use() error {
	n.using.RLock()
	if n.closed {
		n.using.RUnlock()
		return fs.ErrClosed
	}
	return nil
}

func (n *deviceNode) command(message []byte) error {
	if err := n.use(); err != nil {
		return err
	}
	defer n.using.RUnlock()
	if n.keep.Load() {
		return writeBriefly(n.fd, message)
	}
	return write(n.fd, message)
}

func (n *deviceNode) number(f func(fd uint32) error) error {
	if err := n.use(); err != nil {
		return err
	}
	defer n.using.RUnlock()
	return f(uint32(n.fd))
}

// next writes GET_EVENT, which returns EAGAIN while there is no event. The device
// never becomes writable for a poll, but readable, so that the wait is that of a
// reader (ucma.c, ucma_poll).
func (n *deviceNode) next(ctx context.Context, message []byte) error {
	if n.thread != nil {
		return n.nextInThread(ctx, message)
	}
	return nonblock.UntilDone(ctx, n.file, func() (err error) {
		if wait := n.raw.Read(func(fd uintptr) bool {
			err = write(fd, message)
			return !errors.Is(err, unix.EAGAIN)
		}); wait != nil {
			return n.rawError(wait)
		}
		return err
	})
}

func (n *deviceNode) tryNext(message []byte) error {
	if err := n.use(); err != nil {
		return err
	}
	defer n.using.RUnlock()
	return writeBriefly(n.fd, message)
}

// The times of a wait in a thread. Events of many connections follow each other within less
// than soon, and a processor without work takes longer to wake than many a command. Until
// late, the thread then keeps its processor of Go's scheduler while it waits in the kernel:
// otherwise each wait starts the scheduler's monitor, which wakes every 20 µs at first.
const (
	soon  = time.Millisecond
	late  = 200 * time.Millisecond
	pause = 5 * time.Millisecond // of a wait in the kernel, which other goroutines may wait for
)

// nextInThread is next in a thread of its own.
func (n *deviceNode) nextInThread(ctx context.Context, message []byte) error {
	// An event that comes soon needs no preparations for the end of ctx.
	for began := time.Now(); ; {
		if err := n.tryNext(message); !errors.Is(err, unix.EAGAIN) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		switch waited := time.Since(began); {
		case waited <= soon:
			// The work for the event may need this processor. The call does not block.
			_, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		case waited <= late && n.keep.Load():
			if err := n.pause(); err != nil {
				return err
			}
		default:
			return n.block(ctx, message)
		}
	}
}

// pause waits for an event for a moment, and keeps the processor of Go's scheduler.
func (n *deviceNode) pause() error {
	if err := n.use(); err != nil {
		return err
	}
	defer n.using.RUnlock()
	limit := unix.NsecToTimespec(int64(pause))
	events := unix.PollFd{Fd: int32(n.fd), Events: unix.POLLIN}
	// The wait ends early with a signal. The caller looks for an event in any case.
	_, _, _ = syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&events)), 1, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	return nil
}

// block is nextInThread for an event that does not come soon.
func (n *deviceNode) block(ctx context.Context, message []byte) error {
	defer context.AfterFunc(ctx, n.thread.Interrupt)()
	for {
		_, err := n.thread.Receive(message, time.Time{})
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n.threadError(err)
		}
		if n.isClosed() {
			return fs.ErrClosed
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		// The interrupt belongs to an earlier context.
	}
}

// threadError returns the error of a method of thread.
func (n *deviceNode) threadError(err error) error {
	if err == nil {
		return nil
	}
	return n.rawError(err)
}

// write sends one message. The kernel executes it within the call.
func write(fd uintptr, message []byte) error {
	for {
		n, err := unix.Write(int(fd), message)
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil && n != len(message):
			return fmt.Errorf("write: got %d bytes, want %d", n, len(message))
		default:
			return err
		}
	}
}

// writeBriefly is write without the work of Go's scheduler around a system call. The
// scheduler's monitor hands the processor of a call of more than 20 µs to another thread,
// which costs as much as the call.
func writeBriefly(fd uintptr, message []byte) error {
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.SliceData(message))), uintptr(len(message)))
		switch {
		case errno == unix.EINTR:
		case errno == 0 && int(n) != len(message):
			return fmt.Errorf("write: got %d bytes, want %d", n, len(message))
		case errno == 0:
			return nil
		default:
			return errno
		}
	}
}
