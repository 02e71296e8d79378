package siw

import (
	"sync/atomic"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A receiveQueue is a queue pair's or an SRQ's receive work request ring. The
// kernel reads it when a message arrives, without a doorbell.
type receiveQueue struct {
	ring   ring[uapi.SIWRQE]
	maxSGE int
}

// post writes work requests into elements and returns their number.
func (q *receiveQueue) post(wrs []provider.RecvWR) (int, error) {
	for i := range wrs {
		if err := q.fill(&wrs[i]); err != nil {
			return i, err
		}
	}
	return len(wrs), nil
}

func (q *receiveQueue) fill(wr *provider.RecvWR) error {
	switch {
	case len(wr.SGEs) > q.maxSGE:
		return provider.ErrSGEs
	case q.ring.elements == nil:
		return provider.ErrFull
	}
	rqe := q.ring.at(q.ring.next)
	if atomic.LoadUint32(&rqe.Head)&validHead != 0 {
		return provider.ErrFull
	}
	if _, err := copySGEs(&rqe.SGE, wr.SGEs); err != nil {
		return err
	}
	rqe.ID = wr.ID
	atomic.StoreUint32(&rqe.Head, head(uapi.SIWValid, uint8(len(wr.SGEs)), 0))
	q.ring.next++
	return nil
}

// A srq is a shared receive queue.
type srq struct {
	device provider.Device
	queue  receiveQueue
}

// PostRecv fills the ring.
func (q *srq) PostRecv(wrs []provider.RecvWR) (int, error) { return q.queue.post(wrs) }

// ModifyIn returns nil: the driver reads no data.
func (q *srq) ModifyIn() []byte { return nil }

// Close unmaps the ring.
func (q *srq) Close() error { return q.queue.ring.unmap(q.device) }
