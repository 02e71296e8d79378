package efa

import (
	"math"
	"unsafe"

	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A sent is a posted work request, by its request ID.
type sent struct {
	id     uint64
	length uint32
	opcode provider.CompletionOpcode
	state  uint8
}

// The bits of a sent's state.
const (
	isPosted   = 1 << iota
	isSignaled // the caller wants a completion on success, too
)

// posted returns a state for a work request's flags, without branches.
func posted(f provider.SendFlags) uint8 { return isPosted | uint8(f&provider.SendSignaled) }

// A sendQueue is a ring of send work requests in the adapter's memory.
type sendQueue struct {
	ring       []block
	bell       unsafe.Pointer
	free       pool
	slots      []sent
	size       uint32 // work requests, a power of 2
	shift      uint32 // log2 of it
	blocks     uint32 // of a work request: 1 or 2
	head       uint32 // counts run freely
	batch      uint32 // work requests that a doorbell may publish
	usual      uint32 // of these, with an SGE in 64 bytes
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

// PostSend writes work requests and returns their number. The register gets the number of all
// work requests so far, after each batch. The first work requests are usually all: they have
// a single SGE, fit in 64 bytes, and have the same destination. They are written in a loop
// without calls, because calls determine the posting cost.
func (q *qp) PostSend(wrs []provider.SendWR) (n int, err error) {
	if len(wrs) == 0 {
		return 0, nil
	}
	s := &q.send
	mmio.StoreBarrier() // an earlier doorbell is not behind the work requests
	destination := wrs[0].AH
	to, ok := destination.Provided().(*ah)
	head, taken, returned := s.head, s.free.taken, s.free.returned.Load()
	for ; n < len(wrs) && uint32(n) < s.usual && ok && taken != returned; n++ {
		wr := &wrs[n]
		if wr.Flags&^(provider.SendSignaled|provider.SendSolicited) != 0 || len(wr.SGEs) != 1 || wr.AH != destination ||
			int(wr.Opcode) >= len(operations) || s.allowed>>wr.Opcode&1 == 0 {
			break
		}
		o, sge := &operations[wr.Opcode], &wr.SGEs[0]
		id := s.free.ids[taken&uint32(len(s.free.ids)-1)]
		taken++
		s.slots[id] = sent{wr.ID, sge.Length, o.done, posted(wr.Flags | s.flags)}
		first := o.first | uint64(id|s.generation) | uint64(head>>s.shift&1)<<wqePhase | uint64(wr.RemoteQPN&math.MaxUint16)<<wqeQPN | 1<<wqeLength
		second := uint64(to.id) << 32
		if o.first&wqeImm != 0 {
			second |= uint64(wr.Imm)
		}
		buffer, address := bufferOf(sge)
		w := (*[8]uint64)(&s.ring[head&uint32(len(s.ring)-1)])
		head++
		if o.remote {
			mmio.StoreWords(w, mmio.LE64(first), mmio.LE64(second), mmio.LE64(uint64(wr.QKey)), 0,
				mmio.LE64(uint64(wr.RKey)<<32|uint64(sge.Length)), mmio.LE64(wr.RemoteAddr), buffer, address)
			continue
		}
		mmio.StoreWords(w, mmio.LE64(first), mmio.LE64(second), mmio.LE64(uint64(wr.QKey)), 0, buffer, address, 0, 0)
	}
	s.head, s.free.taken = head, taken
	if n < len(wrs) {
		return q.postOther(wrs, n)
	}
	s.publish()
	return n, nil
}

// postOther is PostSend for work requests of all kinds, after the first n.
func (q *qp) postOther(wrs []provider.SendWR, n int) (int, error) {
	s := &q.send
	var err error
	for ; n < len(wrs) && uint32(n) < s.batch; n++ {
		if err = s.fill(&wrs[n]); err != nil {
			break
		}
	}
	if n > 0 {
		s.publish()
	}
	if n == len(wrs) || err != nil {
		return n, err
	}
	mmio.DeviceBarrier()
	more, err := q.PostSend(wrs[n:]) // the next batch
	return n + more, err
}

// publish writes the doorbell, behind the work requests.
func (q *sendQueue) publish() {
	mmio.DeviceBarrier()
	mmio.Store32(q.bell, mmio.LE32(q.head&math.MaxUint16))
}

// An operation is a work request's.
type operation struct {
	first   uint64 // the first word, without a work request's own fields
	remote  bool   // names memory of the peer
	payload bool
	done    provider.CompletionOpcode
}

// operations are the work requests of SRD; UD has sends only.
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
	to, ok := wr.AH.Provided().(*ah)
	switch {
	case !ok:
		return provider.ErrAH
	case q.free.empty():
		return provider.ErrFull
	}
	id := q.free.take()
	q.slots[id] = sent{wr.ID, length, o.done, posted(wr.Flags | q.flags)}
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
	w[0], w[1], w[2] = mmio.LE64(first), mmio.LE64(second), mmio.LE64(uint64(wr.QKey))
	q.store()
	return nil
}

// store copies the work request to the ring.
func (q *sendQueue) store() {
	at := q.head & (q.size - 1) * q.blocks
	for i := range q.blocks {
		mmio.StoreBlock(unsafe.Pointer(&q.ring[at+i]), (*[8]uint64)(&q.wqe[i]))
	}
	q.wqe[1] = block{}
	q.head++
}

// check rejects work requests that the adapter would misinterpret, and returns the payload's
// length.
func (q *sendQueue) check(wr *provider.SendWR, o *operation) (length uint32, err error) {
	if wr.Flags&provider.SendInline != 0 {
		if !o.payload || len(wr.Inline) > min(q.maxInline, inlineRoom(q.blocks*smallWQE, o.remote)) {
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
