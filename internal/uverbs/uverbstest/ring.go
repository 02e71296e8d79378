package uverbstest

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
)

// A ring is the kernel's side of a Soft-RoCE queue (struct rxe_queue_buf). A slot stays free.
type ring struct {
	memory []byte
	head   *uapi.RXEQueueBuf
}

// newRing returns a ring for at least count elements with at least size bytes each.
func newRing(count, size uint32) *ring {
	slots, shift := uint32(1)<<bits.Len32(count), bits.Len32(size-1)
	words := make([]uint64, (uapi.RXEQueueBufSize+int(slots)<<shift)/8)
	r := &ring{memory: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))}
	r.head = (*uapi.RXEQueueBuf)(unsafe.Pointer(unsafe.SliceData(r.memory)))
	r.head.Log2ElemSize, r.head.IndexMask = uint32(shift), slots-1
	return r
}

// capacity returns the count of elements that fit.
func (r *ring) capacity() uint32 { return r.head.IndexMask }

func (r *ring) slot(index uint32) unsafe.Pointer {
	return unsafe.Pointer(&r.memory[uapi.RXEQueueBufSize+int(index&r.head.IndexMask)<<r.head.Log2ElemSize])
}

// len returns the element count.
func (r *ring) len() uint32 {
	return (atomic.LoadUint32(&r.head.ProducerIndex) - atomic.LoadUint32(&r.head.ConsumerIndex)) & r.head.IndexMask
}

// first returns the first element, nil if the ring is empty.
func (r *ring) first() unsafe.Pointer {
	if r.len() == 0 {
		return nil
	}
	return r.slot(atomic.LoadUint32(&r.head.ConsumerIndex))
}

// drop removes the first element.
func (r *ring) drop() {
	atomic.StoreUint32(&r.head.ConsumerIndex, (atomic.LoadUint32(&r.head.ConsumerIndex)+1)&r.head.IndexMask)
}

// clear removes all elements.
func (r *ring) clear() {
	atomic.StoreUint32(&r.head.ConsumerIndex, atomic.LoadUint32(&r.head.ProducerIndex))
}

// add adds a completion.
func (r *ring) add(wc uapi.WC) {
	producer := atomic.LoadUint32(&r.head.ProducerIndex)
	*(*uapi.WC)(r.slot(producer)) = wc
	atomic.StoreUint32(&r.head.ProducerIndex, (producer+1)&r.head.IndexMask)
}
