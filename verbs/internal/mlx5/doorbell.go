//go:build !amd64

package mlx5

import (
	"unsafe"

	"github.com/ibkit/ibkit/verbs/provider"
)

// doorbell stores a word in the doorbell record, after all earlier stores, then blocks or,
// with size 0, the first 8 bytes in a register, and sends what the processor has
// combined.
func doorbell(record *uint32, word uint32, register unsafe.Pointer, first *block, size int) {
	storeBarrier()
	provider.Store32(record, word)
	deviceBarrier()
	if size == 0 {
		storeDevice(register, first[0])
	}
	for i, b := range unsafe.Slice(first, size) {
		storeBlock(unsafe.Add(register, blockSize*i), &b)
	}
	deviceBarrier()
}
