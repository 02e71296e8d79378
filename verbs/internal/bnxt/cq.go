package bnxt

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// An entry is a completion. Words have the adapter's byte order; the last has the flags and,
// in the high half, a receive's number.
type entry [entrySize / 8]uint64

// A cq is a completion queue: an entry ring, which the adapter fills.
type cq struct {
	device  *device
	memory  *dmamem.Memory
	ring    []entry
	head    uint32 // next entry to poll
	phase   uint32 // of a valid entry
	epoch   uint32
	unrung  uint32 // entries since the last doorbell
	number  uint32
	toggle  toggle
	flushed atomic.Pointer[[]work] // queues in error, with work requests that the adapter does not complete

	handle  uint32         // the kernel's
	resized *dmamem.Memory // ring after the cut-off, or nil
	entries uint32         // in it
}

// NewCQ creates a completion queue with RoundCQ's entries, and a free one.
func (d *device) NewCQ(attr provider.CQAttr, create provider.Create) (provider.CQ, error) {
	if attr.Entries > d.limits.MaxCQD {
		return nil, fmt.Errorf("completion queue of %d entries, the adapter has up to %d: %w", attr.Entries, d.limits.MaxCQD, unix.EINVAL)
	}
	if err := d.ensurePage(); err != nil {
		return nil, err
	}
	memory, entries, err := d.newRing(attr.Entries)
	if err != nil {
		return nil, err
	}
	q := &cq{device: d, memory: memory, ring: view[entry](memory, 0, entries)}
	in := uapi.BNXTCQReq{CQVA: memory.Addr(), CQHandle: memory.Addr()}
	var resp uapi.BNXTCQResp
	created, err := create(uapi.Bytes(&in), uapi.Bytes(&resp))
	if err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	q.handle, q.number, q.phase = created.Handle, resp.CQID, resp.Phase&cqePhase
	if q.number > numberMask {
		return q, fmt.Errorf("completion queue %#x, doorbells have 20 bits for it: %w", q.number, provider.ErrCorrupt)
	}
	if resp.CompMask&uapi.BNXTCQToggle != 0 {
		err = q.toggle.open(d, uapi.BNXTToggleCQ, q.number)
	}
	return q, err
}

// newRing allocates a ring for a number of completions, and returns its entries.
func (d *device) newRing(completions uint32) (*dmamem.Memory, uint32, error) {
	entries := min(d.depth(d.RoundCQ(completions)+1), d.limits.MaxCQD+1)
	memory, err := d.newMemory(d.pages(entries * entrySize))
	return memory, entries, err
}

// at returns an entry and its flags. valid: the adapter has written it.
func (q *cq) at(index, phase uint32) (e *entry, flags uint32, valid bool) {
	e = &q.ring[index]
	flags = mmio.AcquireLE32(unsafe.Pointer(&e[3]))
	return e, flags, flags&cqePhase == phase
}

// directBits are the type and the status of a completion. Both are 0 for a successful send.
const directBits = 0xf<<cqeType | 0xff<<cqeStatus

// Poll removes completions from the ring. Once it is empty, the work requests of queues in error
// complete, too. The completions of single successful sends, up to the ring's end or a
// doorbell, are removed in a loop without calls, because calls determine the polling cost.
func (q *cq) Poll(into []provider.Completion) (n int, err error) {
	for n < len(into) {
		var owner *qp
		var requests []request
		var handle uint64
		var number, oldest, left, slots uint32
		head, room := q.head, min(uint32(len(q.ring))-q.head, uint32(len(q.ring))/2-q.unrung)
		for end := min(len(into), n+int(room)-1); n < end; n++ {
			e := &q.ring[head]
			if flags := mmio.AcquireLE32(unsafe.Pointer(&e[3])); flags&(directBits|cqePhase) != q.phase {
				break
			}
			if owner == nil || e[0] != handle {
				if owner != nil {
					owner.send.retireAll(oldest, slots)
				}
				handle, slots = e[0], 0
				if owner = q.device.queues.Find(mmio.LE64(handle) - 1); owner == nil || owner.sendCQ != q {
					owner = nil
					break
				}
				s := &owner.send
				requests, number, oldest, left = s.requests, owner.number, s.oldest, s.posted.Load()-s.done
			}
			r := &requests[oldest]
			next := oldest + 1
			if next == uint32(len(requests)) {
				next = 0
			}
			if uint32(uint16(mmio.LE64(e[1]))) != next || left == 0 || !r.signaled {
				break
			}
			c := &into[n]
			*c = provider.Completion{}
			c.ID, c.Opcode, c.ByteLen, c.QPN = r.id, r.opcode, r.length, number
			slots += uint32(r.slots)
			oldest = next
			left--
			head++
		}
		if owner != nil {
			owner.send.retireAll(oldest, slots)
		}
		q.unrung += head - q.head
		q.head = head
		if n == len(into) {
			break
		}
		e, flags, valid := q.at(q.head, q.phase)
		if !valid {
			break
		}
		if kindOf(flags) == typeCutoff {
			if err = q.cutOff(flags >> cqeToggle & toggleMask); err != nil {
				break
			}
			continue
		}
		got, whole, decoded := q.decode(into[n:], e, flags)
		n += got
		if err = decoded; err != nil || !whole {
			break
		}
		q.advance()
	}
	if n < len(into) && err == nil && q.flushed.Load() != nil {
		n += q.pollFlushed(into[n:])
	}
	return n, err
}

