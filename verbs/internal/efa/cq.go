package efa

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A cqe is a completion. Words have the adapter's byte order.
type cqe [cqeSize / 8]uint64

// A subCQ is a ring of a completion queue. The adapter assigns queues to rings.
type subCQ struct {
	ring  []cqe  // a power of 2
	index uint32 // next entry to poll; counts run freely
}

// A cq is a completion queue.
type cq struct {
	device   *device
	memory   []byte
	register []byte         // page; nil without events
	bell     unsafe.Pointer // nil without events
	subs     []subCQ
	turn     int    // ring that Poll begins with
	consumed uint16 // in all rings
	events   uint8
}

// The bits in the register (efa_io_regs_defs.h).
const (
	bellArm      = 1 << 31
	bellSequence = 29 // position, two bits
)

// NewCQ creates a completion queue with RoundCQ's entries in each ring.
func (d *device) NewCQ(attr provider.CQAttr, create provider.Create) (provider.CQ, error) {
	in := uapi.EFACreateCQ{CQEntrySize: cqeSize, NumSubCQs: d.context.SubCQsPerCQ}
	if attr.Events {
		if !d.has(uapi.EFADeviceNotifications) {
			return nil, fmt.Errorf("completion queue with events, which the adapter has none of: %w", errors.ErrUnsupported)
		}
		in.Flags = uapi.EFACQWithChannel
	}
	var resp uapi.EFACreateCQResp
	created, err := create(uapi.Bytes(&in), uapi.Bytes(&resp))
	if err != nil {
		return nil, err
	}
	q := &cq{device: d, subs: make([]subCQ, d.context.SubCQsPerCQ)}
	size := d.RoundCQ(attr.Entries)
	need := pages(uint64(size) * cqeSize * uint64(len(q.subs)))
	if created.CQE != size || resp.QMmapSize != need || resp.DBOff > uint32(os.Getpagesize())-4 || resp.DBOff%4 != 0 {
		return nil, fmt.Errorf("completion queue: got %d entries in %d bytes, register at %d, want %d in %d: %w",
			created.CQE, resp.QMmapSize, resp.DBOff, size, need, provider.ErrCorrupt)
	}
	return q, q.mapAll(size, resp)
}

// mapAll maps the rings and the register.
func (q *cq) mapAll(size uint32, resp uapi.EFACreateCQResp) (err error) {
	if q.memory, err = q.device.Map(resp.QMmapKey, int(resp.QMmapSize)); err != nil {
		return err
	}
	all := unsafe.Slice((*cqe)(unsafe.Pointer(unsafe.SliceData(q.memory))), size*uint32(len(q.subs)))
	for i := range q.subs {
		q.subs[i].ring = all[uint32(i)*size:][:size]
	}
	if resp.CompMask&uapi.EFACQDBOffset == 0 {
		return nil
	}
	if q.register, err = q.device.Map(resp.DBMmapKey, os.Getpagesize()); err != nil {
		return err
	}
	q.bell = unsafe.Pointer(&q.register[resp.DBOff])
	return nil
}

// next returns the next entry of a ring, or nil if the adapter has not written it. The phase
// bit is 1 in the first round.
func (s *subCQ) next() *cqe {
	size := uint32(len(s.ring))
	e := &s.ring[s.index&(size-1)]
	if mmio.AcquireLE32(unsafe.Pointer(e))>>cqePhase&1 != 0 != (s.index&size == 0) {
		return nil
	}
	return e
}

// Poll removes completions from the rings, and begins with another ring each time.
func (q *cq) Poll(into []provider.Completion) (n int, err error) {
	before, turn := q.consumed, q.turn
	for range q.subs {
		if s := &q.subs[turn]; s.next() != nil {
			var found int
			found, err = q.pollRing(s, into[n:])
			if n += found; err != nil || n == len(into) {
				break
			}
		}
		if turn++; turn == len(q.subs) {
			turn = 0
		}
	}
	if q.turn++; q.turn == len(q.subs) {
		q.turn = 0
	}
	if q.consumed != before && q.bell != nil {
		q.ring(0)
	}
	return n, err
}

// pollRing removes completions from a ring. The completions of successful, signaled sends
// are removed in a loop without calls, because calls determine the polling cost.
func (q *cq) pollRing(s *subCQ, into []provider.Completion) (n int, err error) {
	for {
		var owner *qp
		number := uint64(1 << 16) // of the last completion
		first := n
		for ; n < len(into); n++ {
			e := s.next()
			if e == nil {
				break
			}
			word := mmio.LE64(e[0])
			if word&(3<<cqeQueue|0xff<<cqeStatus) != queueSend<<cqeQueue {
				break
			}
			if now := word >> cqeQPN & 0xffff; now != number {
				if owner = q.device.queues[now].Load(); owner == nil {
					break
				}
				number = now
			}
			w := &owner.send
			id := uint16(word) ^ w.generation
			if int(id) >= len(w.slots) || w.slots[id].state != isPosted|isSignaled {
				break
			}
			done := &w.slots[id]
			done.state = 0
			w.free.put(id)
			into[n] = provider.Completion{ID: done.id, Opcode: done.opcode, ByteLen: done.length, QPN: owner.number}
			s.index++
		}
		q.consumed += uint16(n - first)
		if n == len(into) {
			return n, nil
		}
		e := s.next()
		if e == nil {
			return n, nil
		}
		found, err := q.decode(&into[n], e)
		if err != nil {
			return n, err
		}
		s.index++
		q.consumed++
		if found {
			n++
		}
	}
}

// ring writes to the register.
func (q *cq) ring(arm uint32) {
	mmio.DeviceBarrier()
	mmio.Store32(q.bell, mmio.LE32(arm|uint32(q.events&3)<<bellSequence|uint32(q.consumed)))
}

// Arm requests an event. The adapter knows no solicited completions.
func (q *cq) Arm(solicitedOnly bool) error {
	if solicitedOnly || q.bell == nil {
		return fmt.Errorf("arm completion queue of efa: %w", errors.ErrUnsupported)
	}
	q.ring(bellArm)
	return nil
}

// Delivered counts an event, for the sequence number of the next request.
func (q *cq) Delivered() { q.events++ }

// Close unmaps the queue.
func (q *cq) Close() error { return q.device.unmap(q.memory, q.register) }

// unmap unmaps the mappings that exist.
func (d *device) unmap(mappings ...[]byte) error {
	var errs []error
	for _, m := range mappings {
		if m != nil {
			errs = append(errs, d.Unmap(m))
		}
	}
	return errors.Join(errs...)
}
