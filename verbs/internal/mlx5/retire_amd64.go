//go:build !race

package mlx5

import (
	"sync/atomic"
	"unsafe"
)

// retire frees the send work requests before a number of them and publishes a word of the
// doorbell record, after all earlier loads and stores. The processor keeps the plain store
// order; Store of package atomic is an XCHG here, which costs more than all other
// instructions of a poll. The function is not inlined, so that the compiler keeps the order, too.
//
//go:noinline
func retire(tail *atomic.Uint32, count uint32, record *uint32, word uint32) {
	*(*uint32)(unsafe.Pointer(tail)) = count
	*record = word
}
