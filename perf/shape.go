package perf

import (
	"github.com/ibkit/ibkit/perf/endpoint"
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/verbs"
	"github.com/ibkit/ibkit/verbs/dmamem"
)

// A shape is what one side of a test does and needs.
type shape struct {
	Test
	leads bool
}

// sends tells whether this side posts sends.
func (s shape) sends() bool {
	return s.leads || s.Bidirectional || s.Kind == Latency && (s.Op == Send || s.Op == Write)
}

// receives tells whether this side posts receives.
func (s shape) receives() bool {
	return s.Op == Send && (!s.leads || s.Bidirectional || s.Kind == Latency)
}

// target tells whether the other side reads or writes this side's memory.
func (s shape) target() bool {
	return s.Op != Send && (!s.leads || s.Bidirectional || s.Kind == Latency && s.Op == Write)
}

// cache sizes: small messages walk through one page, a cache line apart at least,
// as those of perftest do.
const (
	pageSize  = 4096
	lineSize  = 64
	walkBelow = pageSize / 2
)

// roundUp to whole cache lines.
func roundUp(n int) int { return (n + lineSize - 1) &^ (lineSize - 1) }

// walk is the way of messages through memory, where depth of them are under way.
// Verification needs one place for each.
func (s shape) walk(depth int) loop.Walk {
	step := roundUp(s.Size)
	switch {
	case s.Kind == Latency || s.Op.atomic():
		return loop.Walk{Step: step, Slots: 1}
	case s.Verify:
		return loop.Walk{Step: step, Slots: depth}
	case s.Size <= walkBelow:
		return loop.Walk{Step: step, Slots: pageSize / step}
	}
	return loop.Walk{Step: step, Slots: 1}
}

// grh is how many bytes come in front of what is received.
func (s shape) grh() int {
	if s.Transport == UD {
		return endpoint.GRH
	}
	return 0
}

// inWalk is the way through memory that is received in, or that the other side
// uses.
func (s shape) inWalk() loop.Walk {
	if s.Op != Send {
		return s.walk(s.depth())
	}
	w := s.walk(s.recvDepth())
	w.Step = roundUp(s.Size + s.grh())
	return w
}

// depth is how many messages are under way: fewer where each has to have its place
// for verification, and those are large.
func (s shape) depth() int { return s.bounded(s.Depth) }

func (s shape) recvDepth() int { return s.bounded(s.RecvDepth) }

func (s shape) bounded(depth int) int {
	if s.Verify {
		return min(depth, max(2, verifyBytes/roundUp(s.Size)))
	}
	return depth
}

func (s shape) moderation() int { return min(s.Moderation, s.depth()) }
func (s shape) list() int       { return min(s.List, s.depth()) }

// What an entry of a queue takes at most, in bytes: with Soft-RoCE, whose entries
// are the largest. Its kernel rounds both their size and their number up to a power
// of two.
const (
	sendEntry       = 2 * 256 // without inline data
	recvEntry       = 2 * 64
	completionEntry = 2 * 64
)

// memory is how much the side takes, in bytes: what it registers, and its queues,
// which no limit of locked memory holds.
func (s shape) memory() int {
	o := s.endpoint()
	queues := o.Depth*(sendEntry+2*o.Inline+completionEntry) + o.RecvDepth*(recvEntry+completionEntry)
	return s.region(s.QueuePairs*o.Out) + s.region(s.QueuePairs*o.In) + s.QueuePairs*queues
}

// region is how much memory so many bytes take.
func (s shape) region(size int) int {
	if !s.Huge {
		return size
	}
	page := dmamem.HugePageSize()
	return (size + page - 1) / page * page
}

// endpoint is what this side needs of a device, and allows the other one.
func (s shape) endpoint() endpoint.Options {
	o := endpoint.Options{
		Type: s.Transport.qpType(), Groups: s.Threads, Lanes: s.QueuePairs / s.Threads, Depth: 1, Events: s.Events,
		Huge: s.Huge,
	}
	if s.sends() {
		o.Depth = s.depth()
		o.Out = s.walk(s.depth()).Size()
		if s.Op == Read || s.Op.atomic() {
			o.OutAccess = verbs.AccessLocalWrite
		}
		if s.Inline {
			o.Inline = s.Size
		}
	}
	if s.receives() {
		o.RecvDepth = s.recvDepth()
		o.In = s.inWalk().Size()
		o.InAccess = verbs.AccessLocalWrite
	}
	if s.target() {
		o.In = s.inWalk().Size()
		switch s.Op {
		case Write:
			o.InAccess, o.QPAccess = verbs.AccessLocalWrite|verbs.AccessRemoteWrite, verbs.AccessRemoteWrite
		case Read:
			o.InAccess, o.QPAccess = verbs.AccessRemoteRead, verbs.AccessRemoteRead
		case FetchAdd, CompareSwap:
			o.InAccess, o.QPAccess = verbs.AccessLocalWrite|verbs.AccessRemoteAtomic, verbs.AccessRemoteAtomic
		}
	}
	return o
}
