package verbs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/internal/nonblock"
	"github.com/ibkit/ibkit/internal/uapi"
)

// A CompChannel delivers the events of armed completion queues. A wait blocks a
// goroutine, not a thread, unless WaitInThread has been called.
type CompChannel struct {
	object
	file *os.File
	buf  []byte

	thread  *nonblock.Conn // nil: Go's poller waits
	closing atomic.Bool    // with a thread

	lock sync.Mutex
	cqs  map[uint64]*CQ

	// The context of the last Wait. Most callers pass the same one again, so that
	// its registration stays in place.
	watching sync.Mutex
	done     <-chan struct{}
	stop     func() bool
	fired    chan struct{}
	woken    bool // remove has interrupted a read
}

// NewCompChannel creates a completion channel.
func (c *Context) NewCompChannel() (*CompChannel, error) {
	const op = "make completion channel"
	o, err := c.newObject(op, uapi.ObjectCompChannel)
	if err != nil {
		return nil, err
	}
	ch := &CompChannel{object: o, cqs: map[uint64]*CQ{}, buf: make([]byte, 8)}
	var core uapi.CreateCompChannel
	var resp uapi.CreateCompChannelResp
	if err := ch.invoke(op, uapi.CmdCreateCompChannel, uapi.Bytes(&core), uapi.Bytes(&resp), nil, nil); err != nil {
		return nil, ch.fail(noop, c.limit("completion channels", err))
	}
	ch.handle = resp.FD
	ch.file = c.kernel.EventFile(int(resp.FD))
	return register(&ch.object, ch), nil
}

// WaitInThread makes waits use a system call from now on, which occupies a thread of the
// process, instead of Go's poller. The kernel then wakes the waiting thread itself, which
// shortens round trips. No wait may be in progress. Further calls have no effect.
func (ch *CompChannel) WaitInThread() error {
	ch.watching.Lock()
	defer ch.watching.Unlock()
	if ch.thread != nil {
		return nil
	}
	conn, err := nonblock.New(ch.file)
	if err == nil {
		err = conn.WaitInThread()
	}
	if err != nil {
		return fmt.Errorf("wait for events of %s: %w", ch.context.name, err)
	}
	ch.unwatch() // the next wait watches its context in the new way
	ch.thread = conn
	return nil
}

// interrupt ends a read, and those that begin before resume. It may be called after Close.
func interrupt(file *os.File, thread *nonblock.Conn) {
	if thread != nil {
		thread.Interrupt()
		return
	}
	_ = file.SetReadDeadline(time.Unix(1, 0)) // fails for a closed file only
}

// resume undoes interrupt. An interrupt of a thread ends only one read.
func (ch *CompChannel) resume() {
	if ch.thread == nil {
		_ = ch.file.SetReadDeadline(time.Time{})
	}
}

// read reads an event. Interrupts end it with os.ErrDeadlineExceeded.
func (ch *CompChannel) read() error {
	if ch.thread == nil {
		return readEvent(ch.file.Read, ch.buf, ch.context)
	}
	return readEvent(ch.receive, ch.buf, ch.context)
}

// receive reads in a thread, with the errors of an os.File.
func (ch *CompChannel) receive(b []byte) (int, error) {
	if ch.closing.Load() {
		return 0, os.ErrClosed
	}
	n, err := ch.thread.Receive(b, time.Time{})
	switch {
	case err != nil && ch.closing.Load():
		return n, os.ErrClosed
	case n == 0 && err == nil:
		return n, io.EOF
	}
	return n, err
}

// closeFile closes the file. A thread holds it open as long as it waits.
func (ch *CompChannel) closeFile() error {
	if ch.thread != nil {
		ch.closing.Store(true)
		ch.thread.Interrupt()
	}
	return ch.file.Close()
}

// Wait waits until an armed completion queue has a new completion, and returns the
// queue. Only one goroutine may wait at a time. Wait does not allocate as long as
// ctx stays the same. It returns fs.ErrClosed after Close of the channel and
// ErrDeviceRemoved after removal of the device.
func (ch *CompChannel) Wait(ctx context.Context) (*CQ, error) {
	for {
		cq, err := ch.next(ctx, nil)
		if cq != nil || err != nil { // otherwise the queue was closed
			return cq, err
		}
	}
}

// next waits for one event. It returns nil if the queue of the event was closed, or
// if want, the queue that the caller waits for, was closed.
func (ch *CompChannel) next(ctx context.Context, want *CQ) (*CQ, error) {
	if err := ch.watch(ctx); err != nil {
		return nil, err
	}
	if want != nil && want.isClosed() {
		return nil, nil
	}
	err := ch.read()
	switch {
	case err == nil:
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return nil, err
	default: // ctx has ended, a queue was closed, or the interrupt belongs to a wait before
		return nil, ctx.Err()
	}
	id := binary.NativeEndian.Uint64(ch.buf)
	ch.lock.Lock()
	cq := ch.cqs[id]
	ch.lock.Unlock()
	if cq != nil {
		cq.delivered()
	}
	return cq, nil
}

// remove removes a closed queue from the channel and interrupts a wait for it.
func (ch *CompChannel) remove(cq *CQ) {
	ch.lock.Lock()
	delete(ch.cqs, cq.id)
	ch.lock.Unlock()
	ch.watching.Lock()
	defer ch.watching.Unlock()
	ch.woken = true
	interrupt(ch.file, ch.thread)
}

// watch arranges that the end of ctx interrupts a read.
func (ch *CompChannel) watch(ctx context.Context) error {
	done := ctx.Done()
	ch.watching.Lock()
	defer ch.watching.Unlock()
	if ch.woken {
		ch.woken = false
		ch.resume()
	}
	// From here on, either ctx.Err detects the end of ctx, or the deadline that it
	// sets stays.
	if err := ctx.Err(); err != nil {
		return err
	}
	if done == ch.done {
		return nil
	}
	ch.unwatch()
	if done != nil {
		file, thread, fired := ch.file, ch.thread, make(chan struct{})
		ch.done, ch.fired = done, fired
		ch.stop = context.AfterFunc(ctx, func() { // ch stays collectable until ctx ends
			interrupt(file, thread)
			close(fired)
		})
	}
	return nil
}

// unwatch undoes watch. The caller holds ch.watching.
func (ch *CompChannel) unwatch() {
	if ch.stop != nil && !ch.stop() {
		<-ch.fired
		ch.resume()
	}
	ch.done, ch.stop = nil, nil
}

// Close closes the channel. It returns ErrBusy while completion queues use the
// channel, and fs.ErrClosed if it is closed already.
func (ch *CompChannel) Close() error {
	return ch.close(ch.closeFile, func() error {
		ch.watching.Lock()
		defer ch.watching.Unlock()
		ch.unwatch()
		if ch.thread != nil {
			return ch.thread.Release()
		}
		return nil
	})
}
