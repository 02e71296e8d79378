package mlx5

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A qp is a queue pair. Its two rings share one buffer, the receive queue first.
type qp struct {
	device         *device
	memory         memory
	index          uint32 // in completions
	user           user   // with srq for a shared receive queue
	send           sendQueue
	recv           receiveQueue
	sendCQ, recvCQ *cq // recvCQ is nil for XRCInit
	register       register
	capacity       provider.QPCap
}

// The words of a queue pair's doorbell record.
const (
	qpReceived = 0
	qpSent     = 1
)

// NewQP creates a queue pair.
func (d *device) NewQP(attr provider.QPAttr, create provider.Create) (provider.QP, error) {
	if attr.Transport == provider.XRCTarget {
		return d.newTarget(create)
	}
	if int(attr.Transport) >= len(allowed) || allowed[attr.Transport] == 0 {
		return nil, fmt.Errorf("queue pair of transport %d: %w", attr.Transport, provider.ErrOpcode)
	}
	q := &qp{device: d, sendCQ: attr.SendCQ.(*cq)}
	q.user.qp = q
	if attr.RecvCQ != nil {
		q.recvCQ = attr.RecvCQ.(*cq)
	}
	if attr.SRQ != nil {
		q.user.srq = attr.SRQ.(*srq)
	}
	in, err := q.layOut(attr)
	if err != nil {
		return nil, err
	}
	if q.register, err = d.newRegister(); err != nil {
		return nil, closing(q.memory, err)
	}
	index, err := d.users.Add(&q.user, maxIndex)
	if err != nil {
		d.release(q.register)
		return nil, closing(q.memory, err)
	}
	q.index = uint32(index)
	in.BufAddr, in.DBAddr = q.memory.Addr(), q.memory.recordAddr()
	in.Flags, in.BFRegIndex, in.UIdx = uapi.MLX5QPUARPageIndex, q.register.page, q.index
	var resp uapi.MLX5CreateQPResp
	created, err := create(uapi.Bytes(&in), uapi.Bytes(&resp))
	if err != nil {
		return nil, errors.Join(err, q.Close())
	}
	q.send.number = created.Number
	return q, nil
}

// layOut computes the ring sizes and allocates them. The kernel uses its result.
func (q *qp) layOut(attr provider.QPAttr) (uapi.MLX5CreateQP, error) {
	var in uapi.MLX5CreateQP
	limits := &q.device.limits
	size := sendSize(attr.Transport, attr.Cap)
	blocks := uint64(max(attr.Cap.MaxSendWR, 1)) * uint64(size) / blockSize
	if allowed[attr.Transport]&windows != 0 {
		blocks = max(blocks, bindBlocks)
	}
	if blocks <= uint64(limits.MaxSendWQEBB) {
		blocks = uint64(queue.RoundUp(uint32(blocks)))
	}
	switch {
	case attr.Cap.MaxInline > maxMessage || size > int(limits.MaxSQDescSize) || size > maxSegments*segmentSize:
		return in, fmt.Errorf("send work request of %d bytes, the adapter has up to %d: %w", size, limits.MaxSQDescSize, unix.EINVAL)
	case blocks > uint64(limits.MaxSendWQEBB):
		return in, fmt.Errorf("send queue of %d blocks, the adapter has up to %d: %w", blocks, limits.MaxSendWQEBB, unix.EINVAL)
	}
	var received uint64
	if q.user.srq == nil && q.recvCQ != nil && attr.Cap.MaxRecvWR > 0 {
		if attr.Cap.MaxRecvWR > limits.MaxRecvWR {
			return in, fmt.Errorf("receive queue of %d work requests, the adapter has up to %d: %w", attr.Cap.MaxRecvWR, limits.MaxRecvWR, unix.EINVAL)
		}
		stride, count := recvSizes(attr.Cap)
		if err := q.device.checkReceive(attr.Cap.MaxRecvSGE, stride); err != nil {
			return in, err
		}
		received = uint64(stride) * uint64(count)
		q.recv.stride, q.recv.maxSGE, q.recv.ids = int(stride), int(stride)/segmentSize, make([]uint64, count)
		in.RQWQECount, in.RQWQEShift = count, uint32(bits.TrailingZeros32(stride))
	}
	var err error
	if q.memory, err = q.device.newMemory(int(received + blocks*blockSize)); err != nil {
		return in, err
	}
	q.recv.ring, q.send.ring = q.memory.buffer[:received], q.memory.buffer[received:]
	q.send.blocks = unsafe.Slice((*block)(unsafe.Pointer(&q.send.ring[0])), blocks)
	in.SQWQECount = uint32(blocks)

	s := &q.send
	s.transport, s.formats, s.slots = attr.Transport, formats(attr.Transport), make([]slot, blocks)
	s.capacity, s.unit = uint32(blocks*blockSize/uint64(size)), size/blockSize
	s.maxSGE = (size - sendBase(attr.Transport)) / segmentSize
	s.maxInline = size - sendBase(attr.Transport) - 4
	if attr.SignalAll {
		s.flags = ctrlSignaled
	}
	q.capacity = provider.QPCap{
		MaxSendWR: s.capacity, MaxSendSGE: uint32(s.maxSGE), MaxInline: uint32(s.maxInline),
		MaxRecvWR: in.RQWQECount, MaxRecvSGE: uint32(q.recv.maxSGE),
	}
	return in, nil
}

