package irdma

import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A slot is a posted work request: the entry of its first quantum.
type slot struct {
	id     uint64
	length uint32
	quanta uint8 // 0: no work request begins here
	op     uint8
}

// A sendQueue is a send work request ring. Counts run freely.
type sendQueue struct {
	ring       []quantum
	slots      []slot
	head       uint32        // next quantum to post
	posted     atomic.Uint32 // head for polling
	tail       atomic.Uint32 // first quantum that is not complete
	start      uint32        // of head and tail in a new queue pair
	generation uint8
	chunk      uint32 // a work request does not cross a multiple of it
	maxSGE     int
	maxRead    int
	maxInline  int
	allowed    uint32 // operations, a bit each
	ud         bool
	flags      provider.SendFlags // of each work request
}

// reset discards all work requests.
func (q *sendQueue) reset() {
	clear(q.ring)
	clear(q.slots)
	q.head = q.start
	q.posted.Store(q.start)
	q.tail.Store(q.start)
}

// validAt returns the valid bit of a count's round: it is set in the first.
func validAt(count, size uint32) uint64 {
	return uint64(^count>>bits.TrailingZeros32(size)) << 63
}

// maxMessage is the longest message: a fragment's length has 31 bits.
const maxMessage = math.MaxInt32

// post writes work requests and returns their number.
func (q *sendQueue) post(wrs []provider.SendWR) (n int, err error) {
	for n < len(wrs) {
		if err = q.fill(&wrs[n]); err != nil {
			break
		}
		n++
	}
	if n > 0 {
		q.posted.Store(q.head)
	}
	return n, err
}

// fill writes a work request. The usual case has a single fragment.
func (q *sendQueue) fill(wr *provider.SendWR) error {
	if u := &usual[wr.Opcode&15]; u.ok && wr.Opcode < 16 && len(wr.SGEs) == 1 && wr.Flags&provider.SendInline == 0 && !q.ud && wr.SGEs[0].Length <= maxMessage {
		return q.fillUsual(wr, u)
	}
	length, to, err := q.check(wr)
	if err != nil {
		return err
	}
	count := uint32(q.quanta(wr))
	if err := q.reserve(count); err != nil {
		return err
	}
	at := q.head & uint32(len(q.ring)-1)
	valid := validAt(q.head, uint32(len(q.ring)))
	q.publish(wr, length, count, valid|q.body(q.ring[at:at+count], wr, to, valid))
	return nil
}

// An operation has its headers, and whether it names memory of the peer.
type operation struct {
	ok, remote    bool
	op, solicited uint64
}

// usual are the operations with a header that consists of the opcode and the peer's key.
var usual = [16]operation{
	provider.OpWrite: {true, true, opWrite << wqeOpcode, opWriteSolicited << wqeOpcode},
	provider.OpRead:  {true, true, opRead << wqeOpcode, opRead << wqeOpcode},
	provider.OpSend:  {true, false, opSend << wqeOpcode, opSendSolicited << wqeOpcode},
}

// fillUsual is fill for a single fragment.
func (q *sendQueue) fillUsual(wr *provider.SendWR, u *operation) error {
	switch {
	case q.maxSGE < 1 || wr.Opcode == provider.OpRead && q.maxRead < 1:
		return provider.ErrSGEs
	case q.allowed>>wr.Opcode&1 == 0:
		return provider.ErrOpcode
	}
	if err := q.reserve(1); err != nil {
		return err
	}
	w := &q.ring[q.head&uint32(len(q.ring)-1)]
	valid := validAt(q.head, uint32(len(q.ring)))
	w[0], w[1] = fragment(wr.SGEs[0], q.generation == 1, valid)
	h := valid | u.op
	if wr.Flags&provider.SendSolicited != 0 {
		h = valid | u.solicited
	}
	w[2] = 0
	if u.remote {
		w[2] = mmio.LE64(wr.RemoteAddr)
		h |= uint64(wr.RKey)
	}
	q.publish(wr, wr.SGEs[0].Length, 1, h)
	return nil
}

// publish gives a work request to the adapter: the header is written last.
func (q *sendQueue) publish(wr *provider.SendWR, length, count uint32, h uint64) {
	if (wr.Flags|q.flags)&provider.SendSignaled != 0 {
		h |= wqeSignaled
	}
	if wr.Flags&provider.SendFence != 0 {
		h |= wqeReadFence
	}
	at := q.head & uint32(len(q.ring)-1)
	q.slots[at] = slot{id: wr.ID, length: length, quanta: uint8(count), op: uint8(h >> wqeOpcode & 0x3f)}
	q.head += count
	// In the first generation, the quantum after a work request with a single quantum may
	// have data of an earlier round where the valid bit is (uk.c, irdma_qp_get_next_send_wqe).
	if q.generation == 1 && count == 1 && q.head&1 != 0 {
		q.ring[q.head&uint32(len(q.ring)-1)][3] = mmio.LE64(^h & wqeValid)
	}
	mmio.StoreBarrier()
	provider.Store64(&q.ring[at][3], mmio.LE64(h))
}

