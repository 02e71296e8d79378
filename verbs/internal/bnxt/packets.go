package bnxt

import (
	"math/bits"

	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// packets are the packet numbers of a connection, and the table from which the adapter takes
// them when it sends again.
type packets struct {
	table    []uint64 // nil for datagrams
	words    uint32   // of an entry
	messages uint32   // entries of a table by message; 0: by work request
	message  uint32   // next message
	psn      uint32   // of the next packet
	mtu      uint32   // bytes, a power of 2
}

// set sets the first packet's number and the packet size, unless they are nil.
func (p *packets) set(first, size *uint32) {
	if first != nil {
		p.psn = *first & psnMask
	}
	if size != nil {
		p.mtu = *size
	}
}

// put writes a work request's entry (verbs.c, bnxt_re_fill_psns and
// bnxt_re_fill_psns_for_msntbl). The operation is the completion's, as in libbnxt_re before
// release 56; adapters ignore it.
func (p *packets) put(length, entry, first uint32, op provider.CompletionOpcode, variable bool) {
	n := max((uint64(length)+uint64(p.mtu)-1)>>bits.TrailingZeros32(p.mtu), 1)
	next := (p.psn + uint32(n)) & psnMask
	index := entry
	if variable {
		index = first
	}
	switch {
	case p.messages != 0:
		p.table[p.message] = mmio.LE64(uint64(index)<<msnStart | uint64(next)<<msnNext | uint64(p.psn))
		if p.message++; p.message == p.messages {
			p.message = 0
		}
	default:
		at := p.table[index*p.words:][:p.words]
		at[0] = mmio.LE64(uint64(next)<<psnNext | uint64(op)<<psnOpcode | uint64(p.psn))
		if p.words > 1 {
			at[1] = mmio.LE64(uint64(uint16(first)))
		}
	}
	p.psn = next
}
