package efa

import (
	"unsafe"

	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A block is a part of a work request that is stored at once. Words have the adapter's byte
// order.
type block [8]uint64

// The operations (efa_io_defs.h, enum efa_io_send_op_type).
const (
	opSend  = 0
	opRead  = 1
	opWrite = 2
)

// The bits in a work request's first word (efa_io_defs.h, struct efa_io_tx_meta_desc), and
// positions of its fields. The request ID is at position 0.
const (
	wqeImm      = 1 << 20
	wqeInline   = 1 << 21
	wqeMeta     = 1 << 23
	wqeFirst    = 1 << 26
	wqeLast     = 1 << 27
	wqeComplete = 1 << 28
	wqeAlways   = wqeMeta | wqeFirst | wqeLast | wqeComplete

	wqeOp     = 16
	wqePhase  = 24
	wqeQPN    = 32
	wqeLength = 48 // SGEs, or bytes of inline data
)

// The SGEs of a work request.
const (
	sendSGEs = 2
	rdmaSGEs = 1
)

// keyMask are the bits of an LKey.
const keyMask = 1<<24 - 1

// bufferOf returns an SGE's words.
func bufferOf(s *provider.SGE) (word0, word1 uint64) {
	return mmio.LE64(uint64(s.LKey&keyMask)<<32 | uint64(s.Length)), mmio.LE64(s.Addr)
}

// putSGEs writes a send's SGEs, and a read's or write's remote memory and SGE.
func putSGEs(w *block, wr *provider.SendWR, remote bool, length uint32) {
	at := 4
	if remote {
		putRemote(w, wr, length)
		at = 6
	}
	for i := range wr.SGEs {
		w[at], w[at+1] = bufferOf(&wr.SGEs[i])
		at += 2
	}
	for ; at < len(w); at++ {
		w[at] = 0
	}
}

// putRemote writes the peer's memory.
func putRemote(w *block, wr *provider.SendWR, length uint32) {
	w[4], w[5] = mmio.LE64(uint64(wr.RKey)<<32|uint64(length)), mmio.LE64(wr.RemoteAddr)
}

// putInline writes inline data behind the first part, and behind a write's remote memory.
func putInline(w *[2]block, wr *provider.SendWR, remote bool) {
	*w = [2]block{}
	at := metaSize
	if remote {
		putRemote(&w[0], wr, uint32(len(wr.Inline)))
		at += 16
	}
	copy((*[largeWQE]byte)(unsafe.Pointer(w))[at:], wr.Inline)
}

// inlineRoom returns the bytes of inline data in a work request. Only large ones have room
// for a write's.
func inlineRoom(size uint32, remote bool) int {
	switch {
	case !remote:
		return int(size) - metaSize
	case size == largeWQE:
		return largeWQE - metaSize - 16
	}
	return 0
}
