package mlx5

import "unsafe"

// doorbell stores a word in the doorbell record, after all earlier stores, then blocks or,
// with size 0, the first 8 bytes in a register, and sends what the processor has
// combined. It is a single function in assembly because calls are a large part in the cost
// to post a single work request.
//
//go:noescape
func doorbell(record *uint32, word uint32, register unsafe.Pointer, first *block, size int)
