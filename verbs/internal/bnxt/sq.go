package bnxt

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A request is a posted work request.
type request struct {
	id       uint64
	length   uint32
	slots    uint8
	signaled bool
	opcode   provider.CompletionOpcode
}

// A sendQueue is a send work request ring. Counts run freely; indices do not.
type sendQueue struct {
	ring     []slot
	requests []request
	packets  packets

	next  uint32 // entry of the next request
	slot  uint32 // its first slot
	epoch uint32 // changes with each round
	used  uint32 // slots, a count

	posted    atomic.Uint32 // requests, a count
	doneSlots atomic.Uint32 // a count
	done      uint32        // requests, a count: for polling
	oldest    uint32        // entry of the oldest request: for polling

	reserved  uint32 // slots that stay free
	maxSGE    int
	maxInline int
	ud        bool
	variable  bool
	flags     provider.SendFlags // of each work request
}

// reset discards all work requests. The epoch stays (verbs.c, bnxt_re_modify_qp).
func (q *sendQueue) reset() {
	q.next, q.slot, q.used, q.done, q.oldest, q.packets.message = 0, 0, 0, 0, 0, 0
	q.posted.Store(0)
	q.doneSlots.Store(0)
}

// bell returns the index for the doorbell.
func (q *sendQueue) bell() uint32 {
	if q.variable {
		return q.slot | q.epoch<<bellEpoch
	}
	return q.next | q.epoch<<bellEpoch
}

// post writes work requests and returns their number.
func (q *sendQueue) post(wrs []provider.SendWR) (n int, err error) {
	for n < len(wrs) {
		if err = q.fill(&wrs[n]); err != nil {
			break
		}
		n++
	}
	if n > 0 {
		q.posted.Add(uint32(n))
	}
	return n, err
}

// maxMessage is the longest message.
const maxMessage = math.MaxInt32

// fill writes a work request. The usual case has a single SGE, and does not cross the ring's
// end.
func (q *sendQueue) fill(wr *provider.SendWR) error {
	if o := &operations[wr.Opcode&15]; o.usual && wr.Opcode < 16 && len(wr.SGEs) == 1 && wr.Flags&provider.SendInline == 0 && !q.ud &&
		q.slot+headerSlots < uint32(len(q.ring)) && wr.SGEs[0].Length <= maxMessage {
		return q.fillUsual(wr, o)
	}
	length, to, err := q.check(wr)
	if err != nil {
		return err
	}
	size := headerSlots + uint32(len(wr.SGEs))
	if wr.Flags&provider.SendInline != 0 {
		size = headerSlots + (length+slotSize-1)/slotSize
	}
	step, err := q.reserve(size)
	if err != nil {
		return err
	}
	o := &operations[wr.Opcode]
	q.putHeader(wr, o, size, length, to)
	if wr.Flags&provider.SendInline != 0 {
		q.putInline(wr.Inline)
	} else {
		for i := range wr.SGEs {
			*q.at(headerSlots + uint32(i)) = sgeOf(&wr.SGEs[i])
		}
	}
	q.finish(wr, o, length, step)
	return nil
}

// fillUsual is fill for a single SGE.
func (q *sendQueue) fillUsual(wr *provider.SendWR, o *operation) error {
	if q.maxSGE < 1 {
		return provider.ErrSGEs
	}
	step, err := q.reserve(headerSlots + 1)
	if err != nil {
		return err
	}
	w := (*[headerSlots + 1]slot)(q.ring[q.slot:])
	head := o.op | (headerSlots+1)<<wqeSlots | uint32(headFlags[(wr.Flags|q.flags)&15])
	s := &wr.SGEs[0]
	w[0] = slot{mmio.LE64(uint64(head)), mmio.LE64(uint64(s.Length))}
	w[1] = slot{}
	if o.remote {
		w[1] = slot{mmio.LE64(wr.RemoteAddr), mmio.LE64(uint64(wr.RKey))}
	}
	w[2] = sgeOf(s)
	q.finish(wr, o, s.Length, step)
	return nil
}

// reserve returns the slots of the ring for a work request of a size.
func (q *sendQueue) reserve(size uint32) (step uint32, err error) {
	if step = size; !q.variable {
		step = staticSlots
	}
	if uint32(len(q.ring))-(q.used-q.doneSlots.Load()) <= step+q.reserved {
		return 0, provider.ErrFull
	}
	return step, nil
}

