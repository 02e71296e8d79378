package mlx5

import (
	"sync/atomic"

	"github.com/ibkit/ibkit/verbs/provider"
)

// A receiveQueue is the ring of receive work requests of a queue pair. Posting and
// polling may be concurrent.
type receiveQueue struct {
	ring   []byte
	stride int // bytes
	maxSGE int
	ids    []uint64
	head   uint32 // work requests ever posted
	tail   atomic.Uint32
}

// recvSizes returns the stride and the number of entries of a receive queue, both powers
// of two. The queue has at least 64 bytes (verbs.c, mlx5_calc_rq_size).
func recvSizes(c provider.QPCap) (stride, count uint32) {
	stride = roundUp(segmentSize * max(c.MaxRecvSGE, 1))
	return stride, max(roundUp(c.MaxRecvWR), blockSize/stride)
}

// post writes work requests and returns their number.
func (q *receiveQueue) post(wrs []provider.RecvWR) (n int, err error) {
	for n < len(wrs) {
		if err = checkRecv(wrs[n].SGEs, q.maxSGE); err != nil {
			return n, err
		}
		if q.head-q.tail.Load() >= uint32(len(q.ids)) {
			return n, provider.ErrFull
		}
		i := int(q.head & uint32(len(q.ids)-1))
		putList(q.ring[i*q.stride:(i+1)*q.stride], wrs[n].SGEs)
		q.ids[i] = wrs[n].ID
		q.head++
		n++
	}
	return n, nil
}

// checkRecv rejects lists that the queue has no room for.
func checkRecv(sges []provider.SGE, limit int) error {
	if len(sges) > limit {
		return provider.ErrSGEs
	}
	_, err := provider.Length(sges, maxMessage)
	return err
}

// putList writes the data segments of a receive work request, and the end of the list if
// there is room for it.
func putList(into []byte, sges []provider.SGE) {
	w := writer{ring: into}
	w.data(sges)
	if w.size < len(into) {
		putSGE(w.segment(), 0, endKey, 0)
	}
}

// retire frees a completed work request and returns its ID.
func (q *receiveQueue) retire(counter uint16) uint64 {
	q.tail.Add(1)
	return q.ids[uint32(counter)&uint32(len(q.ids)-1)]
}

// reset discards all work requests.
func (q *receiveQueue) reset() {
	q.head = 0
	q.tail.Store(0)
}
