package mlx5

import (
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A memory is a queue's buffer and, behind it in its own cache line, the
// doorbell record: two words that the process writes and the adapter reads.
type memory struct {
	*dmamem.Memory
	buffer []byte
	record *[2]uint32
}

// recordSize is the doorbell record distance: the cache line distance.
const recordSize = 64

// newMemory allocates a buffer of a multiple of 64 bytes near the device. Its pages are
// zero.
func (d *device) newMemory(size int) (memory, error) {
	m, err := dmamem.New(size+recordSize, dmamem.Options{Node: d.NUMANode()})
	if err != nil {
		return memory{}, err
	}
	b := m.Bytes()
	return memory{m, b[:size:size], (*[2]uint32)(unsafe.Pointer(&b[size]))}, nil
}

// recordAddr returns the doorbell record address.
func (m *memory) recordAddr() uint64 { return m.Addr() + uint64(len(m.buffer)) }

// publish writes a doorbell record word after all earlier stores to the buffer.
func (m *memory) publish(word int, v uint32) {
	mmio.StoreBarrier()
	provider.Store32(&m.record[word], wire32(v))
}

// wire32 returns v in the adapter's byte order. Package encoding/binary does not
// always make a single store with constant parts.
func wire32(v uint32) uint32 {
	if bigEndian {
		return v
	}
	return bits.ReverseBytes32(v)
}

// wire64 returns v in the adapter's byte order.
func wire64(v uint64) uint64 {
	if bigEndian {
		return v
	}
	return bits.ReverseBytes64(v)
}

// bigEndian reports that the processor has the adapter's byte order.
const bigEndian = runtime.GOARCH == "s390x" || runtime.GOARCH == "ppc64" || runtime.GOARCH == "mips" || runtime.GOARCH == "mips64"
