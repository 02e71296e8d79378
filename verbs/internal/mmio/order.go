package mmio

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// LE64 returns v in a little-endian adapter's byte order. It costs no memory access, which the
// functions of encoding/binary for both orders do.
func LE64(v uint64) uint64 {
	if cpu.IsBigEndian {
		return bits.ReverseBytes64(v)
	}
	return v
}

// LE32 is LE64 for 4 bytes.
func LE32(v uint32) uint32 {
	if cpu.IsBigEndian {
		return bits.ReverseBytes32(v)
	}
	return v
}

// AcquireLE32 is Acquire for a number in a little-endian adapter's byte order.
func AcquireLE32(p unsafe.Pointer) uint32 { return LE32(atomic.LoadUint32((*uint32)(p))) }
