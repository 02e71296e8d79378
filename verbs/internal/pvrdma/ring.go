package pvrdma

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A ring is a queue that the process shares with the adapter: equal-sized entries, and their
// counts. Counts are modulo twice the entry count, so that a full ring differs from an
// empty ring.
type ring struct {
	state   *uapi.PVRDMARing
	entries []byte
	stride  uint32 // entry size in bytes
	size    uint32 // entry count, a power of 2
}

// maxRing limits a ring's memory in bytes: commands have 32 bits for it.
const maxRing uint64 = 1 << 31

// newRing allocates a ring behind offset bytes, near the device. The state is not yet set.
func (d *device) newRing(size uint32, stride uint64, offset int) (r ring, m *dmamem.Memory, err error) {
	length := uint64(size)*stride + uint64(offset)
	if length > maxRing {
		return r, nil, fmt.Errorf("queue of %d bytes, the adapter has up to %d: %w", length, maxRing, unix.EINVAL)
	}
	page := uint64(os.Getpagesize())
	if m, err = dmamem.New(int((length+page-1)&^(page-1)), dmamem.Options{Node: d.NUMANode()}); err != nil {
		return r, nil, err
	}
	return ring{entries: m.Bytes()[offset:length:length], stride: uint32(stride), size: size}, m, nil
}

// stateOf returns the state in a memory's first page.
func stateOf(m *dmamem.Memory) *uapi.PVRDMARingState {
	return (*uapi.PVRDMARingState)(unsafe.Pointer(unsafe.SliceData(m.Bytes())))
}

// at returns the entry for a count.
func (r *ring) at(count uint32) unsafe.Pointer {
	return unsafe.Pointer(&r.entries[uint64(count&(r.size-1))*uint64(r.stride)])
}

// next returns the count after another count.
func (r *ring) next(count uint32) uint32 { return (count + 1) & (2*r.size - 1) }

// used returns the consumer and producer counts and the entry count between them,
// or ErrCorrupt if the adapter has written a count that cannot be.
func (r *ring) used() (head, tail, used uint32, err error) {
	head, tail = atomic.LoadUint32(&r.state.ConsHead), atomic.LoadUint32(&r.state.ProdTail)
	used = (tail - head) & (2*r.size - 1)
	if (head|tail) >= 2*r.size || used > r.size {
		return 0, 0, 0, provider.ErrCorrupt
	}
	return head, tail, used, nil
}

// reserve returns a free entry's count.
func (r *ring) reserve() (tail uint32, err error) {
	_, tail, used, err := r.used()
	if err == nil && used == r.size {
		err = provider.ErrFull
	}
	return tail, err
}

// publish gives an entry to the adapter.
func (r *ring) publish(count uint32) { atomic.StoreUint32(&r.state.ProdTail, r.next(count)) }

// reset discards all entries.
func (r *ring) reset() {
	atomic.StoreUint32(&r.state.ConsHead, 0)
	atomic.StoreUint32(&r.state.ProdTail, 0)
}
