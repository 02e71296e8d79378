package bnxt

import (
	"math"
	"sync/atomic"
	"unsafe"

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

// maxMessage is the longest message.
const maxMessage = math.MaxInt32

// PostSend writes work requests, rings the doorbell once, and returns their number. The usual
// work request has a single SGE, and does not cross the ring's end: it is written here,
// because calls determine the posting cost.
func (q *qp) PostSend(wrs []provider.SendWR) (n int, err error) {
	s := &q.send
	for ; n < len(wrs); n++ {
		wr := &wrs[n]
		o := &operations[wr.Opcode&15]
		if !o.usual || wr.Opcode > 15 || len(wr.SGEs) != 1 || s.maxSGE < 1 || wr.Flags&provider.SendInline != 0 || s.ud ||
			s.slot+headerSlots >= uint32(len(s.ring)) || wr.SGEs[0].Length > maxMessage {
			if err = s.fill(wr); err != nil {
				break
			}
			continue
		}
		const size = headerSlots + 1
		step := uint32(size)
		if !s.variable {
			step = staticSlots
		}
		if !s.hasRoom(step) {
			err = provider.ErrFull
			break
		}
		w := (*[size]slot)(s.ring[s.slot:])
		sge := &wr.SGEs[0]
		w[0].set(uint64(o.op|size<<wqeSlots|uint32(headFlags[(wr.Flags|s.flags)&15])), uint64(sge.Length))
		if o.remote {
			w[1].set(wr.RemoteAddr, uint64(wr.RKey))
		} else {
			w[1].set(0, 0)
		}
		w[2].set(sge.Addr, uint64(sge.Length)<<32|uint64(sge.LKey))
		s.finish(wr, o, sge.Length, step)
	}
	if n > 0 {
		s.posted.Add(uint32(n))
		q.device.ring(bellSQ, q.number, s.bell())
	}
	return n, err
}

// fill writes any work request.
func (q *sendQueue) fill(wr *provider.SendWR) error {
	length, to, err := q.check(wr)
	if err != nil {
		return err
	}
	size := headerSlots + uint32(len(wr.SGEs))
	if wr.Flags&provider.SendInline != 0 {
		size = headerSlots + (length+slotSize-1)/slotSize
	}
	step := size
	if !q.variable {
		step = staticSlots
	}
	if !q.hasRoom(step) {
		return provider.ErrFull
	}
	o := &operations[wr.Opcode]
	q.putHeader(wr, o, size, length, to)
	if wr.Flags&provider.SendInline != 0 {
		q.putInline(wr.Inline)
	} else {
		for i := range wr.SGEs {
			s := &wr.SGEs[i]
			q.at(headerSlots+uint32(i)).set(s.Addr, uint64(s.Length)<<32|uint64(s.LKey))
		}
	}
	q.finish(wr, o, length, step)
	return nil
}

// hasRoom reports whether a work request fits.
func (q *sendQueue) hasRoom(step uint32) bool {
	return uint32(len(q.ring))-(q.used-q.doneSlots.Load()) > step+q.reserved
}

// finish writes a work request's packet numbers, keeps its parameters, and moves the producer
// behind it.
func (q *sendQueue) finish(wr *provider.SendWR, o *operation, length, step uint32) {
	if q.packets.table != nil {
		q.packets.put(length, q.next, q.slot, o.completed, q.variable)
	}
	r := &q.requests[q.next]
	r.id, r.length, r.slots, r.opcode = wr.ID, length, uint8(step), o.completed
	r.signaled = (wr.Flags|q.flags)&provider.SendSignaled != 0
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
	var peer, more uint64
	switch wr.Opcode {
	case provider.OpCompareSwap:
		key, second, peer, more = wr.RKey, wr.RemoteAddr, wr.Swap, wr.CompareAdd
	case provider.OpFetchAdd: // the operand is in the place of the other's swap value
		key, second, peer = wr.RKey, wr.RemoteAddr, wr.CompareAdd
	case provider.OpSendWithImm, provider.OpWriteWithImm:
		key = wr.Imm
	}
	switch {
	case o.remote:
		peer, more = wr.RemoteAddr, uint64(wr.RKey)
	case to != nil:
		second |= uint64(wr.QKey) << 32
		peer = uint64(to.id)<<32 | uint64(wr.RemoteQPN)
	}
	q.at(0).set(uint64(key)<<32|uint64(head), second)
	q.at(1).set(peer, more)
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
	}
	to, ok := wr.AH.Provided().(*ah)
	if !ok {
		return 0, nil, provider.ErrAH
	}
	return length, to, nil
}
