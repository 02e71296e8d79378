package efa

import (
	"math"
	"unsafe"

	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A sent is a posted work request, by its request ID.
type sent struct {
	id       uint64
	length   uint32
	opcode   provider.CompletionOpcode
	posted   bool
	signaled bool // the caller wants a completion on success, too
}

// A sendQueue is a ring of send work requests in the adapter's memory.
type sendQueue struct {
	ring       []byte
	bell       unsafe.Pointer
	free       pool
	slots      []sent
	size       uint32 // work requests, a power of 2
	shift      uint32 // log2 of it
	stride     uint32
	head       uint32 // counts run freely
	batch      uint32 // work requests that a doorbell may publish
	generation uint16 // in request IDs, above the ID
	maxSGE     int
	maxInline  int
	allowed    uint32 // operations, a bit each
	flags      provider.SendFlags
	wqe        [2]block // the next work request
}

// reset discards all work requests.
func (q *sendQueue) reset() {
	q.head = 0
	q.free.reset(q.size)
	clear(q.slots)
}

// post writes work requests and returns their number. The register gets the number of all
// work requests so far, after each batch.
func (q *sendQueue) post(wrs []provider.SendWR) (n int, err error) {
	mmio.StoreBarrier() // an earlier doorbell is not behind the work requests
	pending := uint32(0)
	for n < len(wrs) {
		if pending == q.batch {
			q.publish()
			mmio.DeviceBarrier()
			pending = 0
		}
		if err = q.fill(&wrs[n]); err != nil {
			break
		}
		n++
		pending++
	}
	if pending > 0 {
		q.publish()
	}
	return n, err
}

// publish writes the doorbell, behind the work requests.
func (q *sendQueue) publish() {
	mmio.DeviceBarrier()
	mmio.Store32(q.bell, le32(q.head&math.MaxUint16))
}

// An operation is a work request's.
type operation struct {
	first   uint64 // the first word, without what depends on the work request
	remote  bool   // names memory of the peer
	payload bool
	done    provider.CompletionOpcode
}

// operations are those of SRD, a bit each of them of UD.
var operations = [...]operation{
	provider.OpWrite:        {wqeAlways | opWrite<<wqeOp, true, true, provider.CompletedWrite},
	provider.OpWriteWithImm: {wqeAlways | opWrite<<wqeOp | wqeImm, true, true, provider.CompletedWrite},
	provider.OpSend:         {wqeAlways | opSend<<wqeOp, false, true, provider.CompletedSend},
	provider.OpSendWithImm:  {wqeAlways | opSend<<wqeOp | wqeImm, false, true, provider.CompletedSend},
	provider.OpRead:         {wqeAlways | opRead<<wqeOp, true, false, provider.CompletedRead},
}

// fill writes a work request.
func (q *sendQueue) fill(wr *provider.SendWR) error {
	if int(wr.Opcode) >= len(operations) || q.allowed>>wr.Opcode&1 == 0 || wr.Flags&provider.SendFence != 0 {
		return provider.ErrOpcode
	}
	o := &operations[wr.Opcode]
	length, err := q.check(wr, o)
	if err != nil {
		return err
	}
	if wr.AH == nil {
		return provider.ErrAH
	}
	to, ok := wr.AH.Provided().(*ah)
	switch {
	case !ok:
		return provider.ErrAH
	case q.free.empty():
		return provider.ErrFull
	}
	id := q.free.take()
	q.slots[id] = sent{wr.ID, length, o.done, true, (wr.Flags|q.flags)&provider.SendSignaled != 0}
	first := o.first | uint64(id|q.generation) | uint64(q.head>>q.shift&1)<<wqePhase | uint64(wr.RemoteQPN&math.MaxUint16)<<wqeQPN
	w := &q.wqe[0]
	if wr.Flags&provider.SendInline != 0 {
		first |= wqeInline | uint64(len(wr.Inline))<<wqeLength
		putInline(&q.wqe, wr, o.remote)
	} else {
		first |= uint64(len(wr.SGEs)) << wqeLength
		putSGEs(w, wr, o.remote, length)
	}
	second := uint64(to.id) << 32
	if o.first&wqeImm != 0 {
		second |= uint64(wr.Imm)
	}
	w[0], w[1], w[2] = le(first), le(second), le(uint64(wr.QKey))
	q.store()
	return nil
}

// store copies the work request to the ring.
func (q *sendQueue) store() {
	at := unsafe.Pointer(&q.ring[q.head&(q.size-1)*q.stride])
	mmio.StoreBlock(at, (*[8]uint64)(&q.wqe[0]))
	if q.stride == largeWQE {
		mmio.StoreBlock(unsafe.Add(at, smallWQE), (*[8]uint64)(&q.wqe[1]))
		q.wqe[1] = block{}
	}
	q.head++
}

// check rejects work requests that the adapter would misinterpret, and returns the payload's
// length.
func (q *sendQueue) check(wr *provider.SendWR, o *operation) (length uint32, err error) {
	if wr.Flags&provider.SendInline != 0 {
		if !o.payload || len(wr.Inline) > min(q.maxInline, inlineRoom(q.stride, o.remote)) {
			return 0, provider.ErrInline
		}
		return uint32(len(wr.Inline)), nil
	}
	if len(wr.SGEs) > q.maxSGE || o.remote && len(wr.SGEs) > rdmaSGEs {
		return 0, provider.ErrSGEs
	}
	if len(wr.SGEs) == 1 { // the usual case
		return wr.SGEs[0].Length, nil
	}
	return provider.Length(wr.SGEs, math.MaxUint32)
}
