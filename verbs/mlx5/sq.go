package mlx5

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/ibkit/ibkit/verbs/provider"
)

// A sendQueue is a ring of blocks of 64 bytes. A work request has one or more blocks.
// Posting and polling may be concurrent: they share the slots between tail and head.
type sendQueue struct {
	transport provider.Transport
	number    uint32 // of the queue pair
	flags     uint8  // of each work request
	maxSGE    int
	maxInline int    // bytes
	capacity  uint32 // work requests
	ring      []byte
	slots     []slot // by the first block of a work request
	posted    uint32 // blocks ever posted
	head      uint32 // work requests ever posted
	tail      atomic.Uint32
}

// A slot describes a posted work request.
type slot struct {
	id    uint64
	count uint32 // work requests ever posted, with this one
}

// sendBase returns the size of the segments before the data in bytes.
func sendBase(t provider.Transport) int {
	switch t {
	case provider.UD:
		return segmentSize + vectorSize
	case provider.XRCInit:
		return 3 * segmentSize // control, the peer's SRQ and memory
	}
	return 2 * segmentSize // control and the peer's memory
}

// sendSize returns the room for a send work request in bytes.
func sendSize(t provider.Transport, c provider.QPCap) int {
	size := sendBase(t) + max(segmentSize*int(c.MaxSendSGE), 4+int(c.MaxInline))
	if t == provider.RC || t == provider.XRCInit {
		size = max(size, sendBase(t)+2*segmentSize) // an atomic
	}
	return (size + blockSize - 1) &^ (blockSize - 1)
}

// post writes work requests and returns their number. last is the offset of the last one
// in the ring, blocks its size.
func (q *sendQueue) post(wrs []provider.SendWR) (n, last, blocks int, err error) {
	full := q.tail.Load() + q.capacity
	for n < len(wrs) {
		at := int(q.posted&uint32(len(q.slots)-1)) * blockSize
		size, err := q.fill(&wrs[n], at, full)
		if err != nil {
			return n, last, blocks, err
		}
		last, blocks = at, size
		n++
	}
	return n, last, blocks, nil
}

// fill writes a work request at an offset of the ring and returns its size in blocks. full
// is the number of work requests ever posted with which the queue is full.
func (q *sendQueue) fill(wr *provider.SendWR, at int, full uint32) (blocks int, err error) {
	to, err := q.check(wr)
	if err != nil {
		return 0, err
	}
	if q.head == full {
		return 0, provider.ErrFull
	}
	w := writer{ring: q.ring, offset: at}
	c := w.segment()
	if q.transport == provider.XRCInit {
		w.sharedQueue(wr.RemoteSRQN)
	}
	switch wr.Opcode {
	case provider.OpWrite, provider.OpWriteWithImm, provider.OpRead:
		w.remote(wr.RemoteAddr, wr.RKey)
	case provider.OpCompareSwap:
		w.remote(wr.RemoteAddr, wr.RKey)
		w.operands(wr.Swap, wr.CompareAdd)
	case provider.OpFetchAdd:
		w.remote(wr.RemoteAddr, wr.RKey)
		w.operands(wr.CompareAdd, 0)
	default:
		if to != nil {
			w.vector(to, wr.RemoteQPN, wr.QKey)
		}
	}
	if wr.Flags&provider.SendInline != 0 {
		w.inline(wr.Inline)
	} else {
		w.data(wr.SGEs)
	}
	binary.BigEndian.PutUint32(c[0:], q.posted&0xffff<<8|uint32(opcodes[wr.Opcode]))
	binary.BigEndian.PutUint32(c[4:], q.number<<8|uint32(w.size/segmentSize))
	binary.BigEndian.PutUint32(c[8:], uint32(q.flags|controlFlags[wr.Flags&sendFlags]))
	binary.BigEndian.PutUint32(c[12:], immediate(wr))
	q.head++
	q.slots[at/blockSize] = slot{wr.ID, q.head}
	blocks = (w.size + blockSize - 1) / blockSize
	q.posted += uint32(blocks)
	return blocks, nil
}

// check rejects work requests that the adapter would misinterpret. It returns the
// destination of a datagram.
func (q *sendQueue) check(wr *provider.SendWR) (to *ah, err error) {
	if wr.Opcode > 31 || allowed[q.transport]>>wr.Opcode&1 == 0 {
		return nil, provider.ErrOpcode
	}
	if q.transport == provider.UD {
		if wr.AH == nil {
			return nil, provider.ErrAH
		}
		var ok bool
		if to, ok = wr.AH.Provided().(*ah); !ok {
			return nil, provider.ErrAH
		}
	}
	if wr.Flags&provider.SendInline != 0 {
		if len(wr.Inline) > q.maxInline || len(wr.SGEs) > 0 || !wr.Opcode.CarriesPayload() {
			return nil, provider.ErrInline
		}
		return to, nil
	}
	if len(wr.SGEs) > q.maxSGE {
		return nil, provider.ErrSGEs
	}
	var length uint64
	for i := range wr.SGEs {
		length += uint64(wr.SGEs[i].Length)
	}
	if length > maxMessage || wr.Opcode.IsAtomic() && (length != atomicSize || len(wr.SGEs) != 1) {
		err = provider.ErrLength
	}
	return to, err
}

// sendFlags are the flags that change the control segment.
const sendFlags = provider.SendSignaled | provider.SendSolicited | provider.SendFence

// controlFlags are the flags of control segments by those of a work request.
var controlFlags = [sendFlags + 1]uint8{
	provider.SendSignaled:                                               ctrlSignaled,
	provider.SendSolicited:                                              ctrlSolicited,
	provider.SendFence:                                                  ctrlFence,
	provider.SendSignaled | provider.SendSolicited:                      ctrlSignaled | ctrlSolicited,
	provider.SendSignaled | provider.SendFence:                          ctrlSignaled | ctrlFence,
	provider.SendSolicited | provider.SendFence:                         ctrlSolicited | ctrlFence,
	provider.SendSignaled | provider.SendSolicited | provider.SendFence: ctrlSignaled | ctrlSolicited | ctrlFence,
}

// immediate returns the immediate data or the key to invalidate.
func immediate(wr *provider.SendWR) uint32 {
	switch wr.Opcode {
	case provider.OpSendWithImm, provider.OpWriteWithImm:
		return wr.Imm
	case provider.OpSendInvalidate:
		return wr.InvalidateKey
	}
	return 0
}

// retire frees a completed work request and all before it, and returns its ID. counter
// is the index of its first block.
func (q *sendQueue) retire(counter uint16) uint64 {
	s := &q.slots[uint32(counter)&uint32(len(q.slots)-1)]
	q.tail.Store(s.count)
	return s.id
}

// reset discards all work requests.
func (q *sendQueue) reset() {
	q.posted, q.head = 0, 0
	q.tail.Store(0)
}
