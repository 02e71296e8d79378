package verbs

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A CQ is a completion queue.
type CQ struct {
	object
	channel  *CompChannel
	capacity int

	lock  sync.Mutex
	queue provider.CQ // nil after Close
}

// CQInit are the CreateCQ parameters.
type CQInit struct {
	// Entries is the minimum completion count that the queue holds. An overflow
	// breaks the queue for good; an entry per outstanding work request prevents it.
	Entries int

	Channel *CompChannel // delivers the queue's events; may be nil
	Vector  uint32       // less than Context.CompVectors
}

// CreateCQ creates a completion queue.
func (c *Context) CreateCQ(init CQInit) (*CQ, error) {
	op := fmt.Sprintf("create CQ of %d entries", init.Entries)
	switch {
	case c.provider == nil:
		return nil, c.noProvider(op)
	case init.Entries < 1 || init.Entries > math.MaxInt32:
		return nil, fmt.Errorf("%s of %s: %w", op, c.name, unix.EINVAL)
	}
	var parents []*object
	if init.Channel != nil {
		parents = append(parents, &init.Channel.object)
	}
	if err := c.ensureEvents(); err != nil {
		return nil, err
	}
	o, err := c.newObject(op, uapi.ObjectCQ, parents...)
	if err != nil {
		return nil, err
	}
	cq := &CQ{object: o, channel: init.Channel}
	cq.queue, err = c.provider.NewCQ(provider.CQAttr{Entries: uint32(init.Entries), Events: init.Channel != nil}, func(in, out []byte) (provider.Created, error) {
		created, err := cq.create(op, init, in, out)
		cq.handle, cq.capacity = created.Handle, int(created.CQE)
		if _, ok := c.provider.(provider.CQRounder); ok {
			cq.capacity = init.Entries
		}
		return created, err
	})
	if err != nil {
		return nil, cq.fail(undo(cq.destroyCQ, cq.queue != nil, cq.finish), c.limit("CQs", err,
			demand{"entries of a CQ", uint64(max(init.Entries, 0)), func(d DeviceAttr) uint64 { return uint64(d.MaxCQE) }}))
	}
	if cq.channel != nil {
		cq.channel.lock.Lock()
		cq.channel.cqs[cq.id] = cq
		cq.channel.lock.Unlock()
	}
	return register(&cq.object, cq), nil
}

// create creates the kernel's object.
func (cq *CQ) create(op string, init CQInit, in, out []byte) (provider.Created, error) {
	entries, got := uint32(init.Entries), uint32(0)
	if p, ok := cq.context.provider.(provider.CQRounder); ok {
		entries = p.RoundCQ(entries)
	}
	r := newRequest(op, uapi.ObjectCQ, uapi.MethodCQCreate)
	handle := r.handle(uapi.AttrCreateCQHandle, 0)
	r.in(uapi.AttrCreateCQCQE, uapi.Bytes(&entries))
	r.in(uapi.AttrCreateCQUserHandle, uapi.Bytes(&cq.id))
	if init.Channel != nil {
		r.fd(uapi.AttrCreateCQCompChannel, int(init.Channel.handle))
	}
	r.in(uapi.AttrCreateCQCompVector, uapi.Bytes(&init.Vector))
	r.out(uapi.AttrCreateCQRespCQE, uapi.Bytes(&got))
	r.in(uapi.AttrUHWIn, in)
	r.out(uapi.AttrUHWOut, out)
	if err := cq.context.call(r); err != nil {
		return provider.Created{Handle: noHandle}, err
	}
	return provider.Created{Handle: uint32(createdHandle(handle)), CQE: got}, nil
}

// Entries returns the queue capacity.
func (cq *CQ) Entries() int {
	cq.lock.Lock()
	defer cq.lock.Unlock()
	return cq.capacity
}

// Resize changes the queue capacity to at least a number of entries. It keeps the
// completions in the queue. A driver without support returns ErrUnsupported.
func (cq *CQ) Resize(entries int) error {
	op := fmt.Sprintf("resize CQ to %d entries", entries)
	cq.lock.Lock()
	defer cq.lock.Unlock()
	if cq.queue == nil {
		return closedError(op, cq.context.name)
	}
	queue, ok := cq.queue.(provider.Resizer)
	switch {
	case !ok:
		return fmt.Errorf("%s of %s: %w", op, cq.context.name, ErrUnsupported)
	case entries < 1 || entries > math.MaxInt32:
		return fmt.Errorf("%s of %s: %w", op, cq.context.name, unix.EINVAL)
	}
	core := uapi.ResizeCQ{CQHandle: cq.handle, CQE: uint32(entries)}
	rounder, rounds := cq.context.provider.(provider.CQRounder)
	if rounds {
		core.CQE = rounder.RoundCQ(uint32(entries))
	}
	var resp uapi.ResizeCQResp
	err := queue.Resize(uint32(entries), func(in []byte) (uint32, error) {
		err := cq.invoke(op, uapi.CmdResizeCQ, uapi.Bytes(&core), uapi.Bytes(&resp), in, nil)
		return resp.CQE, err
	})
	switch {
	case err == nil && rounds:
		cq.capacity = entries
	case err == nil:
		cq.capacity = int(resp.CQE)
	}
	return err
}

