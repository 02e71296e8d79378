package irdma

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A cq is a completion queue: an entry ring, which the adapter fills. Its size is not a
// power of two.
type cq struct {
	device  *device
	memory  memory
	apart   memory // of the shadow area, if it is registered by itself
	shadow  *shadow
	ring    []quantum // entries of a quantum, or of two
	scale   uint32    // quanta of an entry
	size    uint32    // entries
	index   uint32    // next entry to poll
	odd     bool      // its round: the valid bit is 0
	number  uint32
	armed   bool
	partial bool   // armed for solicited completions only
	flushed []work // queues with work requests that the adapter does not complete
}

// The shadow area's words (defs.h, IRDMA_CQ_DBSA_*).
const (
	shadowIndex = 0
	shadowArm   = 4

	armNext      = 1 << 14
	armSolicited = 1 << 15
	armSequence  = 1 << 16 // the unit of two bits
)

// NewCQ creates a completion queue with RoundCQ's entries.
func (d *device) NewCQ(attr provider.CQAttr, create provider.Create) (provider.CQ, error) {
	if attr.Entries >= d.limits.MaxHWCQSize {
		return nil, fmt.Errorf("completion queue of %d entries, the adapter has up to %d: %w", attr.Entries, d.limits.MaxHWCQSize-1, unix.EINVAL)
	}
	if err := d.ensurePage(); err != nil {
		return nil, err
	}
	q := &cq{device: d, size: d.RoundCQ(attr.Entries), scale: 1}
	if d.has(featureLongCQE) {
		q.scale = 2
	}
	if err := q.allocate(); err != nil {
		return nil, err
	}
	in := uapi.IRDMACreateCQ{UserCQBuf: q.memory.Addr(), UserShadowArea: q.shadowAddr()}
	var resp uapi.IRDMACreateCQResp
	if _, err := create(uapi.Bytes(&in), uapi.Bytes(&resp)); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	q.number = resp.CQID
	if resp.CQSize != q.size {
		return q, fmt.Errorf("completion queue: got %d entries, want %d: %w", resp.CQSize, q.size, provider.ErrCorrupt)
	}
	return q, nil
}

// allocate allocates the ring and the shadow area.
func (q *cq) allocate() (err error) {
	size := pages(q.size*q.scale, quantumSize)
	reg := uapi.IRDMAMemRegReq{RegType: uapi.IRDMARegCQ, CQPages: uint16(size / pageSize)}
	apart := q.device.has(featureResize)
	total := size + shadowSize
	if apart {
		total = size
	}
	if q.memory, err = q.device.newMemory(total, reg); err != nil {
		return err
	}
	q.ring = q.memory.quanta(0, q.size*q.scale)
	if !apart {
		q.shadow = q.memory.shadow(size)
		return nil
	}
	reg.CQPages = 1
	if q.apart, err = q.device.newMemory(shadowSize, reg); err != nil {
		return errors.Join(err, q.memory.Close())
	}
	q.shadow = q.apart.shadow(0)
	return nil
}

// shadowAddr returns the shadow area's address.
func (q *cq) shadowAddr() uint64 { return uint64(uintptr(unsafe.Pointer(q.shadow))) }

// ready reports whether the adapter has written a quantum with a valid bit.
func ready(e *quantum, odd bool) bool {
	return mmio.AcquireLE32(unsafe.Add(unsafe.Pointer(e), quantumSize-4))>>31 != 0 == !odd
}

// next returns an entry and its extension, or nil if the adapter has not written it. It
// returns the number of entries, too.
func (q *cq) next(index uint32, odd bool) (e, more *quantum, n uint32) {
	e = &q.ring[index*q.scale]
	if !ready(e, odd) {
		return nil, nil, 0
	}
	if mmio.LE64(e[3])&cqeExtended == 0 {
		return e, nil, 1
	}
	if q.scale == 2 {
		more, n = &q.ring[index*2+1], 1
	} else {
		index++
		if index == q.size {
			index, odd = 0, !odd
		}
		more, n = &q.ring[index], 2
	}
	if !ready(more, odd) {
		return nil, nil, 0
	}
	return e, more, n
}

// advance returns the position after a number of entries.
func (q *cq) advance(index uint32, odd bool, n uint32) (uint32, bool) {
	if index += n; index >= q.size {
		return index - q.size, !odd
	}
	return index, odd
}

