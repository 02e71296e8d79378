package irdma

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A receiveQueue is a receive work request ring. The adapter finds work requests by their
// valid bits, without a doorbell. Counts run freely.
type receiveQueue struct {
	ring       []quantum
	ids        []uint64 // by entry; nil for a shared queue, with IDs in the ring
	size       uint32   // entries, a power of 2
	shift      uint32   // log2 of an entry's quanta
	maxSGE     int
	generation uint8
	head       uint32
	posted     atomic.Uint32 // head for polling
	tail       atomic.Uint32
}

// reset discards all work requests.
func (q *receiveQueue) reset() {
	clear(q.ring)
	q.head = 0
	q.posted.Store(0)
	q.tail.Store(0)
}

// post writes work requests and returns their number.
func (q *receiveQueue) post(wrs []provider.RecvWR) (n int, err error) {
	for n < len(wrs) {
		if err = q.fill(&wrs[n]); err != nil {
			break
		}
		n++
	}
	if n > 0 {
		q.posted.Store(q.head)
	}
	return n, err
}

// fill writes a work request (uk.c, irdma_uk_post_receive). An entry stays free.
func (q *receiveQueue) fill(wr *provider.RecvWR) error {
	if len(wr.SGEs) > q.maxSGE {
		return provider.ErrSGEs
	}
	single := len(wr.SGEs) == 1 && wr.SGEs[0].Length <= maxMessage // the usual case
	if !single {
		if _, err := provider.Length(wr.SGEs, maxMessage); err != nil {
			return err
		}
	}
	if q.head-q.tail.Load() >= q.size-receiveReserved {
		return provider.ErrFull
	}
	entry := q.head & (q.size - 1)
	first := &q.ring[entry<<q.shift]
	valid := validAt(q.head, q.size)
	first[2] = 0
	if q.ids != nil {
		q.ids[entry] = wr.ID
	} else {
		first[2] = mmio.LE64(wr.ID)
	}
	h := valid
	if single {
		first[0], first[1] = fragment(wr.SGEs[0], q.generation == 1, valid)
	} else {
		h |= putFragments(q.ring[entry<<q.shift:][:1<<q.shift], wr.SGEs, q.generation, false, valid) << wqeFragments
	}
	q.head++
	mmio.StoreBarrier()
	provider.Store64(&first[3], mmio.LE64(h))
	return nil
}

// A srq is a shared receive queue. Posting and polling may be concurrent.
type srq struct {
	memory memory
	queue  receiveQueue
	shadow *shadow
}

// NewSRQ creates a shared receive queue.
func (d *device) NewSRQ(attr provider.SRQAttr, create provider.Create) (provider.SRQ, error) {
	switch {
	case attr.CQ != nil:
		return nil, fmt.Errorf("shared receive queue of XRC: %w", errors.ErrUnsupported)
	case !d.has(featureSRQ) || !d.has(featureLongCQE):
		return nil, fmt.Errorf("shared receive queue on an adapter of generation %d: %w", d.limits.HWRev, errors.ErrUnsupported)
	case attr.MaxSGE > d.limits.MaxHWWQFrags:
		return nil, provider.ErrSGEs
	}
	shift := d.receiveShift(attr.MaxSGE)
	depth, err := d.depth(attr.MaxWR, shift, receiveReserved, d.limits.MaxHWSRQQuanta)
	if err != nil {
		return nil, err
	}
	size := pages(depth, quantumSize)
	q := &srq{}
	if q.memory, err = d.newMemory(size+shadowSize, uapi.IRDMAMemRegReq{RegType: uapi.IRDMARegSRQ, RQPages: uint16(size / pageSize)}); err != nil {
		return nil, err
	}
	q.queue = receiveQueue{
		ring: q.memory.quanta(0, depth), size: depth >> shift, shift: shift, maxSGE: int(attr.MaxSGE), generation: d.limits.HWRev,
	}
	q.shadow = q.memory.shadow(size)
	in := uapi.IRDMACreateSRQ{UserSRQBuf: q.memory.Addr(), UserShadowArea: q.memory.Addr() + uint64(size)}
	var resp uapi.IRDMACreateSRQResp
	if _, err := create(uapi.Bytes(&in), uapi.Bytes(&resp)); err != nil {
		return nil, errors.Join(err, q.memory.Close())
	}
	if resp.SRQSize != q.queue.size {
		return q, fmt.Errorf("shared receive queue: got %d entries, want %d: %w", resp.SRQSize, q.queue.size, provider.ErrCorrupt)
	}
	return q, nil
}

// PostRecv fills the ring and stores its end in the shadow area.
func (q *srq) PostRecv(wrs []provider.RecvWR) (int, error) {
	n, err := q.queue.post(wrs)
	if n > 0 {
		mmio.StoreBarrier()
		provider.Store64(&q.shadow[0], mmio.LE64(uint64(q.queue.head&(q.queue.size-1))))
	}
	return n, err
}

// ModifyIn returns nil: the driver reads no data of its own.
func (q *srq) ModifyIn() []byte { return nil }

// Close releases the ring's memory.
func (q *srq) Close() error { return q.memory.Close() }
