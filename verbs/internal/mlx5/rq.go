package mlx5

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A receiveQueue is a queue pair's receive work request ring. Posting and
// polling may be concurrent.
type receiveQueue struct {
	ring   []byte
	stride int // bytes
	maxSGE int
	ids    []uint64
	head   uint32 // work requests ever posted
	tail   atomic.Uint32
}

// recvSizes returns a receive queue's stride and entry count, both powers of
// 2. The queue has at least 64 bytes (verbs.c, mlx5_calc_rq_size).
func recvSizes(c provider.QPCap) (stride, count uint32) {
	stride = queue.RoundUp(segmentSize * max(c.MaxRecvSGE, 1))
	return stride, max(queue.RoundUp(c.MaxRecvWR), blockSize/stride)
}

// checkReceive checks the receive work request size. The stride for more SGEs than a
// work request can have may have overflowed.
func (d *device) checkReceive(maxSGE, stride uint32) error {
	if maxSGE > maxSegments || stride > uint32(d.limits.MaxRQDescSize) {
		return fmt.Errorf("receive work request of %d SGEs, the adapter has up to %d bytes: %w", maxSGE, d.limits.MaxRQDescSize, unix.EINVAL)
	}
	return nil
}

// post writes the work requests from index n, the first that direct has not written,
// and returns the written request count.
func (q *receiveQueue) post(wrs []provider.RecvWR, n int) (int, error) {
	for n < len(wrs) {
		if q.head-q.tail.Load() == uint32(len(q.ids)) {
			return n, provider.ErrFull
		}
		i := int(q.head) & (len(q.ids) - 1)
		if err := putList(q.ring[i*q.stride:(i+1)*q.stride], wrs[n].SGEs, q.maxSGE); err != nil {
			return n, err
		}
		q.ids[i] = wrs[n].ID
		q.head++
		n += 1 + q.direct(wrs[n+1:])
	}
	return n, nil
}

// direct writes work requests with 1 SGE to a queue of such work requests. It returns their
// number and stops at the first other work request.
func (q *receiveQueue) direct(wrs []provider.RecvWR) int {
	if q.stride != segmentSize {
		return 0
	}
	ids, entries := q.ids, unsafe.Slice((*[2]uint64)(unsafe.Pointer(unsafe.SliceData(q.ring))), len(q.ids))
	head, mask := q.head, uint32(len(ids)-1)
	if free := uint32(len(ids)) - (head - q.tail.Load()); uint64(len(wrs)) > uint64(free) {
		wrs = wrs[:free]
	}
	n := 0
	for ; n < len(wrs); n++ {
		wr := &wrs[n]
		if len(wr.SGEs) != 1 || wr.SGEs[0].Length-1 >= maxMessage { // 0 has no segment
			break
		}
		s, i := &wr.SGEs[0], head&mask
		ids[i] = wr.ID
		e := &entries[i]
		e[0], e[1] = wire64(uint64(s.Length)<<32|uint64(s.LKey)), wire64(s.Addr)
		head++
	}
	q.head = head
	return n
}

// putList writes a receive work request's data segments, and the list end if
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