// body writes a work request without the header, and returns the header without the flags
// that all operations have.
func (q *sendQueue) body(w []quantum, wr *provider.SendWR, to *ah, valid uint64) (h uint64) {
	switch wr.Opcode {
	case provider.OpBindMW:
		return putBind(w, wr.Bind, q.generation == 1)
	case provider.OpLocalInvalidate:
		w[0][0], w[0][1] = fragment(provider.SGE{LKey: wr.InvalidateKey}, q.generation == 1, 0)
		w[0][2] = 0
		return opInvalidate << wqeOpcode
	case provider.OpCompareSwap, provider.OpFetchAdd:
		return putAtomic(w, wr, valid)
	}
	h, w[0][2] = q.target(wr, to)
	imm := wr.Opcode == provider.OpSendWithImm || wr.Opcode == provider.OpWriteWithImm
	if imm {
		h |= wqeImm
		w[0][0] = mmio.LE64(uint64(wr.Imm))
	}
	if wr.Flags&provider.SendInline != 0 {
		putInline(w, wr.Inline, q.generation == 1, valid)
		return h | wqeInline | uint64(len(wr.Inline))<<wqeInlineLen
	}
	return h | putFragments(w, wr.SGEs, q.generation, imm, valid)<<wqeFragments
}

// target returns the header part and the word for the peer: memory, or a datagram's queue
// pair.
func (q *sendQueue) target(wr *provider.SendWR, to *ah) (h, word uint64) {
	solicited := wr.Flags&provider.SendSolicited != 0
	op := uint64(opSend)
	switch wr.Opcode {
	case provider.OpRead:
		return opRead<<wqeOpcode | uint64(wr.RKey), mmio.LE64(wr.RemoteAddr)
	case provider.OpWrite, provider.OpWriteWithImm:
		if solicited {
			return opWriteSolicited<<wqeOpcode | uint64(wr.RKey), mmio.LE64(wr.RemoteAddr)
		}
		return opWrite<<wqeOpcode | uint64(wr.RKey), mmio.LE64(wr.RemoteAddr)
	case provider.OpSendInvalidate:
		if op = opSendInv; solicited {
			op = opSendSolInv
		}
		return op<<wqeOpcode | uint64(wr.InvalidateKey), 0
	}
	if solicited {
		op = opSendSolicited
	}
	if to == nil {
		return op << wqeOpcode, 0
	}
	return op<<wqeOpcode | uint64(to.id), mmio.LE64(uint64(wr.RemoteQPN&0xffffff)<<32 | uint64(wr.QKey))
}

// putAtomic writes an atomic (uk.c, irdma_uk_atomic_compare_swap).
func putAtomic(w []quantum, wr *provider.SendWR, valid uint64) uint64 {
	s := wr.SGEs[0]
	w[0][0], w[0][1], w[0][2] = mmio.LE64(s.Addr), mmio.LE64(uint64(s.LKey)), mmio.LE64(wr.RemoteAddr)
	op := uint64(opFetchAdd)
	w[1] = quantum{mmio.LE64(wr.CompareAdd), 0, 0, mmio.LE64(valid)}
	if wr.Opcode == provider.OpCompareSwap {
		op = opCompareSwap
		w[1][0], w[1][1] = mmio.LE64(wr.Swap), mmio.LE64(wr.CompareAdd)
	}
	return op<<wqeOpcode | 1<<wqeFragments | uint64(wr.RKey)
}

// The access rights of a window's bind (enum ib_uverbs_access_flags).
const (
	accessRemoteWrite   = 1 << 1
	accessRemoteRead    = 1 << 2
	accessRemoteAtomics = 1 << 3
)

// putBind writes a window's bind (uk.c, irdma_uk_mw_bind). The first generation has the keys
// in the other order.
func putBind(w []quantum, b *provider.Bind, first bool) uint64 {
	region, window := uint64(b.LKey), uint64(b.Window&^0xff|b.RKey&0xff)
	if first {
		region, window = window, region
	}
	w[0][0], w[0][1], w[0][2] = mmio.LE64(b.Addr), mmio.LE64(region<<32|window), mmio.LE64(b.Length)
	h := uint64(opBind<<wqeOpcode | wqeBindAddress)
	if b.Access&accessRemoteRead != 0 {
		h |= wqeBindRead
	}
	if b.Access&accessRemoteWrite != 0 {
		h |= wqeBindWrite
	}
	if b.Access&accessRemoteAtomics != 0 {
		h |= wqeBindAtomics
	}
	return h
}
