package verbs

import (
	"unsafe"
)

// bytesOf returns the memory of a structure of package uapi.
func bytesOf[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// decode returns the structure of package uapi that b contains. Fields past the end
// of b are zero.
func decode[T any](b []byte) T {
	var v T
	copy(bytesOf(&v), b)
	return v
}
