package irdma

import (
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A completion's last word (defs.h, IRDMA_CQ_*).
const (
	cqeSend     = 1 << 62
	cqeError    = 1 << 55
	cqeKey      = 1 << 53 // a key was invalidated
	cqeSRQ      = 1 << 52
	cqeExtended = 1 << 50

	cqeImm = 1 << 62 // in the extension

	cqeOp    = 56 // positions
	cqeIndex = 32
	cqeMajor = 16
)

// contextOf returns the word with the queue pair's context.
func contextOf(e, more *quantum) *uint64 {
	if mmio.LE64(e[3])&cqeSRQ != 0 && more != nil {
		return &more[1]
	}
	return &e[1]
}

// decode decodes a completion. It returns false for a completion of a closed queue pair, and
// for an error of a queue without work requests.
func (q *cq) decode(c *provider.Completion, e, more *quantum) (found bool, err error) {
	context := mmio.LE64(*contextOf(e, more))
	owner := q.device.queues.Find(context - 1)
	if owner == nil {
		if context == 0 {
			return false, nil
		}
		return false, provider.ErrCorrupt
	}
	word := mmio.LE64(e[3])
	*c = provider.Completion{QPN: owner.number}
	how := success
	if word&cqeError != 0 {
		how = q.fail(c, owner, word)
	}
	if word&cqeSend != 0 {
		return q.decodeSend(c, owner, word, how)
	}
	return q.decodeReceive(c, owner, e, more, how)
}

// decodeSend decodes a send work request's completion.
func (q *cq) decodeSend(c *provider.Completion, owner *qp, word uint64, how kind) (bool, error) {
	s := &owner.send
	if how == flushed {
		return q.retireFlushed(c, work{owner, false}), nil
	}
	index := uint32(word>>cqeIndex) & 0x7fff
	switch {
	case int(index) >= len(s.slots), index >= s.start && s.slots[index].quanta == 0:
		return false, provider.ErrCorrupt
	case s.slots[index].quanta == 0: // the driver's
		return false, nil
	}
	done := &s.slots[index]
	tail := s.tail.Load()
	s.tail.Store(tail + (index+uint32(done.quanta)-tail)&uint32(len(s.ring)-1))
	c.ID = done.id
	if how != success {
		return true, nil
	}
	c.ByteLen = done.length
	if c.Opcode = completed[word>>cqeOp&0x3f].opcode; !completed[word>>cqeOp&0x3f].known {
		c.Status = provider.StatusGeneral
	}
	return true, nil
}

// completed are the completion operations by the adapter's.
var completed = [64]struct {
	opcode provider.CompletionOpcode
	known  bool
}{
	opWrite: {provider.CompletedWrite, true}, opWriteSolicited: {provider.CompletedWrite, true}, opRead: {provider.CompletedRead, true},
	opSend: {provider.CompletedSend, true}, opSendInv: {provider.CompletedSend, true}, opSendSolicited: {provider.CompletedSend, true},
	opSendSolInv: {provider.CompletedSend, true}, opBind: {provider.CompletedBindMW, true},
	opInvalidate: {provider.CompletedLocalInvalidate, true}, opFetchAdd: {provider.CompletedFetchAdd, true},
	opCompareSwap: {provider.CompletedCompareSwap, true},
}

// The packet opcodes of writes with immediate data, which completions before the third
// generation have (InfiniBand Architecture, volume 1, 9.2.1).
const (
	packetWriteLastImm = 0x09
	packetWriteOnlyImm = 0x0b
)

// isWrite reports whether a receive is that of a write with immediate data.
func (q *qp) isWrite(op uint64, imm bool) bool {
	switch {
	case q.device.limits.HWRev >= 3:
		return op == opWrite || op == opWriteSolicited
	case q.send.allowed>>provider.OpSendWithImm&1 == 0:
		return imm // only writes have it
	}
	return op == packetWriteLastImm || op == packetWriteOnlyImm
}

// decodeReceive decodes a receive work request's completion.
func (q *cq) decodeReceive(c *provider.Completion, owner *qp, e, more *quantum, how kind) (bool, error) {
	word := mmio.LE64(e[3])
	r := &owner.recv
	c.Opcode = provider.CompletedRecv
	switch {
	case word&cqeSRQ != 0:
		if owner.srq == nil {
			return false, provider.ErrCorrupt
		}
		c.ID = mmio.LE64(e[1])
		owner.srq.queue.tail.Add(1)
	case how == flushed:
		return q.retireFlushed(c, work{owner, true}), nil
	case how == unknown:
		if !r.pop(c) {
			return false, nil
		}
	default:
		entry := uint32(word>>cqeIndex) & 0x7fff >> r.shift
		if entry >= r.size {
			return false, provider.ErrCorrupt
		}
		c.ID = r.ids[entry]
		tail := r.tail.Load()
		r.tail.Store(tail + (entry+1-tail)&(r.size-1))
	}
	if how != success {
		return true, nil
	}
	imm := more != nil && mmio.LE64(more[3])&cqeImm != 0
	if owner.isWrite(word>>cqeOp&0x3f, imm) {
		c.Opcode = provider.CompletedRecvWriteImm
	}
	c.ByteLen = uint32(mmio.LE64(e[0]))
	if imm {
		c.Imm = uint32(mmio.LE64(more[0]))
		c.Flags |= provider.CompletionWithImm
	}
	switch low := uint32(mmio.LE64(e[2])); {
	case owner.send.ud:
		c.SrcQPN = low & 0xffffff
		c.Flags |= provider.CompletionGRH
	case word&cqeKey != 0:
		c.InvKey = low
		c.Flags |= provider.CompletionWithInv
	}
	return true, nil
}
