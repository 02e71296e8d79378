package irdma

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A qp is a queue pair. Both rings are in the same memory.
type qp struct {
	device         *device
	memory         memory
	context        uint64 // in completions
	number         uint32
	capacity       provider.QPCap
	send           sendQueue
	recv           receiveQueue
	srq            *srq
	sendCQ, recvCQ *cq
}

// The capabilities in the response (user.h, enum irdma_qp_caps).
const (
	capWriteImm = 1 << 0
	capSendImm  = 1 << 1
	capRoCE     = 1 << 2
)

// NewQP creates a queue pair with a RoundQP capacity.
func (d *device) NewQP(attr provider.QPAttr, create provider.Create) (provider.QP, error) {
	if attr.Transport != provider.RC && attr.Transport != provider.UD {
		return nil, fmt.Errorf("queue pair of transport %d: %w", attr.Transport, provider.ErrOpcode)
	}
	send, receive, err := d.queueSizes(attr.Cap)
	if err != nil {
		return nil, err
	}
	if err := d.ensurePage(); err != nil {
		return nil, err
	}
	sendSize, receiveSize := pages(send, quantumSize), pages(receive, quantumSize)
	q := &qp{device: d, sendCQ: attr.SendCQ.(*cq), recvCQ: attr.RecvCQ.(*cq), capacity: attr.Cap}
	q.memory, err = d.newMemory(sendSize+receiveSize+shadowSize, uapi.IRDMAMemRegReq{
		RegType: uapi.IRDMARegQP, SQPages: uint16(sendSize / pageSize), RQPages: uint16(receiveSize / pageSize),
	})
	if err != nil {
		return nil, err
	}
	q.layOut(attr, send, receive, sendSize)
	index, err := d.queues.Add(q, maxQueues)
	if err != nil {
		return nil, errors.Join(err, q.memory.Close())
	}
	q.context = index + 1
	in := uapi.IRDMACreateQP{UserWQEBufs: q.memory.Addr(), UserComplCtx: q.context}
	var resp uapi.IRDMACreateQPResp
	if _, err := create(uapi.Bytes(&in), uapi.Bytes(&resp)); err != nil {
		d.queues.Remove(index)
		return nil, errors.Join(err, q.memory.Close())
	}
	q.number = resp.QPID
	q.accept(attr.Transport, resp)
	if entries := send >> d.sendShift(attr.Cap); resp.ActualSQSize != entries || resp.ActualRQSize != q.recv.size {
		return q, fmt.Errorf("queue pair: got %d and %d work requests, want %d and %d: %w", resp.ActualSQSize, resp.ActualRQSize, entries, q.recv.size, provider.ErrCorrupt)
	}
	return q, nil
}

// queueSizes returns the ring sizes in quanta for a RoundQP capacity: older drivers have
// them in the command.
func (d *device) queueSizes(c provider.QPCap) (send, receive uint32, err error) {
	send, receive, err = d.depths(c)
	if d.raw {
		return send, receive, err
	}
	send, receive = c.MaxSendWR<<d.sendShift(c), c.MaxRecvWR<<d.receiveShift(c.MaxRecvSGE)
	if send&(send-1) != 0 || receive&(receive-1) != 0 || send <= sendReserved || receive == 0 || send > d.limits.MaxHWWQQuanta || receive > d.limits.MaxHWRQQuanta {
		_, _, err = d.depths(c)
		if err == nil {
			err = fmt.Errorf("queue pair of %d and %d quanta: %w", send, receive, provider.ErrCorrupt)
		}
		return 0, 0, err
	}
	return send, receive, nil
}

// layOut divides the memory.
func (q *qp) layOut(attr provider.QPAttr, send, receive uint32, sendSize int) {
	d, c := q.device, attr.Cap
	sendShift, shift := d.sendShift(c), d.receiveShift(c.MaxRecvSGE)
	s := &q.send
	s.ring, s.slots = q.memory.quanta(0, send), make([]slot, send)
	s.generation, s.chunk = d.limits.HWRev, uint32(d.limits.MaxHWSQChunk)
	s.maxSGE, s.maxRead, s.maxInline, s.ud = int(c.MaxSendSGE), int(d.limits.MaxHWReadSGEs), int(c.MaxInline), attr.Transport == provider.UD
	if attr.SignalAll {
		s.flags = provider.SendSignaled
	}
	r := &q.recv
	r.ring, r.size, r.shift = q.memory.quanta(sendSize, receive), receive>>shift, shift
	r.generation, r.maxSGE = d.limits.HWRev, int(c.MaxRecvSGE)
	r.ids = make([]uint64, r.size)
	q.capacity.MaxSendWR, q.capacity.MaxRecvWR = (send-sendReserved)>>sendShift, (receive-receiveReserved)>>shift
	if attr.SRQ != nil {
		q.srq = attr.SRQ.(*srq)
		q.capacity.MaxRecvWR, q.capacity.MaxRecvSGE = 0, 0
	}
}

// accept stores the operations that the response allows.
func (q *qp) accept(t provider.Transport, resp uapi.IRDMACreateQPResp) {
	s := &q.send
	s.allowed = 1 << provider.OpSend
	if resp.QPCaps&capSendImm != 0 {
		s.allowed |= 1 << provider.OpSendWithImm
	}
	if t == provider.UD {
		return
	}
	s.allowed |= 1<<provider.OpWrite | 1<<provider.OpRead | 1<<provider.OpSendInvalidate | 1<<provider.OpLocalInvalidate | 1<<provider.OpBindMW
	if resp.QPCaps&capWriteImm != 0 {
		s.allowed |= 1 << provider.OpWriteWithImm
	}
	if q.device.has(featureAtomics) {
		s.allowed |= 1<<provider.OpCompareSwap | 1<<provider.OpFetchAdd
	}
	s.start = connectionRequests(q.device, resp)
	s.head = s.start
	s.posted.Store(s.start)
	s.tail.Store(s.start)
}

// connectionRequests returns the work requests at the ring's start that the driver uses to
// set up a connection of iWARP (uk.c, irdma_setup_connection_wqes).
func connectionRequests(d *device, resp uapi.IRDMACreateQPResp) uint32 {
	switch {
	case resp.LSMM == 0:
		return 0
	case d.has(featureRTSEvent):
		return 3
	}
	return 1
}

// Cap returns the capacity.
func (q *qp) Cap() provider.QPCap { return q.capacity }

// PostSend fills the ring and writes to the doorbell once.
func (q *qp) PostSend(wrs []provider.SendWR) (int, error) {
	n, err := q.send.post(wrs)
	if n > 0 {
		q.device.ring(bellQP, q.number)
	}
	return n, err
}

// PostRecv fills the ring.
func (q *qp) PostRecv(wrs []provider.RecvWR) (int, error) {
	if q.srq != nil {
		return 0, provider.ErrFull
	}
	return q.recv.post(wrs)
}

// Flush completes the work requests of a queue pair that changed to the error state: the
// adapter completes none that is posted later.
func (q *qp) Flush() {
	q.recvCQ.flush(work{q, true})
	q.sendCQ.flush(work{q, false})
}

// Reset discards all work requests and their completions.
func (q *qp) Reset() {
	q.purge()
	q.send.reset()
	q.recv.reset()
}

// purge removes the queue pair's completions.
func (q *qp) purge() {
	q.sendCQ.purge(q)
	if q.recvCQ != q.sendCQ {
		q.recvCQ.purge(q)
	}
}

// Close removes the completions, because another queue pair may get the context.
func (q *qp) Close() error {
	q.purge()
	q.device.queues.Remove(q.context - 1)
	return q.memory.Close()
}
