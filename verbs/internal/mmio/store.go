//go:build !s390x

package mmio

import "unsafe"

// Store32 stores 4 bytes in a register with a single instruction. A barrier is before or after
// it: the compiler omits a store to the same address that another follows at once.
func Store32(p unsafe.Pointer, v uint32) { *(*uint32)(p) = v }

// Store64 is Store32 for 8 bytes.
func Store64(p unsafe.Pointer, v uint64) { *(*uint64)(p) = v }

// StoreBlock stores a block in a register, 8 bytes at a time.
//
//go:noinline
func StoreBlock(p unsafe.Pointer, b *[8]uint64) {
	to := (*[8]uint64)(p)
	to[0], to[1], to[2], to[3] = b[0], b[1], b[2], b[3]
	to[4], to[5], to[6], to[7] = b[4], b[5], b[6], b[7]
}

// StoreWords stores a block's words in a register, in place: the compiler neither splits nor
// omits stores to memory that it does not know.
func StoreWords(p *[8]uint64, a, b, c, d, e, f, g, h uint64) {
	p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = a, b, c, d, e, f, g, h
}
