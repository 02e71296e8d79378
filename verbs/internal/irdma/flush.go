package irdma

import (
	"slices"

	"github.com/ibkit/ibkit/verbs/provider"
)

// A kind is a completion's kind: success, an error of the oldest work request (flushed), or
// an error of another kind.
type kind uint8

const (
	success kind = iota
	flushed
	unknown
)

// The major error codes (user.h).
const (
	majorFlush = 1      // IRDMA_FLUSH_MAJOR_ERR: the minor code is a flush code
	majorEvent = 0xfffe // IRDMA_SRQFLUSH_RSVD_MAJOR_ERR: the minor code is that of an event
)

// flushStatuses are the statuses by enum irdma_flush_opcode.
var flushStatuses = [...]provider.Status{
	provider.StatusFatal, provider.StatusFlushed, provider.StatusLocalProt, provider.StatusRemoteAccess, provider.StatusLocalQPOp,
	provider.StatusRemoteOp, provider.StatusLocalLength, provider.StatusFatal, provider.StatusRetryExceeded, provider.StatusMWBind,
	provider.StatusRemoteInvalid, provider.StatusRNRExceeded,
}

// eventStatuses are the statuses by event code (user.h, irdma_ae_to_qp_err_code).
var eventStatuses = map[uint16]provider.Status{
	0x0102: provider.StatusLocalProt, 0x0103: provider.StatusLocalProt, 0x0104: provider.StatusLocalProt, 0x0105: provider.StatusLocalProt,
	0x0106: provider.StatusLocalProt, 0x0107: provider.StatusLocalProt, 0x0108: provider.StatusLocalProt, 0x0109: provider.StatusLocalProt,
	0x010a: provider.StatusLocalProt, 0x011c: provider.StatusLocalProt,
	0x0133: provider.StatusLocalQPOp, 0x020a: provider.StatusLocalQPOp,
	0x0132: provider.StatusLocalLength, 0x0134: provider.StatusLocalLength, 0x0135: provider.StatusLocalLength,
	0x0303: provider.StatusLocalLength, 0x0305: provider.StatusLocalLength,
	0x0112: provider.StatusRemoteAccess, 0x020d: provider.StatusRemoteAccess,
	0x0114: provider.StatusMWBind, 0x0118: provider.StatusMWBind, 0x0119: provider.StatusMWBind, 0x011b: provider.StatusMWBind,
	0x050a: provider.StatusRetryExceeded, 0x0208: provider.StatusRemoteInvalid, 0x050f: provider.StatusRNRExceeded,
	0x0316: provider.StatusRemoteOp, 0x0505: provider.StatusRemoteOp, 0x0507: provider.StatusRemoteOp, 0x020e: provider.StatusRemoteOp,
	0x0700: provider.StatusFatal, 0x0703: provider.StatusFatal, 0x0704: provider.StatusFatal, 0x0705: provider.StatusFatal,
}

// fail stores an error's status and codes. Some errors of datagrams are successes for the
// sender (uk.c, IRDMA_CIE_SIGNATURE).
func (q *cq) fail(c *provider.Completion, owner *qp, word uint64) kind {
	major, minor := uint16(word>>cqeMajor), uint16(word)
	c.VendorErr = uint32(major)<<16 | uint32(minor)
	switch {
	case major == majorFlush:
		c.Status = provider.StatusFatal
		if int(minor) < len(flushStatuses) {
			c.Status = flushStatuses[minor]
		}
		return flushed
	case major == majorEvent:
		c.Status = provider.StatusFlushed
		if s, ok := eventStatuses[minor]; ok {
			c.Status = s
		}
		return flushed
	case word&cqeSend != 0 && owner.send.ud && major>>12 == 0xe:
		c.VendorErr = 0
		return success
	}
	c.Status = provider.StatusGeneral
	return unknown
}

// A work is a queue of a queue pair.
type work struct {
	qp       *qp
	receives bool
}

// pop removes the oldest work request.
func (w work) pop(c *provider.Completion) bool {
	if w.receives {
		c.Opcode = provider.CompletedRecv
		return w.qp.srq == nil && w.qp.recv.pop(c)
	}
	return w.qp.send.pop(c)
}

// pop removes the oldest work request and stores its ID.
func (q *receiveQueue) pop(c *provider.Completion) bool {
	tail := q.tail.Load()
	if tail == q.posted.Load() {
		return false
	}
	c.ID = q.ids[tail&(q.size-1)]
	q.tail.Store(tail + 1)
	return true
}

// pop removes the oldest work request with an effect and stores its ID.
func (q *sendQueue) pop(c *provider.Completion) bool {
	for tail := q.tail.Load(); tail != q.posted.Load(); {
		s := &q.slots[tail&uint32(len(q.slots)-1)]
		tail += max(uint32(s.quanta), 1)
		q.tail.Store(tail)
		if s.quanta != 0 && s.op != opNOP {
			c.ID, c.Opcode = s.id, completed[s.op].opcode
			return true
		}
	}
	return false
}

// retireFlushed removes the oldest work request of a queue in error. Before the third
// generation, the adapter reports no others.
func (q *cq) retireFlushed(c *provider.Completion, w work) bool {
	if w.qp.device.limits.HWRev < 3 {
		q.flush(w)
	}
	return w.pop(c)
}

// flush completes a queue's work requests from now on.
func (q *cq) flush(w work) {
	if !slices.Contains(q.flushed, w) {
		q.flushed = append(q.flushed, w)
	}
}

// pollFlushed completes work requests of queues in error, once the ring is empty.
func (q *cq) pollFlushed(into []provider.Completion) (n int) {
	if e, _, _ := q.next(q.index, q.odd); e != nil {
		return 0
	}
	for _, w := range q.flushed {
		for n < len(into) {
			into[n] = provider.Completion{Status: provider.StatusFlushed, QPN: w.qp.number, VendorErr: majorFlush<<16 | 1}
			if !w.pop(&into[n]) {
				break
			}
			n++
		}
	}
	return n
}
