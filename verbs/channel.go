package verbs

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/ibkit/ibkit/internal/uapi"
)

// A CompChannel delivers armed completion queues' events. A wait blocks a
// goroutine, not a thread.
type CompChannel struct {
	object
	file *os.File
	buf  []byte

	lock sync.Mutex
	cqs  map[uint64]*CQ

	// The last Wait's context. Most callers pass the same context again, so that
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

// interrupt ends a read, and reads that begin before resume. It may be called after Close.
func interrupt(file *os.File) {
	_ = file.SetReadDeadline(time.Unix(1, 0)) // fails for a closed file only
}

// resume undoes interrupt.
func (ch *CompChannel) resume() { _ = ch.file.SetReadDeadline(time.Time{}) }

// Wait waits until an armed completion queue has a new completion, and returns the
// queue. Only a single goroutine may wait at a time. Wait does not allocate as long as
// ctx stays the same. It returns fs.ErrClosed after the channel's Close and
// ErrDeviceRemoved after the device's removal.
func (ch *CompChannel) Wait(ctx context.Context) (*CQ, error) {
	for {
		cq, err := ch.next(ctx, nil)
		if cq != nil || err != nil { // otherwise the queue was closed
			return cq, err
		}
	}
}

// next waits for one event. It returns nil if the event's queue was closed, or
// if want, the queue that the caller waits for, was closed.
func (ch *CompChannel) next(ctx context.Context, want *CQ) (*CQ, error) {
	if err := ch.watch(ctx); err != nil {
		return nil, err
	}
	if want != nil && want.isClosed() {
		return nil, nil
	}
	err := readEvent(ch.file.Read, ch.buf, ch.context)
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
	interrupt(ch.file)
}

// watch arranges that ctx's end interrupts a read.
func (ch *CompChannel) watch(ctx context.Context) error {
	done := ctx.Done()
	ch.watching.Lock()
	defer ch.watching.Unlock()
	if ch.woken {
		ch.woken = false
		ch.resume()
	}
	// From here on, either ctx.Err detects ctx's end, or the deadline that it
	// sets stays.
	if err := ctx.Err(); err != nil {
		return err
	}
	if done == ch.done {
		return nil
	}
	ch.unwatch()
	if done != nil {
		file, fired := ch.file, make(chan struct{})
		ch.done, ch.fired = done, fired
		ch.stop = context.AfterFunc(ctx, func() { // ch stays collectable until ctx ends
			interrupt(file)
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
	return ch.close(ch.file.Close, func() error {
		ch.watching.Lock()
		defer ch.watching.Unlock()
		ch.unwatch()
		return nil
	})
}