// retireAll frees the work requests before an entry, which have a number of slots.
func (q *sendQueue) retireAll(oldest, slots uint32) {
	if oldest == q.oldest {
		return
	}
	n := oldest - q.oldest
	if oldest < q.oldest {
		n += uint32(len(q.requests))
	}
	q.oldest = oldest
	q.done += n
	q.doneSlots.Add(slots)
}

// advance removes an entry. The doorbell follows half a round.
func (q *cq) advance() {
	if q.head++; q.head == uint32(len(q.ring)) {
		q.head = 0
		q.phase ^= cqePhase
		q.epoch ^= 1
	}
	if q.unrung++; q.unrung >= uint32(len(q.ring))/2 {
		q.unrung = 0
		q.device.ring(bellCQ, q.number, q.head|q.epoch<<bellEpoch)
	}
}

// Arm writes to the doorbell.
func (q *cq) Arm(solicitedOnly bool) error {
	kind := uint32(bellCQArm)
	if solicitedOnly {
		kind = bellCQArmSol
	}
	q.device.ring(kind, q.number, q.head|q.epoch<<bellEpoch|q.toggle.load())
	return nil
}

// Delivered has no effect: the toggle is the driver's.
func (q *cq) Delivered() {}

// purge removes a queue pair's completions: their handle becomes 0, which Poll skips.
func (q *cq) purge(owner *qp) {
	q.forget(owner)
	index, phase := q.head, q.phase
	for range q.ring {
		e, flags, valid := q.at(index, phase)
		if !valid {
			return
		}
		if handle := handleOf(e, flags); *handle == mmio.LE64(owner.handle) {
			*handle = 0
			if isReceive(flags) && owner.srq != nil {
				owner.srq.release(numberOf(e))
			}
		}
		if index++; index == uint32(len(q.ring)) {
			index, phase = 0, phase^cqePhase
		}
	}
}

// Resize gives the adapter a ring of another size. It ends the old ring with a cut-off.
func (q *cq) Resize(completions uint32, resize func(in []byte) (uint32, error)) error {
	switch {
	case completions > q.device.limits.MaxCQD:
		return fmt.Errorf("completion queue of %d entries, the adapter has up to %d: %w", completions, q.device.limits.MaxCQD, unix.EINVAL)
	case q.resized != nil:
		return fmt.Errorf("the last change has not finished: %w", unix.EBUSY)
	}
	memory, entries, err := q.device.newRing(completions)
	if err != nil {
		return err
	}
	if _, err := resize(uapi.Bytes(&uapi.BNXTResizeCQReq{CQVA: memory.Addr()})); err != nil {
		return errors.Join(err, memory.Close())
	}
	q.resized, q.entries = memory, entries
	return nil
}

// cutOff changes to the new ring, which begins with the first phase, and acknowledges it. The
// epoch changes if the index becomes smaller (db.c, bnxt_re_cq_resize_check).
func (q *cq) cutOff(toggle uint32) error {
	if q.resized == nil {
		return provider.ErrCorrupt
	}
	if err := q.device.PollCQ(q.handle); err != nil {
		return err
	}
	old := q.memory
	q.memory, q.resized = q.resized, nil
	q.ring = view[entry](q.memory, 0, q.entries)
	if q.head > 0 {
		q.epoch ^= 1
	}
	q.head, q.phase, q.unrung = 0, cqePhase, 0
	q.device.ring(bellCQCutoff, q.number, q.epoch<<bellEpoch|toggle<<bellToggle)
	return old.Close()
}

// Close releases the memory.
func (q *cq) Close() error {
	err := q.toggle.close()
	if q.resized != nil {
		err = errors.Join(err, q.resized.Close())
	}
	return errors.Join(err, q.memory.Close())
}
