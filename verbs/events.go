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
	device  string
	context *Context
	fatal   bool // the last event was DEVICE_FATAL
}

// Events returns the events of the device, its ports and, until they get a file
// of their own, its objects. All calls return the same Events, which the context
// closes; events from before the first call are lost. Linux has it since 5.0.
func (c *Context) Events() (*Events, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		return nil, closedError("get events", c.name)
	}
	if c.events != nil {
		return c.events, nil
	}
	if c.eventFD < 0 {
		r := newRequest("get events", uapi.ObjectAsyncEvent, uapi.MethodAsyncEventAlloc)
		fd := r.fd(uapi.AttrAsyncEventAllocFDHandle, 0)
		if err := c.locked(r); err != nil {
			return nil, err
		}
		c.eventFD = made(fd)
	}
	c.events = &Events{file: c.kernel.eventFile(c.eventFD), device: c.name, context: c}
	return c.events, nil
}

// Next waits for an event. It serves one goroutine at a time. After DEVICE_FATAL
// of a device that was removed it returns ErrGone; after Close of the context
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
	n, err := e.file.Read(b[:])
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return Event{}, &CallError{Op: "read event", Device: e.device, Err: errno}
	case errors.Is(err, io.EOF):
		return Event{}, &CallError{Op: "read event", Device: e.device, Err: io.ErrUnexpectedEOF}
	case errors.Is(err, os.ErrClosed):
		return Event{}, closedError("read event", e.device)
	case err != nil:
		return Event{}, fmt.Errorf("read event of %s: %w", e.device, err)
	case n != len(b):
		return Event{}, fmt.Errorf("read event of %s: %d bytes of %d", e.device, n, len(b))
	}
	return decodeEvent(b[:]), nil
}
