package mlx5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A cq is a completion queue: an entry ring, which the adapter fills.
type cq struct {
	device   *device
	memory   memory
	first    unsafe.Pointer   // to the used part in memory.buffer's first entry
	rings    []*dmamem.Memory // from Resize; the last is memory.buffer
	stride   int              // entry size in bytes; the adapter writes the last 64
	scale    uint32           // stride in 64-byte units
	mask     uint32           // entry count (a power of two) minus 1
	round    uint             // log2 of the entry count: that index bit is the owner
	index    uint32           // next entry to poll; not reduced to the ring
	number   uint32
	sequence uint32 // delivered event count
	page     *page
}

// cqeSize is the size in bytes that a completion queue entry uses.
const cqeSize = 64

// The words of a completion queue's doorbell record.
const (
	cqConsumer = 0
	cqArm      = 1
)

// maxCQEntries is a completion queue's maximum size: indices have 24 bits.
const maxCQEntries = 1 << 24

// NewCQ creates a completion queue.
func (d *device) NewCQ(attr provider.CQAttr, create provider.Create) (provider.CQ, error) {
	if attr.Entries >= maxCQEntries {
		return nil, fmt.Errorf("completion queue of %d entries: %w", attr.Entries, unix.EINVAL)
	}
	p, err := d.commonPage()
	if err != nil {
		return nil, err
	}
	// The kernel computes the same size from the number in the command.
	size := queue.RoundUp(attr.Entries + 1)
	stride := d.cqeSize
	m, err := d.newMemory(int(size) * stride)
	if err != nil {
		return nil, err
	}
	q := &cq{device: d, memory: m, stride: stride, scale: uint32(stride / cqeSize), mask: size - 1, round: uint(bits.TrailingZeros32(size)), page: p}
	q.locate()
	invalidate(m.buffer, stride)
	in := uapi.MLX5CreateCQ{
		BufAddr: m.Addr(), DBAddr: m.recordAddr(), CQESize: uint32(stride), Flags: uapi.MLX5CQUARPageIndex, UARPageIndex: uint16(p.id),
	}
	if p.id > 1<<16-1 {
		return nil, closing(m, fmt.Errorf("doorbell page %d, completion queues have 16 bits for it: %w", p.id, errors.ErrUnsupported))
	}
	var resp uapi.MLX5CreateCQResp
	created, err := create(uapi.Bytes(&in), uapi.Bytes(&resp))
	if err != nil {
		return nil, closing(m, err)
	}
	if created.CQE != size-1 {
		return q, fmt.Errorf("completion queue: got %d entries, want %d: %w", created.CQE, size-1, provider.ErrCorrupt)
	}
	q.number = resp.CQN
	return q, nil
}

// locate sets first after a ring change.
func (q *cq) locate() { q.first = unsafe.Pointer(&q.memory.buffer[q.stride-cqeSize]) }

// invalidate marks all entries up to a size as not written.
func invalidate(ring []byte, stride int) {
	for i := stride - cqeSize + cqeOwner; i < len(ring); i += stride {
		ring[i] = cqeInvalid << 4
	}
}

// closing releases memory that no object uses, after an error.
func closing(m memory, err error) error {
	if e := m.Close(); e != nil {
		return fmt.Errorf("%w (%w)", err, e)
	}
	return err
}

// entry returns the entry at an index.
func (q *cq) entry(index uint32) *[cqeSize]byte {
	return &q.entries()[(index&q.mask+1)*q.scale-1]
}

// entries returns the ring. In 128-byte entries, the second half is used.
func (q *cq) entries() [][cqeSize]byte {
	b := q.memory.buffer
	return unsafe.Slice((*[cqeSize]byte)(unsafe.Pointer(unsafe.SliceData(b))), uint(len(b))/cqeSize)
}

// ready returns the entry at an index if the adapter has written it.
func (q *cq) ready(index uint32) *[cqeSize]byte {
	e := q.entry(index)
	own := mmio.Acquire(&e[cqeCounter])[cqeOwner-cqeCounter]
	if own>>4 == cqeInvalid || uint32(own)&1 != index>>q.round&1 {
		return nil
	}
	return e
}

