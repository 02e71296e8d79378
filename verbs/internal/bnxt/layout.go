package bnxt

import (
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// The sizes in bytes (bnxt_re-abi.h).
const (
	slotSize  = 16
	entrySize = 32
)

// A slot is a work queue's unit. Words have the adapter's byte order.
type slot [slotSize / 8]uint64

// set writes both words.
func (s *slot) set(word0, word1 uint64) { s[0], s[1] = mmio.LE64(word0), mmio.LE64(word1) }

// headerSlots are the slots of a work request's header.
const headerSlots = 2

// Static work requests.
const (
	staticSlots  = 8
	staticSGEs   = staticSlots - headerSlots
	staticInline = staticSGEs * slotSize
)

// The operations (enum bnxt_re_wr_opcode).
const (
	opSend        = 0x00
	opSendImm     = 0x01
	opWrite       = 0x04
	opWriteImm    = 0x05
	opRead        = 0x06
	opCompareSwap = 0x08
	opFetchAdd    = 0x0b
	opReceive     = 0x80
)

// A header's flags and positions (enum bnxt_re_wr_flags, enum bnxt_re_hdr_offset).
const (
	wqeSignaled  = 0x01 << 8
	wqeFence     = 0x04 << 8
	wqeSolicited = 0x08 << 8
	wqeInline    = 0x10 << 8
	wqeSlots     = 16
)

// An operation has its number in work requests and in completions.
type operation struct {
	ok, remote bool // remote: it names memory of the peer
	usual      bool // the header has no more than the length and that memory
	op         uint32
	completed  provider.CompletionOpcode
}

var operations = [16]operation{
	provider.OpWrite:        {true, true, true, opWrite, provider.CompletedWrite},
	provider.OpWriteWithImm: {true, true, false, opWriteImm, provider.CompletedWrite},
	provider.OpSend:         {true, false, true, opSend, provider.CompletedSend},
	provider.OpSendWithImm:  {true, false, false, opSendImm, provider.CompletedSend},
	provider.OpRead:         {true, true, true, opRead, provider.CompletedRead},
	provider.OpCompareSwap:  {true, false, false, opCompareSwap, provider.CompletedCompareSwap},
	provider.OpFetchAdd:     {true, false, false, opFetchAdd, provider.CompletedFetchAdd},
}

// The packet number tables. An entry has 8 bytes, or 16 from generation p5 on (struct
// bnxt_re_psns_ext), or 8 of another layout (struct bnxt_re_msns).
const (
	psnMask      = 1<<24 - 1
	psnOpcode    = 24 // positions
	psnNext      = 32
	msnNext      = 24
	msnStart     = 48
	psnWords     = 1
	psnWordsP5   = 2
	reservedWRs  = 128 // BNXT_RE_FULL_FLAG_DELTA: work requests that stay free in a send ring
	slotRounding = 256 // BNXT_VAR_MAX_SLOT_ALIGN
)

// The types of completions (enum bnxt_re_wc_type).
const (
	typeSend     = 0x0
	typeRecvRC   = 0x1
	typeRecvUD   = 0x2
	typeTerminal = 0xe
	typeCutoff   = 0xf
)

// A completion's flags word (enum bnxt_re_bcqe_mask, enum bnxt_re_rc_flags_mask).
const (
	cqePhase  = 1
	cqeType   = 1 // positions
	cqeToggle = 5
	cqeStatus = 8

	cqeImm        = 0x02 << 16
	cqeInvalidate = 0x04 << 16
	cqeWrite      = 0x08 << 16

	udLengthMask = 1<<14 - 1
	entryMask    = 1<<20 - 1
)
