package efa

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A qp is a queue pair. Once closed, it stays as a tombstone with its round.
type qp struct {
	device   *device
	number   uint32
	capacity provider.QPCap
	send     sendQueue
	recv     receiveQueue
	mappings [][]byte
	round    uint16 // of request IDs: changes with each use of the number, and with RESET
}

// NewQP creates a queue pair with a RoundQP capacity.
func (d *device) NewQP(attr provider.QPAttr, create provider.Create) (provider.QP, error) {
	in := uapi.EFACreateQP{RQRingSize: descriptors(attr.Cap) * receiveSize, SQRingSize: attr.Cap.MaxSendWR * wqeSize(attr.Cap)}
	switch attr.Transport {
	case provider.UD:
	case provider.SRD:
		in.DriverQPType = uapi.EFADriverTypeSRD
	default:
		return nil, fmt.Errorf("queue pair of transport %d: %w", attr.Transport, provider.ErrOpcode)
	}
	if attr.SRQ != nil {
		return nil, fmt.Errorf("queue pair of efa with a shared receive queue: %w", errors.ErrUnsupported)
	}
	if err := d.check(attr.Cap); err != nil {
		return nil, err
	}
	var resp uapi.EFACreateQPResp
	created, err := create(uapi.Bytes(&in), uapi.Bytes(&resp))
	if err != nil {
		return nil, err
	}
	q := &qp{device: d, number: created.Number, capacity: attr.Cap}
	if err := q.checkResponse(in, resp); err != nil {
		return nil, err
	}
	q.layOut(attr)
	if err := q.mapAll(in, resp); err != nil {
		return q, err
	}
	entry := &d.queues[q.number]
	if old := entry.Load(); old != nil {
		q.round = old.round
	}
	q.reset()
	entry.Store(q)
	return q, nil
}

// checkResponse checks the driver's response.
func (q *qp) checkResponse(in uapi.EFACreateQP, resp uapi.EFACreateQPResp) error {
	page := uint32(os.Getpagesize())
	if q.number > math.MaxUint16 || resp.RQMmapSize != pages(uint64(in.RQRingSize)) || (resp.RQDBOffset|resp.SQDBOffset)%4 != 0 ||
		max(resp.RQDBOffset, resp.SQDBOffset) > page-4 || resp.LLQDescOffset >= page || resp.LLQDescOffset%8 != 0 {
		return fmt.Errorf("queue pair %#x: got %+v: %w", q.number, resp, provider.ErrCorrupt)
	}
	return nil
}

// layOut sets the queues' sizes and limits.
func (q *qp) layOut(attr provider.QPAttr) {
	d, c := q.device, attr.Cap
	s, r := &q.send, &q.recv
	s.size, s.shift, s.blocks = c.MaxSendWR, uint32(bits.TrailingZeros32(c.MaxSendWR)), wqeSize(c)/smallWQE
	s.slots = make([]sent, s.size)
	s.maxSGE, s.maxInline = int(c.MaxSendSGE), int(c.MaxInline)
	s.batch = s.size
	if d.context.MaxTxBatch > 0 {
		s.batch = min(s.batch, max(uint32(d.context.MaxTxBatch)/s.blocks, 1))
	}
	if d.context.MinSQWR > 0 { // the adapter does not take all work requests of a ring at once
		s.batch = min(s.batch, max(s.size-1, 1))
	}
	if s.blocks == 1 && s.maxSGE > 0 {
		s.usual = s.batch
	}
	if attr.SignalAll {
		s.flags = provider.SendSignaled
	}
	s.allowed = 1<<provider.OpSend | 1<<provider.OpSendWithImm
	if attr.Transport == provider.SRD && d.has(uapi.EFADeviceRead) {
		s.allowed |= 1 << provider.OpRead
	}
	if attr.Transport == provider.SRD && d.has(uapi.EFADeviceWrite) {
		s.allowed |= 1<<provider.OpWrite | 1<<provider.OpWriteWithImm
	}
	if descriptors(c) > 0 {
		r.maxSGE = int(c.MaxRecvSGE)
		r.slots = make([]received, c.MaxRecvWR)
	}
}

// mapAll maps the rings and the registers.
func (q *qp) mapAll(in uapi.EFACreateQP, resp uapi.EFACreateQPResp) error {
	page := uint64(os.Getpagesize())
	ring, err := q.mapPages(resp.LLQDescMmapKey, pages(uint64(resp.LLQDescOffset)+uint64(in.SQRingSize)))
	if err != nil {
		return err
	}
	q.send.ring = unsafe.Slice((*block)(unsafe.Pointer(&ring[resp.LLQDescOffset])), in.SQRingSize/smallWQE)
	register, err := q.mapPages(resp.SQDBMmapKey, page)
	if err != nil {
		return err
	}
	q.send.bell = unsafe.Pointer(&register[resp.SQDBOffset])
	if in.RQRingSize == 0 {
		return nil
	}
	if ring, err = q.mapPages(resp.RQMmapKey, resp.RQMmapSize); err != nil {
		return err
	}
	q.recv.ring = unsafe.Slice((*descriptor)(unsafe.Pointer(unsafe.SliceData(ring))), in.RQRingSize/receiveSize)
	if register, err = q.mapPages(resp.RQDBMmapKey, page); err != nil {
		return err
	}
	q.recv.bell = unsafe.Pointer(&register[resp.RQDBOffset])
	return nil
}

// mapPages maps pages of the driver until Close.
func (q *qp) mapPages(key, length uint64) ([]byte, error) {
	b, err := q.device.Map(key, int(length))
	if err == nil {
		q.mappings = append(q.mappings, b)
	}
	return b, err
}

// Cap returns the capacity.
func (q *qp) Cap() provider.QPCap { return q.capacity }

// Reset discards all work requests. Their completions have request IDs of an earlier round,
// which Poll discards.
func (q *qp) Reset() { q.reset() }

// reset begins a new round: in request IDs, its number is above the ID.
func (q *qp) reset() {
	q.round++
	q.send.generation = q.round << q.send.shift
	q.recv.generation = q.round << bits.TrailingZeros32(queue.RoundUp(uint32(len(q.recv.slots))))
	q.send.reset()
	q.recv.reset()
}

// Close unmaps the queues. Completions that are not polled are discarded later.
func (q *qp) Close() error {
	if q.number <= math.MaxUint16 {
		q.device.queues[q.number].CompareAndSwap(q, &qp{round: q.round})
	}
	return q.device.unmap(q.mappings...)
}