// Moderate delays an armed queue's events until it has a number of new completions, or for a
// period after the first completion. Zeros end the moderation. A device's limits are
// DeviceAttr.CQModeration; a driver without support returns ErrUnsupported.
func (cq *CQ) Moderate(count uint16, period time.Duration) error {
	op := fmt.Sprintf("moderate CQ to %d completions or %v", count, period)
	micros := period.Microseconds()
	if micros < 0 || micros > math.MaxUint16 {
		return fmt.Errorf("%s of %s: %w", op, cq.context.name, unix.EINVAL)
	}
	cq.lock.Lock()
	defer cq.lock.Unlock()
	if cq.queue == nil {
		return closedError(op, cq.context.name)
	}
	core := uapi.ExModifyCQ{CQHandle: cq.handle, AttrMask: uapi.CQModerate, Count: count, Period: uint16(micros)}
	return cq.invoke(op, uapi.CmdExModifyCQ, uapi.Bytes(&core), nil, nil, nil)
}

// Poll removes completions from the queue, as many as are available and fit, and
// returns their number. It does not block, call the kernel or allocate. It returns 0
// while another goroutine uses the queue.
func (cq *CQ) Poll(into []Completion) (int, error) {
	if !cq.lock.TryLock() {
		return 0, nil
	}
	if cq.queue == nil {
		cq.lock.Unlock()
		return 0, closedError("poll CQ", cq.context.name)
	}
	n, err := cq.queue.Poll(into)
	cq.lock.Unlock()
	return n, err
}

// poll is Poll with the lock held.
func (cq *CQ) poll(into []Completion) (int, error) {
	if cq.queue == nil {
		return 0, closedError("poll CQ", cq.context.name)
	}
	return cq.queue.Poll(into)
}

// pollLocked is Poll, but waits for other goroutines that use the queue.
func (cq *CQ) pollLocked(into []Completion) (int, error) {
	cq.lock.Lock()
	defer cq.lock.Unlock()
	return cq.poll(into)
}

// Arm requests an event on the channel for the next completion, or for the next
// solicited completion. Completions that arrived before Arm cause no event: poll once more
// after Arm, then wait.
func (cq *CQ) Arm(solicitedOnly bool) error {
	cq.lock.Lock()
	defer cq.lock.Unlock()
	if cq.queue == nil {
		return closedError("arm CQ", cq.context.name)
	}
	return cq.queue.Arm(solicitedOnly)
}

// Wait polls the queue and, while it is empty, waits for an event on its channel.
// The channel must have no other queue: Wait discards other queues' events.
// The queue's Close ends the wait.
func (cq *CQ) Wait(ctx context.Context, into []Completion) (int, error) {
	if cq.channel == nil {
		return 0, fmt.Errorf("wait for %v: no completion channel", cq)
	}
	for {
		if n, err := cq.pollLocked(into); n > 0 || err != nil {
			return n, err
		}
		if err := cq.Arm(false); err != nil {
			return 0, err
		}
		if n, err := cq.pollLocked(into); n > 0 || err != nil {
			return n, err
		}
		if _, err := cq.channel.next(ctx, cq); err != nil {
			return 0, err
		}
	}
}

// Close destroys the queue. It returns ErrBusy while queue pairs use the queue, and
// fs.ErrClosed if it is closed already.
func (cq *CQ) Close() error {
	cq.lock.Lock()
	defer cq.lock.Unlock()
	return cq.close(cq.destroyCQ, cq.finish)
}

func (cq *CQ) destroyCQ() error {
	var resp uapi.DestroyCQResp
	return cq.destroy(uapi.MethodCQDestroy, uapi.AttrDestroyCQHandle, uapi.AttrDestroyCQResp, uapi.Bytes(&resp))
}

// finish releases the provider's queue. The caller holds cq.lock.
func (cq *CQ) finish() error {
	queue := cq.queue
	cq.queue = nil
	if cq.channel != nil {
		cq.channel.remove(cq)
	}
	return queue.Close()
}

// delivered informs the provider about an event.
func (cq *CQ) delivered() {
	cq.lock.Lock()
	defer cq.lock.Unlock()
	if cq.queue != nil {
		cq.queue.Delivered()
	}
}

// isClosed reports whether the queue was closed.
func (cq *CQ) isClosed() bool {
	cq.lock.Lock()
	defer cq.lock.Unlock()
	return cq.queue == nil
}
