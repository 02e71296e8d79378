package bnxt

import (
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// kindOf returns a completion's type.
func kindOf(flags uint32) uint32 { return flags >> cqeType & 0xf }

// isReceive reports a receive's completion.
func isReceive(flags uint32) bool { return kindOf(flags) == typeRecvRC || kindOf(flags) == typeRecvUD }

// handleOf returns the word with the queue pair's handle.
func handleOf(e *entry, flags uint32) *uint64 {
	if isReceive(flags) {
		return &e[1]
	}
	return &e[0]
}

// numberOf returns a receive's number.
func numberOf(e *entry) uint32 { return uint32(mmio.LE64(e[3])>>32) & entryMask }

// decode decodes an entry, which may complete several work requests. whole: it is used up. An
// entry of a closed queue pair is skipped.
func (q *cq) decode(into []provider.Completion, e *entry, flags uint32) (n int, whole bool, err error) {
	kind := kindOf(flags)
	if kind != typeSend && kind != typeTerminal && !isReceive(flags) {
		return 0, false, provider.ErrCorrupt
	}
	handle := mmio.LE64(*handleOf(e, flags))
	owner := q.device.queues.Find(handle - 1)
	switch {
	case handle == 0:
		return 0, true, nil
	case owner == nil, kind == typeSend && owner.sendCQ != q, isReceive(flags) && owner.recvCQ != q:
		return 0, false, provider.ErrCorrupt
	case kind == typeTerminal:
		q.device.fail(owner)
		return 0, true, nil
	case kind == typeSend:
		return q.decodeSend(into, owner, uint32(uint16(mmio.LE64(e[1]))), uint8(flags>>cqeStatus))
	}
	found, err := q.decodeReceive(&into[0], owner, e, flags)
	if found {
		n = 1
	}
	return n, err == nil, err
}

// decodeSend completes the work requests before an index. Unless the status is 0, the last one has
// failed (the kernel's qplib_fp.c, bnxt_qplib_cq_process_req).
func (q *cq) decodeSend(into []provider.Completion, owner *qp, behind uint32, status uint8) (n int, whole bool, err error) {
	s := &owner.send
	behind %= uint32(len(s.requests))
	left := behind - s.oldest
	if behind < s.oldest {
		left += uint32(len(s.requests))
	}
	switch posted := s.posted.Load() - s.done; {
	case left != 0 && left <= posted:
	case owner.failed.Load(): // flushed already
		return 0, true, nil
	case status == 0 || posted == 0:
		return 0, false, provider.ErrCorrupt
	default:
		left = 1
	}
	for ; left > 0; left-- {
		r := &s.requests[s.oldest]
		bad := status != 0 && left == 1
		if r.signaled || bad {
			if n == len(into) {
				return n, false, nil
			}
			into[n] = provider.Completion{ID: r.id, Opcode: r.opcode, ByteLen: r.length, QPN: owner.number}
			if bad {
				into[n] = provider.Completion{ID: r.id, QPN: owner.number, Status: sendStatus(status), VendorErr: uint32(status)}
				owner.failed.Store(true)
				q.flush(work{owner, false})
			}
			n++
		}
		s.retire(r)
	}
	return n, true, nil
}

// retire frees the oldest work request.
func (q *sendQueue) retire(r *request) {
	if q.oldest++; q.oldest == uint32(len(q.requests)) {
		q.oldest = 0
	}
	q.done++
	q.doneSlots.Add(uint32(r.slots))
}

// pop removes the oldest work request and stores its ID.
func (q *sendQueue) pop(c *provider.Completion) bool {
	if q.posted.Load() == q.done {
		return false
	}
	r := &q.requests[q.oldest]
	c.ID, c.Opcode = r.id, r.opcode
	q.retire(r)
	return true
}

// decodeReceive decodes a receive's completion. It returns false for a receive that stays
// posted.
func (q *cq) decodeReceive(c *provider.Completion, owner *qp, e *entry, flags uint32) (found bool, err error) {
	status := uint8(flags >> cqeStatus)
	*c = provider.Completion{QPN: owner.number, Opcode: provider.CompletedRecv, Status: receiveStatus(status), VendorErr: uint32(status)}
	switch {
	case owner.srq != nil:
		if c.ID, found = owner.srq.release(numberOf(e)); !found {
			return false, provider.ErrCorrupt
		}
	case status == statusHardwareFlush:
	case owner.recv.posted.Load() != owner.recv.done.Load() && numberOf(e) == owner.recv.oldest:
		owner.recv.pop(c)
	case !owner.failed.Load():
		return false, provider.ErrCorrupt
	default: // flushed already
		return false, nil
	}
	switch {
	case status == statusHardwareFlush:
		return false, nil
	case status != 0:
		if owner.srq == nil {
			owner.failed.Store(true)
			q.flush(work{owner, true})
		}
		return true, nil
	}
	first, last := mmio.LE64(e[0]), mmio.LE64(e[2])
	c.ByteLen = uint32(first)
	if kindOf(flags) == typeRecvUD {
		c.ByteLen &= udLengthMask
		c.SrcQPN = uint32(last>>48) | uint32(mmio.LE64(e[3])>>56)<<16
		c.Flags |= provider.CompletionGRH
	}
	switch key := uint32(first >> 32); {
	case flags&cqeImm != 0:
		c.Imm = key
		c.Flags |= provider.CompletionWithImm
		if flags&cqeWrite != 0 && kindOf(flags) == typeRecvRC {
			c.Opcode = provider.CompletedRecvWriteImm
		}
	case flags&cqeInvalidate != 0 && kindOf(flags) == typeRecvRC:
		c.InvKey = key
		c.Flags |= provider.CompletionWithInv
	}
	return true, nil
}
