package bnxt

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A qp is a queue pair. Both rings are in the same memory.
type qp struct {
	device         *device
	memory         *dmamem.Memory
	handle         uint64 // in completions
	number         uint32
	capacity       provider.QPCap
	send           sendQueue
	recv           receiveQueue
	srq            *srq
	sendCQ, recvCQ *cq
	failed         atomic.Bool // the adapter has reported an error
}

// NewQP creates a queue pair.
func (d *device) NewQP(attr provider.QPAttr, create provider.Create) (provider.QP, error) {
	switch {
	case attr.Transport != provider.RC && attr.Transport != provider.UD:
		return nil, fmt.Errorf("queue pair of transport %d: %w", attr.Transport, provider.ErrOpcode)
	case attr.Transport == provider.UD && d.generation < p5:
		return nil, fmt.Errorf("datagrams on chip %#x, which need a state change in every 4,194,304: %w", uint16(d.limits.ChipID0), errors.ErrUnsupported)
	}
	l, err := d.layOut(attr)
	if err != nil {
		return nil, err
	}
	if err := d.ensurePage(); err != nil {
		return nil, err
	}
	sendSize := d.pages(l.slots*slotSize + l.table*8)
	receiveSize := 0
	if attr.SRQ == nil {
		receiveSize = d.pages(l.receives * l.recvStep * slotSize)
	}
	q := &qp{device: d, sendCQ: attr.SendCQ.(*cq), recvCQ: attr.RecvCQ.(*cq), capacity: attr.Cap}
	if q.memory, err = d.newMemory(sendSize + receiveSize); err != nil {
		return nil, err
	}
	q.layOut(attr, l, sendSize)
	index, err := d.queues.Add(q, maxQueues)
	if err != nil {
		return nil, errors.Join(err, q.memory.Close())
	}
	q.handle = index + 1
	in := uapi.BNXTQPReq{QPSVA: q.memory.Addr(), QPHandle: q.handle}
	if receiveSize > 0 {
		in.QPRVA = q.memory.Addr() + uint64(sendSize)
	}
	if d.variable() {
		in.SQSlots = l.slots
	}
	var resp uapi.BNXTQPResp
	if _, err := create(uapi.Bytes(&in), uapi.Bytes(&resp)); err != nil {
		d.queues.Remove(index)
		return nil, errors.Join(err, q.memory.Close())
	}
	if q.number = resp.QPID; q.number > numberMask {
		return q, fmt.Errorf("queue pair %#x, doorbells have 20 bits for it: %w", q.number, provider.ErrCorrupt)
	}
	return q, nil
}

// layOut divides the memory.
func (q *qp) layOut(attr provider.QPAttr, l layout, sendSize int) {
	d, c := q.device, attr.Cap
	s := &q.send
	s.ring, s.requests = view[slot](q.memory, 0, l.slots), make([]request, l.requests)
	s.packets = packets{table: view[uint64](q.memory, int(l.slots)*slotSize, l.table), words: psnWords, mtu: 1 << 8}
	switch {
	case d.messages() && d.variable():
		s.packets.messages = queue.RoundUp(l.slots) / 2 // verbs.c, bnxt_re_alloc_queues
	case d.messages():
		s.packets.messages = l.table
	case d.generation >= p5:
		s.packets.words = psnWordsP5
	}
	s.maxSGE, s.ud, s.variable = int(c.MaxSendSGE), attr.Transport == provider.UD, d.variable()
	s.reserved = reservedWRs * l.step
	if attr.SignalAll {
		s.flags = provider.SendSignaled
	}
	if c.MaxInline > 0 {
		q.capacity.MaxInline = (l.step - headerSlots) * slotSize
	}
	s.maxInline = int(q.capacity.MaxInline)
	q.capacity.MaxSendWR = (l.slots-s.reserved)/l.step - 1
	if attr.SRQ != nil {
		q.srq = attr.SRQ.(*srq)
		q.capacity.MaxRecvWR, q.capacity.MaxRecvSGE = 0, 0
		return
	}
	r := &q.recv
	r.ring = view[slot](q.memory, sendSize, l.receives*l.recvStep)
	r.ids, r.step, r.maxSGE = make([]uint64, l.receives), l.recvStep, int(c.MaxRecvSGE)
	q.capacity.MaxRecvWR = l.receives - 1
}

// Cap returns the capacity.
func (q *qp) Cap() provider.QPCap { return q.capacity }

// Sequence sets the number of the first packet and the packet size, unless they are nil.
func (q *qp) Sequence(first, size *uint32) { q.send.packets.set(first, size) }

// PostRecv fills the ring and writes to the doorbell once.
func (q *qp) PostRecv(wrs []provider.RecvWR) (int, error) {
	if q.srq != nil {
		return 0, provider.ErrFull
	}
	n, err := q.recv.post(wrs)
	if n > 0 {
		q.device.ring(bellRQ, q.number, q.recv.bell())
	}
	return n, err
}

// Reset discards all work requests and their completions.
func (q *qp) Reset() {
	q.purge()
	q.send.reset()
	q.recv.reset()
}

// purge removes the queue pair's completions.
func (q *qp) purge() {
	q.failed.Store(false)
	q.sendCQ.purge(q)
	if q.recvCQ != q.sendCQ {
		q.recvCQ.purge(q)
	}
}

// Close removes the completions, because another queue pair may get the handle.
func (q *qp) Close() error {
	q.purge()
	q.device.queues.Remove(q.handle - 1)
	return q.memory.Close()
}
