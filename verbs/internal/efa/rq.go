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

// post writes work requests and returns their number. The register gets the number of all
// descriptors so far.
func (q *receiveQueue) post(wrs []provider.RecvWR) (n int, err error) {
	for {
		if n += q.direct(wrs[n:]); n == len(wrs) {
			break
		}
		if err = q.fill(&wrs[n]); err != nil {
			break
		}
		n++
	}
	if n > 0 {
		mmio.FencedStore32(q.bell, mmio.LE32(q.head&math.MaxUint16))
	}
	return n, err
}

// direct writes the usual work requests, with a single SGE, up to another kind, and
// returns their number.
func (q *receiveQueue) direct(wrs []provider.RecvWR) int {
	if q.maxSGE < 1 {
		return 0
	}
	head, taken, returned := q.head, q.free.taken, q.free.returned.Load()
	for i := range wrs {
		wr := &wrs[i]
		if len(wr.SGEs) != 1 || taken == returned {
			break
		}
		id := q.free.ids[taken&uint32(len(q.free.ids)-1)]
		taken++
		q.slots[id] = received{wr.ID, true}
		s := &wr.SGEs[0]
		q.ring[head&uint32(len(q.ring)-1)] = descriptor{mmio.LE64(s.Addr), mmio.LE64(uint64(id|q.generation) |
			uint64(min(s.Length, math.MaxUint16))<<16 | uint64(s.LKey&keyMask|receiveFirst|receiveLast)<<32)}
		head++
	}
	n := int(head - q.head)
	q.head, q.free.taken = head, taken
	return n
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
