package irdma

import (
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// quanta returns a work request's size.
func (q *sendQueue) quanta(wr *provider.SendWR) int {
	switch wr.Opcode {
	case provider.OpBindMW, provider.OpLocalInvalidate:
		return 1
	case provider.OpCompareSwap, provider.OpFetchAdd:
		return 2
	}
	if wr.Flags&provider.SendInline != 0 {
		return inlineQuanta(len(wr.Inline), q.generation == 1)
	}
	n := len(wr.SGEs)
	if wr.Opcode == provider.OpSendWithImm || wr.Opcode == provider.OpWriteWithImm {
		n++
	}
	return fragmentQuanta(n)
}

// cleared is the unit in which quanta of earlier rounds are made invalid.
const cleared = 128

// reserve makes room for a work request at the head: it fills a chunk that has less room
// with work requests without an effect, and invalidates the quanta far ahead (uk.c,
// irdma_qp_get_next_send_wqe, irdma_clr_wqes).
func (q *sendQueue) reserve(count uint32) error {
	padding := q.chunk - q.head&(q.chunk-1)
	if count <= padding {
		padding = 0
	}
	if q.head-q.tail.Load()+padding+count > uint32(len(q.ring))-sendReserved+1 {
		return provider.ErrFull
	}
	for range padding {
		q.putNOP()
	}
	if q.head&(cleared-1) == 0 {
		q.invalidate(q.head + cleared)
	}
	return nil
}

// putNOP writes a work request without an effect or a completion.
func (q *sendQueue) putNOP() {
	at := q.head & uint32(len(q.ring)-1)
	w := &q.ring[at]
	w[0], w[1], w[2] = 0, 0, 0
	q.slots[at] = slot{quanta: 1, op: opNOP}
	mmio.StoreBarrier()
	provider.Store64(&w[3], mmio.LE64(opNOP<<wqeOpcode|validAt(q.head, uint32(len(q.ring)))))
	q.head++
}

// invalidated are quanta with all bits set.
var invalidated = func() (all [cleared]quantum) {
	for i := range all {
		all[i] = quantum{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	}
	return all
}()

// invalidate fills quanta with the bit that is not valid in their next round.
func (q *sendQueue) invalidate(count uint32) {
	at := count & uint32(len(q.ring)-1)
	if validAt(count, uint32(len(q.ring))) != 0 {
		clear(q.ring[at : at+cleared])
	} else {
		copy(q.ring[at:at+cleared], invalidated[:])
	}
}

// atomicSize is an atomic operand's size in bytes.
const atomicSize = 8

// check rejects work requests that the adapter would misinterpret. It returns the payload's
// length, and a datagram's address handle.
func (q *sendQueue) check(wr *provider.SendWR) (length uint32, to *ah, err error) {
	switch {
	case wr.Opcode > 31 || q.allowed>>wr.Opcode&1 == 0:
		return 0, nil, provider.ErrOpcode
	case wr.Flags&provider.SendInline != 0:
		if !wr.Opcode.CarriesPayload() || len(wr.Inline) > q.maxInline {
			return 0, nil, provider.ErrInline
		}
		length = uint32(len(wr.Inline))
	case len(wr.SGEs) > q.maxSGE, wr.Opcode == provider.OpRead && len(wr.SGEs) > q.maxRead:
		return 0, nil, provider.ErrSGEs
	default:
		if length, err = provider.Length(wr.SGEs, maxMessage); err != nil {
			return 0, nil, err
		}
	}
	switch {
	case wr.Opcode.IsAtomic() && (length != atomicSize || len(wr.SGEs) != 1), wr.Opcode == provider.OpBindMW && wr.Bind == nil,
		(wr.Opcode == provider.OpBindMW || wr.Opcode == provider.OpLocalInvalidate) && length != 0:
		return 0, nil, provider.ErrLength
	case !q.ud:
		return length, nil, nil
	}
	to, ok := wr.AH.Provided().(*ah)
	if !ok {
		return 0, nil, provider.ErrAH
	}
	return length, to, nil
}
