package rxe

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A ring is a queue that the process shares with the kernel (struct rxe_queue_buf).
// The process writes the first index, the kernel the second. A slot always stays
// free, to distinguish a full ring from an empty ring.
type ring struct {
	memory             []byte
	producer, consumer *atomic.Uint32
	slots              unsafe.Pointer
	shift              uint   // log2 slot size
	mask               uint32 // slot count (a power of 2) minus 1
	own                uint32 // process's index; its copy in the ring is never read
}

// newRing checks a mapping's head once; later, only the indices are read.
// element is the minimum slot size in bytes.
func newRing(memory []byte, element int) (ring, error) {
	if len(memory) < uapi.RXEQueueBufSize {
		return ring{}, fmt.Errorf("map queue: got %d bytes: %w", len(memory), provider.ErrCorrupt)
	}
	head := (*uapi.RXEQueueBuf)(unsafe.Pointer(unsafe.SliceData(memory)))
	shift, mask := head.Log2ElemSize, head.IndexMask
	size := uint64(mask) + 1
	room := uint64(len(memory) - uapi.RXEQueueBufSize)
	if shift > 31 || 1<<shift < element || bits.OnesCount64(size) != 1 || size<<shift > room {
		return ring{}, fmt.Errorf("map queue: got %d slots of 2^%d bytes in %d bytes, want slots of at least %d bytes: %w",
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

// slot returns the slot with an index. Any index yields a slot within the mapping.
func (r *ring) slot(index uint32) unsafe.Pointer {
	return unsafe.Add(r.slots, uint64(index&r.mask)<<r.shift)
}

// next returns the next slot to fill. If the kernel's index is invalid, the ring
// must not be used any more.
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

// advance marks the slot that next has returned as filled. The kernel sees it after
// publish.
func (r *ring) advance() { r.own = (r.own + 1) & r.mask }

// publish makes the filled slots visible to the kernel. The store is a release: a
// reader of the index sees the slots' contents.
func (r *ring) publish() { r.producer.Store(r.own) }

// ready returns the count of slots that the kernel has filled. The load is an
// acquire.
func (r *ring) ready() (uint32, error) {
	kernel := r.producer.Load()
	if kernel > r.mask {
		return 0, provider.ErrCorrupt
	}
	return (kernel - r.own) & r.mask, nil
}

// release returns n slots to the kernel.
func (r *ring) release(n uint32) {
	r.own = (r.own + n) & r.mask
	r.consumer.Store(r.own)
}
