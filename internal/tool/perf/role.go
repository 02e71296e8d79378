package perf

import (
	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/verbs"
)

// A role is a side's part in a test.
type role struct {
	Test
	leads bool
}

// sends reports whether this side posts sends.
func (r role) sends() bool {
	return r.leads || r.Bidirectional || r.Kind == Latency && (r.Op == Send || r.Op == Write)
}

// receives reports whether this side posts receives.
func (r role) receives() bool {
	return r.consumes() && (!r.leads || r.Bidirectional || r.Kind == Latency)
}

// target reports whether the peer reads or writes the memory of this side.
func (r role) target() bool {
	return r.Op != Send && (!r.leads || r.Bidirectional || r.Kind == Latency && r.Op == Write)
}

// Small messages cycle through a page at a distance of at least a cache line, as in
// perftest.
const (
	pageSize   = 4096
	lineSize   = 64
	cycleBelow = pageSize / 2
)

// roundUp rounds up to whole cache lines.
func roundUp(n int) int { return (n + lineSize - 1) &^ (lineSize - 1) }

// ring returns the layout of depth messages in memory. Verification needs a slot for
// each message in flight.
func (r role) ring(depth int) loop.Ring {
	stride := roundUp(r.Size)
	switch {
	case r.Kind == Latency || r.Op.Atomic():
		return loop.Ring{Stride: stride, Slots: 1}
	case r.Verify:
		return loop.Ring{Stride: stride, Slots: depth}
	case r.Size <= cycleBelow:
		return loop.Ring{Stride: stride, Slots: pageSize / stride}
	}
	return loop.Ring{Stride: stride, Slots: 1}
}

// grh returns the number of bytes before a received payload.
func (r role) grh() int {
	if r.Transport == UD {
		return endpoint.GRH
	}
	return 0
}

// inRing returns the layout of the memory that messages of the peer arrive in.
func (r role) inRing() loop.Ring {
	if r.Op != Send {
		return r.ring(r.depth())
	}
	ring := r.ring(r.recvDepth())
	ring.Stride = roundUp(r.Size + r.grh())
	return ring
}

// depth returns the number of messages in flight. Verification of large messages
// reduces it, because each message has its own slot.
func (r role) depth() int { return r.bounded(r.Depth) }

func (r role) recvDepth() int { return r.bounded(r.RecvDepth) }

func (r role) bounded(depth int) int {
	if r.Verify {
		return min(depth, max(2, verifyBytes/roundUp(r.Size)))
	}
	return depth
}

func (r role) moderation() int { return min(r.Moderation, r.depth()) }
func (r role) list() int       { return min(r.List, r.depth()) }

// Upper bounds of queue entry sizes in bytes: Soft-RoCE's, which are the largest. Its
// kernel driver rounds size and number up to powers of two.
const (
	sendEntry       = 2 * 256 // without inline data
	recvEntry       = 2 * 64
	completionEntry = 2 * 64
)

// memory returns the memory of this side in bytes: registered memory and queues. The
// limit of locked memory does not cover queues.
func (r role) memory() int {
	o := r.endpoint()
	queues := o.Depth*(sendEntry+2*o.Inline+completionEntry) + o.RecvDepth*(recvEntry+completionEntry)
	return r.regionSize(r.QueuePairs*o.Out) + r.regionSize(r.QueuePairs*o.In) + r.QueuePairs*queues
}

// regionSize returns the memory that a region occupies.
func (r role) regionSize(size int) int {
	if !r.Huge {
		return size
	}
	page := dmamem.HugePageSize()
	return (size + page - 1) / page * page
}

// reduced returns the test with depths that a device supports: all queue pairs of a
// thread share a completion queue. It does not change the layout of memory that both
// sides know.
func (r role) reduced(limits verbs.DeviceAttr) Test {
	if r.Verify && r.Op != Send {
		return r.Test
	}
	o := r.endpoint()
	if limits.MaxQPWR > 0 {
		o.Depth, o.RecvDepth = min(o.Depth, int(limits.MaxQPWR)), min(o.RecvDepth, int(limits.MaxQPWR))
	}
	if perQP := int(limits.MaxCQE) / o.GroupSize; perQP > 1 && o.Depth+o.RecvDepth > perQP {
		o.Depth = max(1, o.Depth*perQP/(o.Depth+o.RecvDepth))
		o.RecvDepth = min(o.RecvDepth, perQP-o.Depth)
	}
	t := r.Test
	if r.sends() {
		t.Depth = min(t.Depth, o.Depth)
		t.Moderation, t.List = min(t.Moderation, t.Depth), min(t.List, t.Depth)
	}
	if r.receives() {
		t.RecvDepth = min(t.RecvDepth, o.RecvDepth)
	}
	return t
}

// endpoint returns the objects that this side needs, with the least access for the
// peer.
func (r role) endpoint() endpoint.Options {
	o := endpoint.Options{
		Type: r.Transport.qpType(), Groups: r.Threads, GroupSize: r.QueuePairs / r.Threads, Depth: 1, Events: r.Events,
		Huge: r.Huge, Polled: r.Op == Write && r.Kind == Latency && !r.Imm, Shared: r.SharedReceives && r.receives(),
	}
	if r.sends() {
		o.Depth = r.depth()
		o.Out = r.ring(r.depth()).Size()
		if r.Op == Read || r.Op.Atomic() {
			o.OutAccess = verbs.AccessLocalWrite
		}
		if r.Inline {
			o.Inline = r.Size
		}
	}
	if r.receives() {
		o.RecvDepth = r.recvDepth()
		o.In = r.inRing().Size()
		o.InAccess = verbs.AccessLocalWrite
	}
	if r.target() {
		o.In = r.inRing().Size()
		switch r.Op {
		case Write:
			o.InAccess, o.QPAccess = verbs.AccessLocalWrite|verbs.AccessRemoteWrite, verbs.AccessRemoteWrite
		case Read:
			o.InAccess, o.QPAccess = verbs.AccessRemoteRead, verbs.AccessRemoteRead
		case FetchAdd, CompareSwap:
			o.InAccess, o.QPAccess = verbs.AccessLocalWrite|verbs.AccessRemoteAtomic, verbs.AccessRemoteAtomic
		}
	}
	if r.Relaxed {
		o.OutAccess |= verbs.AccessRelaxedOrdering
		o.InAccess |= verbs.AccessRelaxedOrdering
	}
	return o
}
