package irdma

import (
	"unsafe"

	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// The operations (user.h, IRDMA_OP_TYPE_*).
const (
	opWrite          = 0x00
	opRead           = 0x01
	opSend           = 0x03
	opSendInv        = 0x04
	opSendSolicited  = 0x05
	opSendSolInv     = 0x06
	opBind           = 0x08
	opInvalidate     = 0x0a
	opNOP            = 0x0c
	opWriteSolicited = 0x0d
	opFetchAdd       = 0x0f
	opCompareSwap    = 0x11
)

// A header's fields (defs.h, IRDMAQPSQ_*). The low 32 bits are a key or an address handle's
// number.
const (
	wqeValid       = 1 << 63
	wqeSignaled    = 1 << 62
	wqeReadFence   = 1 << 60
	wqeInline      = 1 << 57
	wqeBindAtomics = 1 << 55
	wqeBindAddress = 1 << 53 // the window has the region's addresses
	wqeBindWrite   = 1 << 51
	wqeBindRead    = 1 << 50
	wqeImm         = 1 << 47

	wqeInlineLen = 48 // positions
	wqeFragments = 38
	wqeOpcode    = 32
)

// fragment returns an SGE's words. From the second generation on, they have the valid bit.
func fragment(s provider.SGE, first bool, valid uint64) (word0, word1 uint64) {
	if first {
		return mmio.LE64(s.Addr), mmio.LE64(uint64(s.LKey)<<32 | uint64(s.Length))
	}
	return mmio.LE64(s.Addr), mmio.LE64(valid | uint64(s.Length)<<32 | uint64(s.LKey))
}

// putFragments writes SGEs: the first in front of the header, unless immediate data is
// there, the others behind it. It returns the number of fragments after the first as the
// header has it. A fragment without data fills the last quantum (uk.c, irdma_uk_send).
func putFragments(w []quantum, sges []provider.SGE, generation uint8, imm bool, valid uint64) (more uint64) {
	first := generation == 1
	rest := sges
	if !imm {
		var s provider.SGE
		if len(sges) > 0 {
			s, rest = sges[0], sges[1:]
		}
		w[0][0], w[0][1] = fragment(s, first, valid)
	}
	more = uint64(len(rest))
	for i, s := range rest {
		to := (*[2]uint64)(unsafe.Pointer(&w[1+i/2][i%2*2]))
		to[0], to[1] = fragment(s, first, valid)
	}
	if more&1 == 0 || first {
		return more
	}
	last := &w[1+len(rest)/2]
	last[2], last[3] = 0, mmio.LE64(valid)
	if generation == 2 {
		more++
	}
	return more
}

// fragmentQuanta returns the quanta of a work request with fragments, including one for
// immediate data.
func fragmentQuanta(n int) int { return 1 + n/2 }

// The bytes of inline data in front of the header, and in each quantum behind it.
func inlineRoom(first bool) (front, each int) {
	if first {
		return 16, 32
	}
	return 8, 31
}

// inlineQuanta returns the quanta of a work request with inline data (uk.c,
// irdma_inline_data_size_to_quanta).
func inlineQuanta(length int, first bool) int {
	front, each := inlineRoom(first)
	return 1 + (max(length-front, 0)+each-1)/each
}

// putInline writes inline data: from the second generation on, behind the word of the
// immediate data, and with a valid bit at the end of each quantum behind the header.
func putInline(w []quantum, data []byte, first bool, valid uint64) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*quantumSize)
	front, each := inlineRoom(first)
	n := copy(b[16-front:16], data)
	for at := quantumSize; n < len(data); at += quantumSize {
		n += copy(b[at:at+each], data[n:])
		if !first {
			b[at+each] = byte(valid >> 56)
		}
	}
}
