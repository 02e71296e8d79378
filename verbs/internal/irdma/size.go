package irdma

import (
	"fmt"
	"math/bits"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/verbs/provider"
)

// Quanta that stay free in a ring (defs.h, IRDMA_SQ_RSVD and IRDMA_RQ_RSVD).
const (
	sendReserved    = 258
	receiveReserved = 1
)

// shift returns log2 of the quanta that a work request has at most (uk.c,
// irdma_get_wqe_shift).
func (d *device) shift(sges, inline uint32) uint32 {
	if d.first() {
		switch {
		case sges <= 1 && inline <= 16:
			return 0
		case sges < 4 && inline <= 48:
			return 1
		}
		return 2
	}
	switch {
	case sges <= 1 && inline <= 8:
		return 0
	case sges < 4 && inline <= 39:
		return 1
	case sges < 8 && inline <= 101:
		return 2
	}
	return 3
}

// sendShift is shift for sends. Immediate data uses a fragment.
func (d *device) sendShift(c provider.QPCap) uint32 {
	if d.first() {
		return d.shift(c.MaxSendSGE, c.MaxInline)
	}
	return d.shift(c.MaxSendSGE+1, c.MaxInline)
}

// receiveShift is shift for receives.
func (d *device) receiveShift(sges uint32) uint32 {
	if d.first() {
		return 2
	}
	return d.shift(sges, 0)
}

// depth returns a ring's size in quanta (uk.c, irdma_get_sqdepth).
func (d *device) depth(requests, shift, reserved, limit uint32) (uint32, error) {
	quanta := uint64(requests)<<shift + uint64(reserved)
	depth := max(uint64(1)<<bits.Len64(quanta-1), uint64(d.limits.MinHWWQSize)<<shift)
	if depth > uint64(limit) {
		return 0, fmt.Errorf("queue of %d work requests: got %d quanta, the adapter has up to %d: %w", requests, depth, limit, unix.EINVAL)
	}
	return uint32(depth), nil
}

// depths returns a queue pair's ring sizes.
func (d *device) depths(c provider.QPCap) (send, receive uint32, err error) {
	l := &d.limits
	if c.MaxSendSGE > l.MaxHWWQFrags || c.MaxRecvSGE > l.MaxHWWQFrags || c.MaxInline > l.MaxHWInline {
		return 0, 0, fmt.Errorf("queue pair with %d and %d SGEs and %d bytes of inline data, the adapter has up to %d SGEs and %d bytes: %w",
			c.MaxSendSGE, c.MaxRecvSGE, c.MaxInline, l.MaxHWWQFrags, l.MaxHWInline, unix.EINVAL)
	}
	if send, err = d.depth(c.MaxSendWR, d.sendShift(c), sendReserved, l.MaxHWWQQuanta); err != nil {
		return 0, 0, err
	}
	receive, err = d.depth(c.MaxRecvWR, d.receiveShift(c.MaxRecvSGE), receiveReserved, l.MaxHWRQQuanta)
	return send, receive, err
}

// RoundQP returns the capacity in the command: for older drivers, the ring sizes in work
// requests. Capacities beyond the limits are unchanged; NewQP rejects them.
func (d *device) RoundQP(c provider.QPCap) provider.QPCap {
	if d.raw {
		return c
	}
	if send, receive, err := d.depths(c); err == nil {
		c.MaxSendWR, c.MaxRecvWR = send>>d.sendShift(c), receive>>d.receiveShift(c.MaxRecvSGE)
	}
	return c
}

// RoundSRQ returns the capacity unchanged: the driver computes the ring size.
func (d *device) RoundSRQ(a provider.SRQAttr) provider.SRQAttr { return a }

// RoundCQ returns the entry count in the command (uverbs.c, get_cq_size): an entry stays
// free, and without long entries a completion with immediate data has two.
func (d *device) RoundCQ(entries uint32) uint32 {
	n := uint64(entries) + 1
	if !d.first() && !d.has(featureLongCQE) {
		n *= 2
	}
	return uint32(min(max(n+n&1, 4), 1<<31))
}
