package rxe

import (
	"errors"

	"github.com/ibkit/ibkit/verbs/provider"
)

// A qp is a queue pair.
type qp struct {
	device    provider.Device
	bell      provider.Doorbell
	sq        sendQueue
	rq        receiveQueue // without memory where there is a SRQ
	dedicated bool         // see provider.QPAttr
}

// PostSend fills the ring and rings the doorbell once.
func (q *qp) PostSend(wrs []provider.SendWR) (int, error) {
	n, bytes, err := q.sq.post(wrs)
	if n > 0 {
		if e := q.bell.Ring(q.dedicated || bytes <= brief && n <= briefCount); e != nil {
			return n, errors.Join(e, err)
		}
	}
	return n, err
}

// So much of messages Soft-RoCE up to Linux 6.10 sends within the doorbell in some
// tens of microseconds. Newer ones leave that to another thread.
const (
	brief      = 8 << 10 // bytes
	briefCount = 8
)

// PostRecv fills the ring.
func (q *qp) PostRecv(wrs []provider.RecvWR) (int, error) { return q.rq.post(wrs) }

// Reset does nothing: the kernel has emptied both rings, by its own indices
// (rxe_qp.c, rxe_qp_reset), and goes on from there.
func (q *qp) Reset() {}

// Close unmaps the rings.
func (q *qp) Close() error {
	return errors.Join(unmap(q.device, q.sq.ring), unmap(q.device, q.rq.ring))
}

// unmap unmaps a ring that was mapped.
func unmap(d provider.Device, r ring) error {
	if r.memory == nil {
		return nil
	}
	return d.Unmap(r.memory)
}

// A srq is a shared receive queue.
type srq struct {
	device provider.Device
	queue  receiveQueue
}

// PostRecv fills the ring.
func (q *srq) PostRecv(wrs []provider.RecvWR) (int, error) { return q.queue.post(wrs) }

// ModifyIn is a struct rxe_modify_srq_cmd: where the kernel writes of a ring that
// it made anew, which a change of the limit does not.
func (q *srq) ModifyIn() []byte { return make([]byte, 8) }

// Close unmaps the ring.
func (q *srq) Close() error { return unmap(q.device, q.queue.ring) }
