package pvrdma

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A qp is a queue pair. Both rings' counts are in the first page in the send queue's
// memory.
type qp struct {
	device         *device
	sent           *dmamem.Memory
	received       *dmamem.Memory // nil with a shared receive queue
	send           sendQueue
	recv           receiveQueue
	sendCQ, recvCQ *cq
	number, handle uint32
	capacity       provider.QPCap
}

// NewQP creates a queue pair with a RoundQP capacity.
func (d *device) NewQP(attr provider.QPAttr, create provider.Create) (provider.QP, error) {
	if int(attr.Transport) >= len(allowed) || allowed[attr.Transport] == 0 {
		return nil, fmt.Errorf("queue pair of transport %d: %w", attr.Transport, provider.ErrOpcode)
	}
	q := &qp{device: d, sendCQ: attr.SendCQ.(*cq), recvCQ: attr.RecvCQ.(*cq), capacity: attr.Cap}
	q.send.transport, q.send.maxSGE = attr.Transport, int(attr.Cap.MaxSendSGE)
	if attr.SignalAll {
		q.send.flags = provider.SendSignaled
	}
	var err error
	if q.send.ring, q.sent, err = d.newRing(attr.Cap.MaxSendWR, sendStride(attr.Cap.MaxSendSGE), os.Getpagesize()); err != nil {
		return nil, err
	}
	state := stateOf(q.sent)
	q.send.state = &state.TX
	in := uapi.PVRDMACreateQP{SBufAddr: q.sent.Addr(), SBufSize: uint32(q.sent.Len())}
	if attr.SRQ == nil {
		q.recv.maxSGE = int(attr.Cap.MaxRecvSGE)
		if q.recv.ring, q.received, err = d.newRing(attr.Cap.MaxRecvWR, recvStride(attr.Cap.MaxRecvSGE), 0); err != nil {
			return nil, closing(err, q.sent)
		}
		q.recv.state = &state.RX
		in.RBufAddr, in.RBufSize = q.received.Addr(), uint32(q.received.Len())
	} else {
		q.capacity.MaxRecvWR, q.capacity.MaxRecvSGE = 0, 0
	}
	var resp uapi.PVRDMACreateQPResp
	created, err := create(uapi.Bytes(&in), uapi.Bytes(&resp))
	if err != nil {
		return nil, closing(err, q.sent, q.received)
	}
	q.number, q.handle = created.Number, cmp.Or(resp.QPHandle, created.Number)
	if !d.queues[uint16(q.handle)].CompareAndSwap(nil, q) {
		return q, fmt.Errorf("queue pair: handle %#x is in use: %w", q.handle, provider.ErrCorrupt)
	}
	return q, nil
}

// Cap returns the capacity; the kernel returns a part.
func (q *qp) Cap() provider.QPCap { return q.capacity }

// PostSend fills the ring and writes to the doorbell once.
func (q *qp) PostSend(wrs []provider.SendWR) (int, error) {
	n, err := q.send.post(wrs)
	if n > 0 {
		q.device.ring(uapi.PVRDMAUARQP, q.handle|uapi.PVRDMAUARQPSend)
	}
	return n, err
}

// PostRecv fills the ring and writes to the doorbell once.
func (q *qp) PostRecv(wrs []provider.RecvWR) (int, error) {
	n, err := q.recv.post(wrs)
	if n > 0 {
		q.device.ring(uapi.PVRDMAUARQP, q.handle|uapi.PVRDMAUARQPRecv)
	}
	return n, err
}

// Reset discards all work requests and their completions.
func (q *qp) Reset() {
	q.purge()
	q.send.reset()
	if q.received != nil {
		q.recv.reset()
	}
}

// purge removes the queue pair's completions.
func (q *qp) purge() {
	q.sendCQ.purge(q)
	if q.recvCQ != q.sendCQ {
		q.recvCQ.purge(q)
	}
}

// Close removes the completions, because another queue pair may get the handle.
func (q *qp) Close() error {
	// Otherwise the handle belongs to another queue pair.
	if entry := &q.device.queues[uint16(q.handle)]; entry.Load() == q {
		q.purge()
		entry.Store(nil)
	}
	err := q.sent.Close()
	if q.received != nil {
		err = errors.Join(err, q.received.Close())
	}
	return err
}
