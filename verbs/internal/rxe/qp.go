package rxe

import (
	"errors"

	"github.com/ibkit/ibkit/verbs/provider"
)

// A qp is a queue pair.
type qp struct {
	device   provider.Device
	bell     provider.Doorbell
	sq       sendQueue
	rq       receiveQueue // without memory if the queue pair uses an SRQ
	capacity provider.QPCap
}

// Cap returns the capacity that the kernel has reported.
func (q *qp) Cap() provider.QPCap { return q.capacity }

// PostSend fills the ring and rings the doorbell once. A single usual work request, the
// case in a latency test, has its own path: 131 instructions, not 210.
func (q *qp) PostSend(wrs []provider.SendWR) (int, error) {
	if len(wrs) == 1 && q.sq.isUsual(&wrs[0]) {
		length, err := q.sq.direct(&wrs[0])
		if err != nil {
			return 0, err
		}
		q.sq.ring.publish()
		return 1, q.bell.Ring(length <= briefBytes)
	}
	n, bytes, err := q.sq.post(wrs)
	if n > 0 {
		if e := q.bell.Ring(bytes <= briefBytes && n <= briefMessages); e != nil {
			return n, errors.Join(e, err)
		}
	}
	return n, err
}

// The brief doorbell limits. Soft-RoCE up to Linux 6.10 sends so much within the
// doorbell within tens of microseconds. Later kernels send in another thread.
const (
	briefBytes    = 8 << 10 // bytes
	briefMessages = 8
)

// PostRecv fills the ring.
func (q *qp) PostRecv(wrs []provider.RecvWR) (int, error) { return q.rq.post(wrs) }

// Reset does nothing: the kernel has emptied both rings by its own indices
// (rxe_qp.c, rxe_qp_reset) and continues from there.
func (q *qp) Reset() {}

// Close unmaps the rings.
func (q *qp) Close() error {
	return errors.Join(unmap(q.device, q.sq.ring), unmap(q.device, q.rq.ring))
}

// unmap unmaps a ring unless it is empty.
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

// ModifyIn returns a struct rxe_modify_srq_cmd: the address at which the kernel
// describes a new ring. A limit change creates no ring.
func (q *srq) ModifyIn() []byte { return make([]byte, 8) }

// Close unmaps the ring.
func (q *srq) Close() error { return unmap(q.device, q.queue.ring) }
