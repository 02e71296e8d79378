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
	free := uint32(len(q.ids)) - (q.head - q.tail.Load())
	for n < len(wrs) {
		wr := &wrs[n]
		if free == 0 {
			return n, provider.ErrFull
		}
		i := int(q.head) & (len(q.ids) - 1)
		if err = putList(q.ring[i*q.stride:(i+1)*q.stride], wr.SGEs, q.maxSGE); err != nil {
			return n, err
		}
		q.ids[i] = wr.ID
		q.head++
		free--
		n++
	}
	return n, nil
}

// putList writes the data segments of a receive work request, and the end of the list if
// there is room for it. It returns an error for a list that the queue has no room for; the
// entry is not posted then, and its contents do not matter.
func putList(into []byte, sges []provider.SGE, limit int) error {
	if len(sges) > limit {
		return provider.ErrSGEs
	}
	var sum uint64
	for i := range sges {
		s := &sges[i]
		if s.Length != 0 {
			sum += uint64(s.Length)
			putSGE((*[segmentSize]byte)(into), s.Length, s.LKey, s.Addr)
			into = into[segmentSize:]
		}
	}
	if len(into) >= segmentSize {
		putSGE((*[segmentSize]byte)(into), 0, endKey, 0)
	}
	if sum > maxMessage {
		return provider.ErrLength
	}
	return nil
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