// maxSegments is the maximum work request size in segments: the field has 6 bits.
const maxSegments = 63

// Cap returns the capacity, which the kernel does not know.
func (q *qp) Cap() provider.QPCap { return q.capacity }

// PostSend fills the ring and writes to the doorbell register once. A single work request
// that fits into the register goes there as a whole, unless the environment forbids it or
// it has a control segment only (libmlx5's qp.c, post_send_db).
func (q *qp) PostSend(wrs []provider.SendWR) (int, error) {
	s := &q.send
	n, size := s.direct(wrs), 1
	var err error
	if n < len(wrs) {
		n, size, err = s.post(wrs, n)
	}
	if n == 0 {
		return 0, err
	}
	last := int((s.posted - uint32(size)) & uint32(len(s.blocks)-1))
	if n > 1 || last+size > len(s.blocks) || size*blockSize > q.register.half || !q.device.copies(&wrs[0]) || s.segments(last) == 1 {
		size = 0 // only the first 8 bytes
	}
	q.register.ring(&q.memory.record[qpSent], s.posted&0xffff, &s.blocks[last], size)
	return n, err
}

// copies reports whether a single work request goes to the register.
func (e *environment) copies(wr *provider.SendWR) bool {
	return !e.noBlueFlame && (!e.onlyInline || wr.Flags&provider.SendInline != 0)
}

// PostRecv fills the ring. The adapter reads the doorbell record when a message arrives.
func (q *qp) PostRecv(wrs []provider.RecvWR) (int, error) {
	n := q.recv.direct(wrs)
	var err error
	if n < len(wrs) {
		n, err = q.recv.post(wrs, n)
	}
	if n > 0 {
		q.memory.publish(qpReceived, q.recv.head&0xffff)
	}
	return n, err
}

// Reset discards all work requests and their completions. The adapter starts from 0.
func (q *qp) Reset() {
	q.purge()
	q.send.reset()
	q.recv.reset()
	q.memory.publish(qpReceived, 0)
	q.memory.publish(qpSent, 0)
}

// purge removes the queue pair's completions.
func (q *qp) purge() {
	q.sendCQ.purge(q.index, &q.user)
	if q.recvCQ != nil && q.recvCQ != q.sendCQ {
		q.recvCQ.purge(q.index, &q.user)
	}
}

// Close removes the completions, because another queue pair may get the user index.
func (q *qp) Close() error {
	q.purge()
	q.device.users.Remove(uint64(q.index))
	q.device.release(q.register)
	return q.memory.Close()
}
