package bnxt

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A srq is a shared receive queue. Its work requests have numbers, of which the free ones are
// used in the order in which they became free. Several completion queues free them.
type srq struct {
	device *device
	memory *dmamem.Memory
	ring   []slot
	next   uint32 // entry
	epoch  uint32
	maxSGE int
	number uint32
	toggle toggle

	lock sync.Mutex
	ids  []uint64 // by number
	busy []bool   // by number
	free []uint32 // a ring of free numbers, of which one is never used
	head uint32   // oldest free number
	tail uint32   // behind the newest
	used uint32

	limit uint32
	arm   bool // for the limit, as soon as more work requests are posted
}

// NewSRQ creates a shared receive queue.
func (d *device) NewSRQ(attr provider.SRQAttr, create provider.Create) (provider.SRQ, error) {
	switch {
	case attr.CQ != nil:
		return nil, fmt.Errorf("shared receive queue of XRC: %w", errors.ErrUnsupported)
	case attr.MaxWR >= maxSRQ:
		return nil, fmt.Errorf("shared receive queue of %d work requests, numbers have 20 bits: %w", attr.MaxWR, unix.EINVAL)
	case attr.MaxSGE > staticSGEs:
		return nil, provider.ErrSGEs
	}
	if err := d.ensurePage(); err != nil {
		return nil, err
	}
	entries := d.depth(attr.MaxWR + 1)
	memory, err := d.newMemory(d.pages(entries * staticSlots * slotSize))
	if err != nil {
		return nil, err
	}
	q := &srq{
		device: d, memory: memory, ring: view[slot](memory, 0, entries*staticSlots), maxSGE: int(attr.MaxSGE),
		ids: make([]uint64, entries), busy: make([]bool, entries), free: make([]uint32, entries),
	}
	for i := range q.free {
		q.free[i] = uint32(i)
	}
	in := uapi.BNXTSRQReq{SRQVA: memory.Addr(), SRQHandle: memory.Addr()}
	var resp uapi.BNXTSRQResp
	if _, err := create(uapi.Bytes(&in), uapi.Bytes(&resp)); err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	if q.number = resp.SRQID; q.number > numberMask {
		return q, fmt.Errorf("shared receive queue %#x, doorbells have 20 bits for it: %w", q.number, provider.ErrCorrupt)
	}
	if resp.CompMask&uapi.BNXTSRQToggle != 0 {
		err = q.toggle.open(d, uapi.BNXTToggleSRQ, q.number)
	}
	return q, err
}

// PostRecv fills the ring and writes to the doorbell once.
func (q *srq) PostRecv(wrs []provider.RecvWR) (n int, err error) {
	for ; n < len(wrs); n++ {
		wr := &wrs[n]
		if err = checkReceive(wr, q.maxSGE); err != nil {
			break
		}
		number, ok := q.take(wr.ID)
		if !ok {
			err = provider.ErrFull
			break
		}
		to := q.ring[q.next*staticSlots:][:staticSlots]
		clear(to)
		putReceive(to, wr, number, 0)
		if q.next++; q.next == uint32(len(q.free)) {
			q.next = 0
			q.epoch ^= 1
		}
	}
	if n > 0 {
		q.device.ring(bellSRQ, q.number, q.next|q.epoch<<bellEpoch)
		q.armLimit()
	}
	return n, err
}

// take returns a free number, and stores a work request's ID by it.
func (q *srq) take(id uint64) (number uint32, ok bool) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.used == uint32(len(q.free))-1 {
		return 0, false
	}
	number = q.free[q.head]
	if q.head++; q.head == uint32(len(q.free)) {
		q.head = 0
	}
	q.ids[number], q.busy[number] = id, true
	q.used++
	return number, true
}

// release frees a number and returns its work request's ID.
func (q *srq) release(number uint32) (id uint64, ok bool) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if int(number) >= len(q.busy) || !q.busy[number] {
		return 0, false
	}
	q.busy[number] = false
	q.free[q.tail] = number
	if q.tail++; q.tail == uint32(len(q.free)) {
		q.tail = 0
	}
	q.used--
	return q.ids[number], true
}

// ModifyIn returns nil: the driver reads no data of its own.
func (q *srq) ModifyIn() []byte { return nil }

// SetLimit arms the queue for the limit that the driver has, if more work requests are posted.
func (q *srq) SetLimit(limit uint32) {
	q.limit, q.arm = limit, true
	q.armLimit()
}

// armLimit writes to the doorbell for the limit, unless it is not requested or too few work
// requests are posted: then the event would come at once.
func (q *srq) armLimit() {
	if !q.arm {
		return
	}
	q.lock.Lock()
	used := q.used
	q.lock.Unlock()
	if used > q.limit {
		q.arm = false
		q.device.ring(bellSRQArm, q.number, q.limit|q.toggle.load())
	}
}

// Close releases the ring's memory.
func (q *srq) Close() error { return errors.Join(q.toggle.close(), q.memory.Close()) }