// finish writes a work request's packet numbers, keeps its parameters, and moves the producer
// behind it.
func (q *sendQueue) finish(wr *provider.SendWR, o *operation, length, step uint32) {
	if q.packets.table != nil {
		q.packets.put(length, q.next, q.slot, o.completed, q.variable)
	}
	q.requests[q.next] = request{wr.ID, length, uint8(step), (wr.Flags|q.flags)&provider.SendSignaled != 0, o.completed}
	q.used += step
	if q.slot += step; q.slot >= uint32(len(q.ring)) {
		q.slot -= uint32(len(q.ring))
		q.epoch ^= 1
	}
	if q.next++; q.next == uint32(len(q.requests)) {
		q.next = 0
	}
}

// at returns a slot of the next work request.
func (q *sendQueue) at(i uint32) *slot {
	if i += q.slot; i >= uint32(len(q.ring)) {
		i -= uint32(len(q.ring))
	}
	return &q.ring[i]
}

// sgeOf returns an SGE's slot.
func sgeOf(s *provider.SGE) slot {
	return slot{mmio.LE64(s.Addr), mmio.LE64(uint64(s.Length)<<32 | uint64(s.LKey))}
}

// headFlags are a header's flags by SendFlags.
var headFlags = func() (all [16]uint16) {
	for i := range all {
		for flag, bit := range map[provider.SendFlags]uint16{
			provider.SendSignaled: wqeSignaled, provider.SendFence: wqeFence, provider.SendSolicited: wqeSolicited, provider.SendInline: wqeInline,
		} {
			if provider.SendFlags(i)&flag != 0 {
				all[i] |= bit
			}
		}
	}
	return all
}()

// putHeader writes a work request's header.
func (q *sendQueue) putHeader(wr *provider.SendWR, o *operation, size, length uint32, to *ah) {
	head := o.op | size<<wqeSlots | uint32(headFlags[(wr.Flags|q.flags)&15])
	key, second := uint32(0), uint64(length)
	var peer slot
	switch wr.Opcode {
	case provider.OpCompareSwap:
		key, second, peer = wr.RKey, wr.RemoteAddr, slot{wr.Swap, wr.CompareAdd}
	case provider.OpFetchAdd: // the operand is in the place of the other's swap value
		key, second, peer = wr.RKey, wr.RemoteAddr, slot{wr.CompareAdd, 0}
	case provider.OpSendWithImm, provider.OpWriteWithImm:
		key = wr.Imm
	}
	switch {
	case o.remote:
		peer = slot{wr.RemoteAddr, uint64(wr.RKey)}
	case to != nil:
		second |= uint64(wr.QKey) << 32
		peer[0] = uint64(to.id)<<32 | uint64(wr.RemoteQPN)
	}
	*q.at(0) = slot{mmio.LE64(uint64(key)<<32 | uint64(head)), mmio.LE64(second)}
	*q.at(1) = slot{mmio.LE64(peer[0]), mmio.LE64(peer[1])}
}

// putInline writes inline data. The last slot is filled with zeros.
func (q *sendQueue) putInline(data []byte) {
	for i := uint32(headerSlots); len(data) > 0; i++ {
		to := q.at(i)
		*to = slot{}
		data = data[copy((*[slotSize]byte)(unsafe.Pointer(to))[:], data):]
	}
}

// atomicSize is an atomic operand's size in bytes.
const atomicSize = 8

// check rejects work requests that the adapter would misinterpret. It returns the payload's
// length, and a datagram's address handle.
func (q *sendQueue) check(wr *provider.SendWR) (length uint32, to *ah, err error) {
	switch {
	case int(wr.Opcode) >= len(operations), !operations[wr.Opcode].ok,
		q.ud && wr.Opcode != provider.OpSend && wr.Opcode != provider.OpSendWithImm:
		return 0, nil, provider.ErrOpcode
	case wr.Flags&provider.SendInline != 0:
		if !wr.Opcode.CarriesPayload() || len(wr.Inline) > q.maxInline {
			return 0, nil, provider.ErrInline
		}
		length = uint32(len(wr.Inline))
	case len(wr.SGEs) > q.maxSGE:
		return 0, nil, provider.ErrSGEs
	default:
		if length, err = provider.Length(wr.SGEs, maxMessage); err != nil {
			return 0, nil, err
		}
	}
	switch {
	case wr.Opcode.IsAtomic() && (length != atomicSize || len(wr.SGEs) != 1):
		return 0, nil, provider.ErrLength
	case !q.ud:
		return length, nil, nil
	case wr.AH == nil:
		return 0, nil, provider.ErrAH
	}
	to, ok := wr.AH.Provided().(*ah)
	if !ok {
		return 0, nil, provider.ErrAH
	}
	return length, to, nil
}
