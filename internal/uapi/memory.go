package uapi

import "unsafe"

// Bytes returns the memory of a structure of this package.
func Bytes[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// Decode returns the structure of this package at the start of b. Fields past the end
// of b are zero.
func Decode[T any](b []byte) T {
	var v T
	copy(Bytes(&v), b)
	return v
}
