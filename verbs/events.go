package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/internal/uapi"
)

// Events are the asynchronous events of a context. A wait for one costs a
// goroutine, no thread.
type Events struct {
	file    *os.File
	context *Context
	fatal   bool // the last event was DEVICE_FATAL
}

// Events returns the events of the device, its ports and its objects. All calls
// return the same Events, which the context closes. Events from before the first
// call are lost, unless there was a CQ, QP or SRQ already. Linux has it since 5.6;
// older kernels open them with the device.
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
	c.eventFile = c.kernel.eventFile(c.eventFD)
	c.events = &Events{file: c.eventFile, context: c}
	return c.events, nil
}

// allocEvents makes the file of events. The lock is held.
func (c *Context) allocEvents() error {
	if c.eventFD >= 0 {
		return nil
	}
	r := newRequest("get events", uapi.ObjectAsyncEvent, uapi.MethodAsyncEventAlloc)
	fd := r.fd(uapi.AttrAsyncEventAllocFDHandle, 0)
	if err := c.locked(r); err != nil {
		return err
	}
	c.eventFD = createdHandle(fd)
	return nil
}

// makeEvents goes before the making of an object that has events: one that is
// made before the file sends none.
func (c *Context) makeEvents() error {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.allocEvents()
}

// Next waits for an event. It serves one goroutine at a time. After DEVICE_FATAL
// of a device that was removed it returns ErrDeviceRemoved; after Close of the context
// fs.ErrClosed.
//
// A device that fails sends DEVICE_FATAL as well, and may recover. The kernel ends
// the events of a removed one with it and says nothing from then on
// (uverbs_std_types_async_fd.c), so Next asks whether the device is still there.
func (e *Events) Next(ctx context.Context) (Event, error) {
	if e.fatal {
		if err := e.context.check("read event"); err != nil {
			return Event{}, err
		}
		e.fatal = false
	}
	event, err := e.wait(ctx)
	e.fatal = err == nil && event.Type == EventDeviceFatal
	return event, err
}

// wait is Next for a device that is there.
func (e *Events) wait(ctx context.Context) (Event, error) {
	set := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = e.file.SetReadDeadline(time.Unix(1, 0))
		close(set)
	})
	event, err := e.read()
	if stop() {
		return event, err
	}
	<-set
	_ = e.file.SetReadDeadline(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ctx.Err()
	}
	return event, err
}

// read reads one event: the kernel returns one at a time.
func (e *Events) read() (Event, error) {
	var b [uapi.AsyncEventSize]byte
	if err := readEvent(e.file, b[:], e.context); err != nil {
		return Event{}, err
	}
	return decodeEvent(b[:]), nil
}

// readEvent reads one record of a file of events, which has the size of b.
//
// Of a removed device the kernel closes completion channels: it says EIO, but
// before that the poller, which for want of anything to read finds the file to be
// one that cannot be watched.
func readEvent(file *os.File, b []byte, c *Context) error {
	device := c.name
	n, err := file.Read(b)
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
		if gone := c.check("read event"); gone != nil {
			return gone
		}
		return fmt.Errorf("read event of %s: %w", device, err)
	}
	return fmt.Errorf("read event of %s: %d bytes of %d", device, n, len(b))
}