// Poll removes completions from the ring. Once it is empty, the work requests of failed
// queues complete, too.
func (q *cq) Poll(into []provider.Completion) (n int, err error) {
	before := q.index
	odd := q.odd
	for {
		n += q.direct(into[n:])
		if n == len(into) {
			break
		}
		e, more, entries := q.next(q.index, q.odd)
		if e == nil {
			break
		}
		found, decoded := q.decode(&into[n], e, more)
		if decoded != nil {
			err = decoded
			break
		}
		q.index, q.odd = q.advance(q.index, q.odd, entries)
		if found {
			n++
		}
	}
	if q.index != before || q.odd != odd {
		provider.Store64(&q.shadow[shadowIndex], mmio.LE64(uint64(q.index)))
	}
	if err == nil && len(q.flushed) > 0 {
		n += q.pollFlushed(into[n:])
	}
	return n, err
}

// The bits of a completion's last four bytes that direct looks at, and their values for a
// successful send work request without an extension.
const (
	directBits = (wqeValid | cqeSend | cqeError | cqeSRQ | cqeExtended) >> 32
	directWant = (wqeValid | cqeSend) >> 32
)

// direct removes the completions of successful send work requests, up to another kind. It is
// a loop without calls, because it determines the polling cost.
func (q *cq) direct(into []provider.Completion) (n int) {
	var s *sendQueue // the last completion's
	var owner *qp
	var context uint64
	var tail uint32
	var flip uint32
	if q.odd {
		flip = wqeValid >> 32
	}
	for n < len(into) {
		e := &q.ring[q.index*q.scale]
		high := mmio.AcquireLE32(unsafe.Add(unsafe.Pointer(e), quantumSize-4)) ^ flip
		if high&directBits != directWant {
			break
		}
		if owner == nil || e[1] != context {
			if s != nil {
				s.tail.Store(tail)
			}
			context = e[1]
			if owner = q.device.queues.Find(mmio.LE64(context) - 1); owner == nil {
				return n
			}
			s, tail = &owner.send, owner.send.tail.Load()
		}
		index := high & 0x7fff
		kind := &completed[high>>(cqeOp-32)&0x3f]
		if int(index) >= len(s.slots) || s.slots[index].quanta == 0 || !kind.known {
			break
		}
		done := &s.slots[index]
		tail += (index + uint32(done.quanta) - tail) & uint32(len(s.ring)-1)
		into[n] = provider.Completion{ID: done.id, Opcode: kind.opcode, ByteLen: done.length, QPN: owner.number}
		n++
		if q.index++; q.index == q.size {
			q.index, q.odd = 0, !q.odd
			flip ^= wqeValid >> 32
		}
	}
	if s != nil {
		s.tail.Store(tail)
	}
	return n
}

// Arm stores the request in the shadow area and writes to the doorbell. An armed queue is
// not armed again before its event, unless the request is for more (uverbs.c, irdma_uarm_cq).
func (q *cq) Arm(solicitedOnly bool) error {
	if q.armed && (!q.partial || solicitedOnly) {
		return nil
	}
	q.armed, q.partial = true, solicitedOnly
	word := (mmio.LE64(q.shadow[shadowArm]) + armSequence) & (armSequence * 3)
	word |= armSolicited
	if !solicitedOnly {
		word |= armNext
	}
	provider.Store64(&q.shadow[shadowArm], mmio.LE64(word))
	q.device.ring(bellCQ, q.number)
	return nil
}

// Delivered notes that the event has come.
func (q *cq) Delivered() { q.armed = false }

// purge removes a queue pair's completions: their context becomes 0, which Poll skips.
func (q *cq) purge(owner *qp) {
	q.flushed = slices.DeleteFunc(q.flushed, func(w work) bool { return w.qp == owner })
	index, odd := q.index, q.odd
	for range q.size {
		e, more, n := q.next(index, odd)
		if e == nil {
			return
		}
		if context := contextOf(e, more); *context == mmio.LE64(owner.context) {
			*context = 0
			if mmio.LE64(e[3])&cqeSRQ != 0 && owner.srq != nil {
				owner.srq.queue.tail.Add(1)
			}
		}
		index, odd = q.advance(index, odd, n)
	}
}

// Close releases the memory.
func (q *cq) Close() error { return errors.Join(q.memory.Close(), q.apart.Close()) }
