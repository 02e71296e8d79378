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

// A CompChannel tells of completion queues that have something new. A wait costs a
// goroutine, no thread.
type CompChannel struct {
	object
	file *os.File
	buf  []byte

	lock sync.Mutex
	cqs  map[uint64]*CQ

	// What ended the last Wait early, if anything, which most often is what does
	// the next: the watch over it stays.
	watching sync.Mutex
	done     <-chan struct{}
	stop     func() bool
	fired    chan struct{}
	woken    bool // a read ends, or would end, by wake
}

// NewCompChannel makes a completion channel.
func (c *Context) NewCompChannel() (*CompChannel, error) {
	const op = "make completion channel"
	o, err := c.newObject(op, uapi.ObjectCompChannel)
	if err != nil {
		return nil, err
	}
	ch := &CompChannel{object: o, cqs: map[uint64]*CQ{}, buf: make([]byte, 8)}
	var core uapi.CreateCompChannel
	var resp uapi.CreateCompChannelResp
	if err := ch.invoke(op, uapi.CmdCreateCompChannel, bytesOf(&core), bytesOf(&resp), nil, nil); err != nil {
		return nil, ch.fail(nothing, c.limit("completion channels", err))
	}
	ch.handle = resp.FD
	ch.file = c.kernel.eventFile(int(resp.FD))
	return register(&ch.object, ch), nil
}

// Wait waits for a completion queue that was armed and has something new. It serves
// one goroutine at a time and allocates nothing while ctx stays the same. After
// Close of the channel it returns fs.ErrClosed, after removal of the device
// ErrDeviceRemoved.
func (ch *CompChannel) Wait(ctx context.Context) (*CQ, error) {
	for {
		cq, err := ch.next(ctx, nil)
		if cq != nil || err != nil { // else it was closed
			return cq, err
		}
	}
}

// next waits for one event. It returns nil if that is of a queue that was closed,
// and when the queue that is waited for, if any, is closed.
func (ch *CompChannel) next(ctx context.Context, of *CQ) (*CQ, error) {
	if err := ch.watch(ctx); err != nil {
		return nil, err
	}
	if of != nil && of.isClosed() {
		return nil, nil
	}
	err := readEvent(ch.file, ch.buf, ch.context)
	switch {
	case err == nil:
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return nil, err
	default: // ctx has ended, or a queue was closed
		return nil, ctx.Err()
	}
	id := binary.NativeEndian.Uint64(ch.buf)
	ch.lock.Lock()
	defer ch.lock.Unlock()
	return ch.cqs[id], nil
}

// remove takes a queue that was closed out of the channel, and ends a wait for it.
func (ch *CompChannel) remove(cq *CQ) {
	ch.lock.Lock()
	delete(ch.cqs, cq.id)
	ch.lock.Unlock()
	ch.watching.Lock()
	defer ch.watching.Unlock()
	ch.woken = true
	_ = ch.file.SetReadDeadline(time.Unix(1, 0)) // of a file that is closed nobody reads
}

// watch has the end of ctx end a read.
func (ch *CompChannel) watch(ctx context.Context) error {
	done := ctx.Done()
	ch.watching.Lock()
	defer ch.watching.Unlock()
	if ch.woken {
		ch.woken = false
		_ = ch.file.SetReadDeadline(time.Time{})
	}
	// From here on the end of ctx is seen, or the deadline that it sets stays.
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
		ch.stop = context.AfterFunc(ctx, func() { // without ch, which may be dropped before ctx ends
			_ = file.SetReadDeadline(time.Unix(1, 0))
			close(fired)
		})
	}
	return nil
}

// unwatch undoes watch. The lock is held.
func (ch *CompChannel) unwatch() {
	if ch.stop != nil && !ch.stop() {
		<-ch.fired
		_ = ch.file.SetReadDeadline(time.Time{})
	}
	ch.done, ch.stop = nil, nil
}

// Close closes the channel. While completion queues use it that is ErrBusy; a
// second Close is an error.
func (ch *CompChannel) Close() error {
	return ch.close(ch.file.Close, func() error {
		ch.watching.Lock()
		defer ch.watching.Unlock()
		ch.unwatch()
		return nil
	})
}
