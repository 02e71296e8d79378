package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/ibkit/ibkit/internal/nonblock"
	"github.com/ibkit/ibkit/internal/uapi"
)

// Events delivers a context's asynchronous events. A wait blocks a goroutine,
// not a thread.
type Events struct {
	file    *os.File
	context *Context
	fatal   bool // the last event was DEVICE_FATAL
}

// Events returns the device's events, its ports and its objects. All calls
// return the same Events, which the context's Close closes. Events that occur
// before the first call are lost unless the context has had a CQ, QP or SRQ.
//
// Linux supports it since 5.6; older kernels open the events together with the
// device.
func (c *Context) Events() (*Events, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		return nil, closedError("get events", c.name)
	}
	if c.events != nil {
		return c.events, nil
	}
	if err := c.allocEvents(); err != nil {
		return nil, err
	}
	c.eventFile = c.kernel.EventFile(c.eventFD)
	c.events = &Events{file: c.eventFile, context: c}
	return c.events, nil
}

// allocEvents opens the event file. The caller holds c.lock.
func (c *Context) allocEvents() error {
	if c.eventFD >= 0 {
		return nil
	}
	r := newRequest("get events", uapi.ObjectAsyncEvent, uapi.MethodAsyncEventAlloc)
	fd := r.fd(uapi.AttrAsyncEventAllocFDHandle, 0)
	if err := c.callLocked(r); err != nil {
		return err
	}
	c.eventFD = createdHandle(fd)
	return nil
}

// ensureEvents opens the event file. It precedes creating an object that
// has events: objects that are older than the file send none.
func (c *Context) ensureEvents() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.allocEvents()
}

// FD returns the number of the events' file descriptor, for messages. The
// descriptor remains with the context.
func (e *Events) FD() int { return e.context.eventFD }

// Next waits for an event. Only a single goroutine may call it at a time. It returns
// ErrDeviceRemoved after a removed device's event DEVICE_FATAL, and fs.ErrClosed after the
// context's Close.
//
// A failed device sends DEVICE_FATAL too and may recover, while a removed device
// sends no further events (uverbs_std_types_async_fd.c). So Next checks after
// DEVICE_FATAL whether the device is present.
func (e *Events) Next(ctx context.Context) (Event, error) {
	if e.fatal {
		if err := e.context.checkPresent("read event"); err != nil {
			return Event{}, err
		}
		e.fatal = false
	}
	event, err := e.wait(ctx)
	e.fatal = err == nil && event.Type == EventDeviceFatal
	return event, err
}

// wait is Next without the check for removal.
func (e *Events) wait(ctx context.Context) (Event, error) {
	var b [uapi.AsyncEventSize]byte // the kernel returns a single event per read
	if err := nonblock.UntilDone(ctx, e.file, func() error { return readEvent(e.file.Read, b[:], e.context) }); err != nil {
		return Event{}, err
	}
	return decodeEvent(b[:]), nil
}

// readEvent reads a single event file record into b, which has a record's
// size.
//
// The kernel closes a removed device's completion channels, and a read returns
// EIO. The runtime's poller may fail first, because such a file cannot be polled.
func readEvent(read func([]byte) (int, error), b []byte, c *Context) error {
	device := c.name
	n, err := read(b)
	if n == len(b) && err == nil {
		return nil
	}
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return &CallError{Op: "read event", Device: device, Err: errno}
	case errors.Is(err, io.EOF):
		return &CallError{Op: "read event", Device: device, Err: io.ErrUnexpectedEOF}
	case errors.Is(err, os.ErrClosed):
		return closedError("read event", device)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case err != nil:
		if gone := c.checkPresent("read event"); gone != nil {
			return gone
		}
		return fmt.Errorf("read event of %s: %w", device, err)
	}
	return fmt.Errorf("read event of %s: got %d bytes, want %d", device, n, len(b))
}
