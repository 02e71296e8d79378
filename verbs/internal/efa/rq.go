package efa

import (
	"math"
	"unsafe"

	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// The bits in a descriptor's last four bytes (efa_io_defs.h, struct efa_io_rx_desc).
const (
	receiveFirst = 1 << 30
	receiveLast  = 1 << 31
)

// A descriptor is a part of a receive work request: an SGE. Words have the adapter's byte
// order.
type descriptor [receiveSize / 8]uint64

// A received is a posted receive work request, by its request ID.
type received struct {
	id     uint64
	posted bool
}

// A receiveQueue is a ring of descriptors.
type receiveQueue struct {
	ring       []descriptor // a power of 2; nil: the queue pair receives no messages
	bell       unsafe.Pointer
	free       pool
	slots      []received
	head       uint32 // in descriptors; counts run freely
	generation uint16
	maxSGE     int
}

// reset discards all work requests.
func (q *receiveQueue) reset() {
	q.head = 0
	q.free.reset(uint32(len(q.slots)))
	clear(q.slots)
}

// mask are the bits of an ID in a request ID.
func (q *receiveQueue) mask() uint16 { return uint16(len(q.free.ids) - 1) }

// PostRecv writes work requests and returns their number. The register gets the number of all
// descriptors so far. The first work requests are usually all: they have a single SGE, and are
// written in a loop without calls.
func (q *qp) PostRecv(wrs []provider.RecvWR) (n int, err error) {
	r := &q.recv
	head, taken, returned := r.head, r.free.taken, r.free.returned.Load()
	for ; n < len(wrs) && len(wrs[n].SGEs) == 1 && r.maxSGE > 0 && taken != returned; n++ {
		id := r.free.ids[taken&uint32(len(r.free.ids)-1)]
		taken++
		r.slots[id] = received{wrs[n].ID, true}
		sge := &wrs[n].SGEs[0]
		r.ring[head&uint32(len(r.ring)-1)] = descriptor{mmio.LE64(sge.Addr), mmio.LE64(uint64(id|r.generation) |
			uint64(min(sge.Length, math.MaxUint16))<<16 | uint64(sge.LKey&keyMask|receiveFirst|receiveLast)<<32)}
		head++
	}
	r.head, r.free.taken = head, taken
	for ; n < len(wrs); n++ {
		if err = r.fill(&wrs[n]); err != nil {
			break
		}
	}
	if n > 0 {
		mmio.DeviceBarrier()
		mmio.Store32(r.bell, mmio.LE32(r.head&math.MaxUint16))
	}
	return n, err
}

// fill writes a work request. Without SGEs, it has an empty descriptor.
func (q *receiveQueue) fill(wr *provider.RecvWR) error {
	switch {
	case len(wr.SGEs) > q.maxSGE:
		return provider.ErrSGEs
	case len(q.slots) == 0 || q.free.empty():
		return provider.ErrFull
	}
	id := q.free.take()
	q.slots[id] = received{wr.ID, true}
	sges := wr.SGEs
	if len(sges) == 0 {
		sges = make([]provider.SGE, 1)
	}
	word := uint64(id|q.generation) | receiveFirst<<32
	for i := range sges {
		s := &sges[i]
		if i == len(sges)-1 {
			word |= receiveLast << 32
		}
		word |= uint64(min(s.Length, math.MaxUint16))<<16 | uint64(s.LKey&keyMask)<<32
		q.ring[q.head&uint32(len(q.ring)-1)] = descriptor{mmio.LE64(s.Addr), mmio.LE64(word)}
		q.head++
		word = 0
	}
	return nil
}
