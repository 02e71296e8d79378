package efa

import (
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// The bits in a completion's first word (efa_io_defs.h, struct efa_io_cdesc_common), and
// positions of its fields. The request ID is at position 0.
const (
	cqeImm         = 1 << 27
	cqeUnsolicited = 1 << 31

	cqeStatus = 16
	cqePhase  = 24
	cqeQueue  = 25 // two bits
	cqeOp     = 28 // three bits
	cqeQPN    = 32
	cqeLength = 48

	queueSend    = 1 // enum efa_io_queue_type
	queueReceive = 2
)

// statuses are the statuses by enum efa_io_comp_status (verbs.c, to_ibv_status).
var statuses = [...]provider.Status{
	provider.StatusOK, provider.StatusFlushed, provider.StatusLocalQPOp, provider.StatusLocalQPOp, provider.StatusLocalQPOp,
	provider.StatusLocalProt, provider.StatusLocalLength, provider.StatusRemoteAccess, provider.StatusRemoteAborted,
	provider.StatusRemoteInvalRDD, provider.StatusRNRExceeded, provider.StatusRemoteInvalid, provider.StatusBadResponse,
	provider.StatusRespTimeout, provider.StatusRemoteOp, provider.StatusRespTimeout, provider.StatusGeneral, provider.StatusGeneral,
	provider.StatusRemoteInvalid,
}

// statusOf returns a completion's status.
func statusOf(code uint8) provider.Status {
	if int(code) < len(statuses) {
		return statuses[code]
	}
	return provider.StatusGeneral
}

// decode decodes a completion. It returns false for a completion that the caller does not
// want, and of a queue pair before RESET or Close.
func (q *cq) decode(c *provider.Completion, e *cqe) (found bool, err error) {
	word := mmio.LE64(e[0])
	owner := q.device.queues[uint16(word>>cqeQPN)].Load()
	switch {
	case owner == nil:
		return false, provider.ErrCorrupt
	case owner.device == nil: // closed
		return false, nil
	}
	id := uint16(word)
	code := uint8(word >> cqeStatus)
	switch word >> cqeQueue & 3 {
	case queueSend:
		return owner.send.complete(c, id, code, owner.number)
	case queueReceive:
		return owner.recv.complete(c, e, id, code, owner.number)
	}
	return false, provider.ErrCorrupt
}

// complete decodes the completion of a send work request.
func (q *sendQueue) complete(c *provider.Completion, id uint16, code uint8, number uint32) (found bool, err error) {
	if id&^uint16(q.size-1) != q.generation {
		return false, nil
	}
	id ^= q.generation
	if int(id) >= len(q.slots) || q.slots[id].state&isPosted == 0 {
		return false, provider.ErrCorrupt
	}
	done := &q.slots[id]
	q.free.put(id)
	signaled := done.state&isSignaled != 0
	done.state = 0
	if code == 0 {
		*c = provider.Completion{ID: done.id, Opcode: done.opcode, QPN: number, ByteLen: done.length}
		return signaled, nil
	}
	*c = provider.Completion{ID: done.id, Opcode: done.opcode, QPN: number, Status: statusOf(code), VendorErr: uint32(code)}
	return true, nil
}

// complete decodes the completion of a receive work request.
func (q *receiveQueue) complete(c *provider.Completion, e *cqe, id uint16, code uint8, number uint32) (found bool, err error) {
	word := mmio.LE64(e[0])
	if word&cqeUnsolicited != 0 { // which the queue pair did not ask for
		return false, provider.ErrCorrupt
	}
	if id&^q.mask() != q.generation {
		return false, nil
	}
	id ^= q.generation
	if int(id) >= len(q.slots) || !q.slots[id].posted {
		return false, provider.ErrCorrupt
	}
	done := &q.slots[id]
	done.posted = false
	q.free.put(id)
	*c = provider.Completion{ID: done.id, Opcode: provider.CompletedRecv, QPN: number, Status: statusOf(code), VendorErr: uint32(code)}
	if code != 0 {
		return true, nil
	}
	c.ByteLen = uint32(word >> cqeLength)
	if word>>cqeOp&7 == opWrite {
		c.Opcode = provider.CompletedRecvWriteImm
		c.ByteLen |= uint32(mmio.LE64(e[2])&0xffff) << 16
	}
	second := mmio.LE64(e[1])
	c.SrcQPN = uint32(second >> 16 & 0xffff)
	if word&cqeImm != 0 {
		c.Imm = uint32(second >> 32)
		c.Flags |= provider.CompletionWithImm
	}
	return true, nil
}
