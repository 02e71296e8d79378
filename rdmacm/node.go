package rdmacm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/nonblock"
)

// devicePath is the connection manager's device node.
const devicePath = "/dev/infiniband/rdma_cm"

// A node is an open device node: the kernel's, or a fake in tests. A message may
// contain a memory address for the response, which does not move.
type node interface {
	// command executes a command.
	command(message []byte) error

	// next executes GET_EVENT when there is an event. It waits until ctx ends.
	next(ctx context.Context, message []byte) error

	// tryNext executes GET_EVENT, and returns EAGAIN if there is no event.
	tryNext(message []byte) error

	// number calls f with the file number, which stays open until f returns.
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

// A deviceNode is the running kernel's device node.
type deviceNode struct {
	file *os.File
	raw  syscall.RawConn

	using  sync.RWMutex // held for reading while fd is in use: raw.Control would cost three allocations
	fd     uintptr
	closed bool
}

func (n *deviceNode) Close() error {
	n.using.Lock()
	n.closed = true
	n.using.Unlock()
	return n.file.Close()
}

// rawError returns a raw method's error. A closed file's error is a private runtime
// error.
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
// never becomes writable for a poll, but readable, so that the wait is as for a
// reader (ucma.c, ucma_poll).
func (n *deviceNode) next(ctx context.Context, message []byte) error {
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
	return write(n.fd, message)
}

// write sends a single message. The kernel executes it within the call.
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
