package rxe

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A ring is a queue that is shared with the kernel (struct rxe_queue_buf). One of
// its indices is this side's and only written, the other is the kernel's and only
// read. One slot is always free, which tells full from empty.
type ring struct {
	memory             []byte
	producer, consumer *atomic.Uint32
	slots              unsafe.Pointer
	shift              uint   // log2 of a slot's size
	mask               uint32 // number of slots, a power of two, less one
	own                uint32 // this side's index; what the ring says of it is not asked
}

// newRing checks a mapping's head, once: from then on only its indices matter.
// Element is what a slot has to have room for, in bytes.
func newRing(memory []byte, element int) (ring, error) {
	if len(memory) < uapi.RXEQueueBufSize {
		return ring{}, fmt.Errorf("map queue of %d bytes: %w", len(memory), provider.ErrCorrupt)
	}
	head := (*uapi.RXEQueueBuf)(unsafe.Pointer(unsafe.SliceData(memory)))
	shift, mask := head.Log2ElemSize, head.IndexMask
	size := uint64(mask) + 1
	room := uint64(len(memory) - uapi.RXEQueueBufSize)
	if shift > 31 || 1<<shift < element || bits.OnesCount64(size) != 1 || size<<shift > room {
		return ring{}, fmt.Errorf("map queue of %d slots of 2^%d bytes in %d, for elements of %d: %w",
			size, shift, len(memory), element, provider.ErrCorrupt)
	}
	return ring{
		memory:   memory,
		producer: (*atomic.Uint32)(unsafe.Pointer(&head.ProducerIndex)),
		consumer: (*atomic.Uint32)(unsafe.Pointer(&head.ConsumerIndex)),
		slots:    unsafe.Pointer(unsafe.SliceData(memory[uapi.RXEQueueBufSize:])),
		shift:    uint(shift),
		mask:     mask,
	}, nil
}

// slot returns a slot, which is within the mapping whatever the index.
func (r *ring) slot(index uint32) unsafe.Pointer {
	return unsafe.Add(r.slots, uint64(index&r.mask)<<r.shift)
}

// next returns the slot to be filled. An index of the kernel's that is none is a
// ring that is not to be used any more.
func (r *ring) next() (unsafe.Pointer, error) {
	kernel := r.consumer.Load()
	if kernel > r.mask {
		return nil, provider.ErrCorrupt
	}
	if (r.own+1)&r.mask == kernel {
		return nil, provider.ErrFull
	}
	return r.slot(r.own), nil
}

// filled takes the slot as filled. The kernel sees it after publish.
func (r *ring) filled() { r.own = (r.own + 1) & r.mask }

// publish shows the kernel all slots that were filled. The store is a release: who
// sees the index sees what is in the slots.
func (r *ring) publish() { r.producer.Store(r.own) }

// ready returns how many slots the kernel has filled. The load is an acquire.
func (r *ring) ready() (uint32, error) {
	kernel := r.producer.Load()
	if kernel > r.mask {
		return 0, provider.ErrCorrupt
	}
	return (kernel - r.own) & r.mask, nil
}

// taken gives n slots back to the kernel.
func (r *ring) taken(n uint32) {
	r.own = (r.own + n) & r.mask
	r.consumer.Store(r.own)
}
