package verbs

import (
	"context"
	"fmt"
	"math"
	"sync"

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

// CQInit is a completion queue to be made.
type CQInit struct {
	// Entries is how many completions it has to hold at least. Where more come
	// the queue is broken for good: as many as there are work requests is enough.
	Entries int

	Channel *CompChannel // that tells of new completions; may be nil
	Vector  uint32       // less than Context.CompVectors
}

// CreateCQ makes a completion queue.
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
	if err := c.makeEvents(); err != nil {
		return nil, err
	}
	o, err := c.newObject(op, uapi.ObjectCQ, parents...)
	if err != nil {
		return nil, err
	}
	cq := &CQ{object: o, channel: init.Channel}
	cq.queue, err = c.provider.NewCQ(func(in, out []byte) (provider.Created, error) {
		made, err := cq.create(op, init, in, out)
		cq.handle, cq.capacity = made.Handle, int(made.CQE)
		return made, err
	})
	if err != nil {
		return nil, cq.fail(cq.destroyCQ, c.limit("CQs", err,
			demand{"entries of a CQ", uint64(max(init.Entries, 0)), func(d DeviceAttr) uint64 { return uint64(d.MaxCQE) }}))
	}
	if cq.channel != nil {
		cq.channel.lock.Lock()
		cq.channel.cqs[cq.id] = cq
		cq.channel.lock.Unlock()
	}
	return register(&cq.object, cq), nil
}

// create is the kernel's part.
func (cq *CQ) create(op string, init CQInit, in, out []byte) (provider.Created, error) {
	entries, got := uint32(init.Entries), uint32(0)
	r := newRequest(op, uapi.ObjectCQ, uapi.MethodCQCreate)
	handle := r.handle(uapi.AttrCreateCQHandle, 0)
	r.in(uapi.AttrCreateCQCQE, bytesOf(&entries))
	r.in(uapi.AttrCreateCQUserHandle, bytesOf(&cq.id))
	if init.Channel != nil {
		r.fd(uapi.AttrCreateCQCompChannel, int(init.Channel.handle))
	}
	r.in(uapi.AttrCreateCQCompVector, bytesOf(&init.Vector))
	r.out(uapi.AttrCreateCQRespCQE, bytesOf(&got))
	r.in(uapi.AttrUHWIn, in)
	r.out(uapi.AttrUHWOut, out)
	if err := cq.context.call(r); err != nil {
		return provider.Created{Handle: noHandle}, err
	}
	return provider.Created{Handle: uint32(createdHandle(handle)), CQE: got}, nil
}

// Entries returns how many completions the queue holds.
func (cq *CQ) Entries() int { return cq.capacity }

// Poll takes as many completions as there are and fit, without a wait, a system
// call or an allocation.
func (cq *CQ) Poll(into []Completion) (int, error) {
	cq.lock.Lock()
	if cq.queue == nil {
		cq.lock.Unlock()
		return 0, closedError("poll CQ", cq.context.name)
	}
	n, err := cq.queue.Poll(into)
	cq.lock.Unlock()
	return n, err
}

// Arm has the next completion, or the next solicited one, show in the channel.
// Completions from before Arm do not: poll once more after it, then wait.
func (cq *CQ) Arm(solicitedOnly bool) error {
	cq.lock.Lock()
	defer cq.lock.Unlock()
	if cq.queue == nil {
		return closedError("arm CQ", cq.context.name)
	}
	return cq.queue.Arm(solicitedOnly)
}

// Wait is Poll that waits, by the queue's channel, until there is a completion. The
// channel must have no other queue, for its events would be lost. Close of the queue
// ends it.
func (cq *CQ) Wait(ctx context.Context, into []Completion) (int, error) {
	if cq.channel == nil {
		return 0, fmt.Errorf("wait for %v: it has no completion channel", cq)
	}
	for {
		if n, err := cq.Poll(into); n > 0 || err != nil {
			return n, err
		}
		if err := cq.Arm(false); err != nil {
			return 0, err
		}
		if n, err := cq.Poll(into); n > 0 || err != nil {
			return n, err
		}
		if _, err := cq.channel.next(ctx, cq); err != nil {
			return 0, err
		}
	}
}

// Close destroys the queue. While queue pairs use it that is ErrBusy; a second
// Close is an error.
func (cq *CQ) Close() error {
	cq.lock.Lock()
	defer cq.lock.Unlock()
	return cq.close(cq.destroyCQ, cq.finish)
}

func (cq *CQ) destroyCQ() error {
	var resp uapi.DestroyCQResp
	return cq.destroy(uapi.MethodCQDestroy, uapi.AttrDestroyCQHandle, uapi.AttrDestroyCQResp, bytesOf(&resp))
}

// finish frees what is not the kernel's. The lock is held.
func (cq *CQ) finish() error {
	queue := cq.queue
	cq.queue = nil
	if cq.channel != nil {
		cq.channel.remove(cq)
	}
	return queue.Close()
}

// isClosed tells whether the queue was closed.
func (cq *CQ) isClosed() bool {
	cq.lock.Lock()
	defer cq.lock.Unlock()
	return cq.queue == nil
}
