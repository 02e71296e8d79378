package selftest

import (
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/verbs"
)

// word loads 8 bytes of memory that the device writes, in the byte order of the host.
func word(mr *verbs.MR, at int) uint64 { return atomic.LoadUint64(wordOf(mr, at)) }

// setWord stores 8 bytes of memory that the device reads.
func setWord(mr *verbs.MR, at int, v uint64) { atomic.StoreUint64(wordOf(mr, at), v) }

func wordOf(mr *verbs.MR, at int) *uint64 {
	return (*uint64)(unsafe.Pointer(&mr.Bytes()[at : at+8][0]))
}