// Poll removes completions from the ring. Its first part is the usual case: a single
// completion for a successful send work request, as direct is for several: a single poll
// has no other message to share the call cost with.
func (q *cq) Poll(into []provider.Completion) (int, error) {
	if len(into) != 1 {
		return q.poll(into)
	}
	index := q.index
	e := (*[cqeSize / 4]uint32)(unsafe.Add(q.first, uintptr(index&q.mask)*uintptr(q.stride)))
	// The last word has the work request index, and the opcode and the owner.
	last := wire32(atomic.LoadUint32(&e[cqeCounter/4]))
	if own := index >> (q.round & 31) & 1; last&cqeUsual != own {
		if last&1 != own || last>>4&0xf == cqeInvalid {
			return 0, nil
		}
		return q.poll(into)
	}
	number := wire32(e[cqeQPN/4])
	kind := &requestKinds[number>>24]
	if !kind.defined {
		return q.poll(into)
	}
	owner := q.device.users.Find(uint64(wire32(e[cqeUser/4]) & maxIndex))
	if owner == nil || owner.qp == nil {
		return q.poll(into)
	}
	send := &owner.qp.send
	s := &send.slots[last>>16&uint32(len(send.slots)-1)]
	into[0] = provider.Completion{
		ID: s.id, Opcode: kind.opcode, ByteLen: kind.length | kind.counted&wire32(e[cqeByteCount/4]), QPN: number & 0xffffff,
	}
	index++
	q.index = index
	retire(&send.tail, s.count, &q.memory.record[cqConsumer], wire32(index&(maxCQEntries-1)))
	return 1, nil
}

// poll is Poll for any number and kind of completions.
func (q *cq) poll(into []provider.Completion) (int, error) {
	var err error
	n, more := q.direct(into)
	reposted := false
	for more && n < len(into) {
		e := q.ready(q.index)
		if e == nil {
			break
		}
		owner := q.device.users.Find(uint64(userOf(e)))
		if owner != nil && owner.repost(e) {
			q.index++
			reposted = true
			continue
		}
		if owner == nil || !owner.complete(&into[n], e) {
			err = provider.ErrCorrupt
			break
		}
		q.index++
		var done int
		done, more = q.direct(into[n+1:])
		n += 1 + done
	}
	if n > 0 || reposted {
		q.release()
	}
	return n, err
}

// direct removes successful send work requests' completions. It returns their number, and
// more if another completion follows. It is a loop without calls, because it determines
// the polling cost.
func (q *cq) direct(into []provider.Completion) (n int, more bool) {
	entries, scale := q.entries(), q.scale
	index, mask, round := q.index, q.mask, q.round&31
	var send *sendQueue // the last completion's
	var user, count uint32
	for ; n < len(into); n++ {
		e := &entries[(index&mask+1)*scale-1]
		// The opcode and the format are 0, and the owner is this round's.
		if own := mmio.Acquire(&e[cqeCounter])[cqeOwner-cqeCounter]; own&cqeUsual != byte(index>>round)&1 {
			more = own>>4 != cqeInvalid && own&1 == byte(index>>round)&1
			break
		}
		more = true
		number := binary.BigEndian.Uint32(e[cqeQPN:])
		kind := &requestKinds[number>>24]
		if !kind.defined {
			break
		}
		if u := userOf(e); send == nil || u != user {
			owner := q.device.users.Find(uint64(u))
			if owner == nil || owner.qp == nil {
				break
			}
			if send != nil {
				send.tail.Store(count)
			}
			user, send = u, &owner.qp.send
		}
		s := &send.slots[uint32(counterOf(e))&uint32(len(send.slots)-1)]
		count = s.count
		into[n] = provider.Completion{
			ID: s.id, Opcode: kind.opcode, ByteLen: kind.length | kind.counted&binary.BigEndian.Uint32(e[cqeByteCount:]), QPN: number & 0xffffff,
		}
		index++
	}
	if send != nil {
		send.tail.Store(count)
	}
	q.index = index
	return n, more
}

// userOf returns the index of a completion's owner.
func userOf(e *[cqeSize]byte) uint32 { return binary.BigEndian.Uint32(e[cqeUser:]) & maxIndex }

// release returns polled entries to the adapter.
func (q *cq) release() { q.memory.publish(cqConsumer, q.index&(maxCQEntries-1)) }

// The arm word's fields (cq.c, mlx5_arm_cq).
const (
	armSolicited     = 1 << 24
	armSequenceShift = 28
	armSequenceMask  = 3
)

