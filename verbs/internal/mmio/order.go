package mmio

import (
	"math/bits"

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
