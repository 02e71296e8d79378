package mmio

import "encoding/binary"

// LE64 returns v in a little-endian adapter's byte order.
func LE64(v uint64) uint64 {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], v)
	return binary.LittleEndian.Uint64(b[:])
}
