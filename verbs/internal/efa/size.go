package efa

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// Sizes in bytes.
const (
	smallWQE    = 64
	largeWQE    = 128 // for more than smallInline bytes of inline data
	metaSize    = 32  // of a work request in front of its SGEs or inline data
	smallInline = smallWQE - metaSize
	receiveSize = 16 // of a receive descriptor
	cqeSize     = 32 // of a completion with all fields
)

// maxEntries is the largest number of work requests: a request ID has 16 bits.
const maxEntries = 1 << 16

// wqeSize returns the size of a queue's send work requests.
func wqeSize(c provider.QPCap) uint32 {
	if c.MaxInline > smallInline {
		return largeWQE
	}
	return smallWQE
}

// descriptors returns the size of a receive queue in descriptors: each SGE has its own.
func descriptors(c provider.QPCap) uint32 {
	if c.MaxRecvWR == 0 || c.MaxRecvSGE == 0 {
		return 0
	}
	return queue.RoundUp(uint32(min(uint64(c.MaxRecvWR)*uint64(c.MaxRecvSGE), 1<<31)))
}

// RoundQP returns the capacity in the command: work requests that fill both rings.
func (d *device) RoundQP(c provider.QPCap) provider.QPCap {
	c.MaxSendWR = queue.RoundUp(max(c.MaxSendWR, uint32(d.context.MinSQWR)))
	if n := descriptors(c); n > 0 {
		c.MaxRecvWR = n / c.MaxRecvSGE
	}
	return c
}

// RoundSRQ returns the capacity unchanged: the adapter has no shared receive queues.
func (d *device) RoundSRQ(a provider.SRQAttr) provider.SRQAttr { return a }

// RoundCQ returns the entry count in the command, a power of 2.
func (d *device) RoundCQ(completions uint32) uint32 { return queue.RoundUp(completions) }

// check rejects capacities that the adapter does not have (verbs.c, efa_check_qp_limits).
func (d *device) check(c provider.QPCap) error {
	l := &d.limits
	if c.MaxSendSGE > min(uint32(l.MaxSQSGE), sendSGEs) || c.MaxRecvSGE > uint32(l.MaxRQSGE) || c.MaxInline > uint32(d.context.InlineBufSizeEx) {
		return fmt.Errorf("queue pair with %d and %d SGEs and %d bytes of inline data, the adapter has up to %d and %d SGEs and %d bytes: %w",
			c.MaxSendSGE, c.MaxRecvSGE, c.MaxInline, min(uint32(l.MaxSQSGE), sendSGEs), l.MaxRQSGE, d.context.InlineBufSizeEx, unix.EINVAL)
	}
	send := min(l.MaxSQWR, d.context.MaxLLQSize/wqeSize(c), maxEntries)
	receive := min(l.MaxRQWR/max(c.MaxRecvSGE, 1), maxEntries)
	if c.MaxSendWR > send || c.MaxRecvWR > receive {
		return fmt.Errorf("queue pair of %d and %d work requests, the adapter has up to %d and %d: %w", c.MaxSendWR, c.MaxRecvWR, send, receive, unix.EINVAL)
	}
	return nil
}
