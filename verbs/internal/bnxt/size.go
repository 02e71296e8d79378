package bnxt

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// depth returns the entries of a queue: newer drivers take any number (verbs.c,
// bnxt_re_init_depth).
func (d *device) depth(n uint32) uint32 {
	if d.anyDepth() {
		return n
	}
	return queue.RoundUp(n)
}

// A layout is a queue pair's: a send work request has up to step slots, a receive work request
// always recvStep.
type layout struct {
	step, slots, requests uint32
	table                 uint32 // words
	recvStep, receives    uint32
}

// layOut computes a queue pair's layout (verbs.c, bnxt_re_get_sqmem_size and
// bnxt_re_get_rqmem_size).
func (d *device) layOut(attr provider.QPAttr) (l layout, err error) {
	c := attr.Cap
	if c.MaxSendWR >= maxRing || c.MaxRecvWR >= maxRing {
		return l, fmt.Errorf("queue pair of %d and %d work requests, indices have 16 bits: %w", c.MaxSendWR, c.MaxRecvWR, unix.EINVAL)
	}
	sges, inline := uint32(staticSGEs), uint32(staticInline)
	if d.variable() {
		sges, inline = variableSGEs, variableSGEs*slotSize
	}
	if c.MaxSendSGE > sges || c.MaxRecvSGE > sges || c.MaxInline > inline {
		return l, fmt.Errorf("queue pair with %d and %d SGEs and %d bytes of inline data, work requests have room for %d SGEs and %d bytes: %w",
			c.MaxSendSGE, c.MaxRecvSGE, c.MaxInline, sges, inline, unix.EINVAL)
	}
	requests := d.depth(c.MaxSendWR + reservedWRs + 1)
	l = layout{step: staticSlots, requests: requests, recvStep: staticSlots, receives: d.depth(c.MaxRecvWR + 1)}
	l.slots = requests * staticSlots
	if d.variable() {
		l.step = headerSlots + max(c.MaxSendSGE, (c.MaxInline+slotSize-1)/slotSize)
		l.slots = (requests*l.step + slotRounding - 1) &^ (slotRounding - 1)
		l.requests = l.slots
		l.recvStep = headerSlots + c.MaxRecvSGE
	}
	if l.requests > maxRing || l.receives > maxRing {
		return l, fmt.Errorf("queue pair of %d and %d work requests: got %d and %d entries, indices have 16 bits: %w",
			c.MaxSendWR, c.MaxRecvWR, l.requests, l.receives, unix.EINVAL)
	}
	if attr.Transport == provider.RC {
		l.table = d.tableWords(l.requests)
	}
	return l, nil
}

// variableSGEs is the largest number of SGEs that the layout has room for: a work request's
// size has 8 bits.
const variableSGEs = 1<<8 - 1 - headerSlots

// tableWords returns the size of the packet number table.
func (d *device) tableWords(requests uint32) uint32 {
	switch {
	case d.messages():
		return queue.RoundUp(requests)
	case d.generation >= p5:
		return requests * psnWordsP5
	}
	return requests * psnWords
}

// RoundCQ returns the entry count in the command: twice as many, so that the doorbell follows
// half a round only (verbs.c, bnxt_re_create_cq).
func (d *device) RoundCQ(completions uint32) uint32 {
	if uint64(completions)*2 < uint64(d.limits.MaxCQD) {
		return completions * 2
	}
	return completions
}

// anyDepth reports that the driver takes any queue size.
func (d *device) anyDepth() bool { return d.has(uapi.BNXTPow2Disabled) }

// messages reports a packet number table by message.
func (d *device) messages() bool { return d.has(uapi.BNXTMSNTable) }
