package mmio

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Acquire loads four bytes that the adapter writes last in a completion. Later loads see what
// it wrote before.
func Acquire(p *byte) [4]byte {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], atomic.LoadUint32((*uint32)(unsafe.Pointer(p))))
	return b
}