// Arm writes the arm word to the doorbell record and to the register.
func (q *cq) Arm(solicitedOnly bool) error {
	word := q.sequence&armSequenceMask<<armSequenceShift | q.index&(maxCQEntries-1)
	if solicitedOnly {
		word |= armSolicited
	}
	q.memory.publish(cqArm, word)
	var b [8]byte
	binary.BigEndian.PutUint32(b[0:], word)
	binary.BigEndian.PutUint32(b[4:], q.number)
	mmio.DeviceBarrier()
	mmio.Store64(unsafe.Pointer(&q.page.memory[cqDoorbell]), binary.NativeEndian.Uint64(b[:]))
	return nil
}

// Delivered counts an event: the adapter ignores an arm word with an event number
// that was delivered.
func (q *cq) Delivered() { q.sequence++ }

// Resize moves the queue to a ring with another size. The adapter ends the old ring with a
// mark and continues in the new ring at the next index (the kernel driver's cq.c,
// mlx5_ib_resize_cq). Entries before the mark move up by one.
func (q *cq) Resize(entries uint32, resize func(in []byte) (uint32, error)) error {
	if entries >= maxCQEntries {
		return fmt.Errorf("completion queue of %d entries: %w", entries, unix.EINVAL)
	}
	size := queue.RoundUp(entries + 1)
	if n := q.waiting(); n >= size {
		return fmt.Errorf("completion queue of %d entries: %d completions wait in it: %w", entries, n, unix.EINVAL)
	}
	m, err := q.device.newMemory(int(size) * q.stride)
	if err != nil {
		return err
	}
	invalidate(m.buffer, q.stride)
	got, err := resize(uapi.Bytes(&uapi.MLX5ResizeCQ{BufAddr: m.Addr(), CQESize: uint16(q.stride)}))
	if err != nil {
		return closing(m, err)
	}
	q.rings = append(q.rings, m.Memory) // until Close if Resize fails: the adapter writes to it
	if got != size-1 {
		return fmt.Errorf("completion queue: got %d entries, want %d: %w", got, size-1, provider.ErrCorrupt)
	}
	old := *q
	q.memory.buffer, q.mask, q.round = m.buffer, size-1, uint(bits.TrailingZeros32(size))
	q.locate()
	for i := old.index; ; i++ {
		e := old.ready(i)
		if e == nil || i-old.index > old.mask {
			return fmt.Errorf("completion queue: no mark at the end of the old ring: %w", provider.ErrCorrupt)
		}
		if e[cqeOwner]>>4 == cqeResize {
			break
		}
		if i-old.index == q.mask { // completions arrived meanwhile
			return fmt.Errorf("completion queue: the new ring of %d entries is too small: %w", q.mask, provider.ErrCorrupt)
		}
		to := q.entry(i + 1)
		*to = *e
		to[cqeOwner] = to[cqeOwner]&^1 | byte((i+1)>>q.round&1)
	}
	q.index++
	q.release()
	unused := q.rings[:len(q.rings)-1]
	q.rings = q.rings[len(unused):]
	return closeAll(unused)
}

// closeAll releases memory.
func closeAll(all []*dmamem.Memory) error {
	var errs []error
	for _, m := range all {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// waiting returns the count of completions not yet polled.
func (q *cq) waiting() (n uint32) {
	for n <= q.mask && q.ready(q.index+n) != nil {
		n++
	}
	return n
}

// purge removes a user's completions: their work requests do not exist any more.
func (q *cq) purge(index uint32, owner *user) {
	if q.memory.buffer == nil {
		return
	}
	end := q.index + q.waiting()
	removed := uint32(0)
	for i := end; i != q.index; {
		i--
		e := q.entry(i)
		if userOf(e) == index {
			owner.discard(e)
			removed++
			continue
		}
		if removed > 0 { // move towards the end; the owner bit belongs to the place
			to := q.entry(i + removed)
			bit := to[cqeOwner] & 1
			*to = *e
			to[cqeOwner] = to[cqeOwner]&^1 | bit
		}
	}
	if removed > 0 {
		q.index += removed
		q.release()
	}
}

// Close releases the ring's memory.
func (q *cq) Close() error {
	q.memory.buffer, q.first = nil, nil
	return errors.Join(closeAll(q.rings), q.memory.Close())
}
