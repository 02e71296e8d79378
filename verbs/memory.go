package verbs

import (
	"unsafe"
)

// bytesOf returns the memory of one of uapi's structures, for the kernel to read
// or write.
func bytesOf[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// decode returns one of uapi's structures that was read from the kernel. What b
// has too little of is zero.
func decode[T any](b []byte) T {
	var v T
	copy(bytesOf(&v), b)
	return v
}
