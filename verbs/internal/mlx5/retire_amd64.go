//go:build !race

package mlx5

import (
	"sync/atomic"
	"unsafe"
)

// retire frees the send work requests before a count and publishes a word in the
// doorbell record, after all earlier loads and stores. The processor keeps the plain store
// order; package atomic's Store is an XCHG here, which costs more than all a poll's other
// instructions. The function is not inlined, so that the compiler keeps the order, too.
//
//go:noinline
func retire(tail *atomic.Uint32, count uint32, record *uint32, word uint32) {
	*(*uint32)(unsafe.Pointer(tail)) = count
	*record = word
}
