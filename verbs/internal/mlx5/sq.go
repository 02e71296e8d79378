package mlx5

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/ibkit/ibkit/verbs/provider"
)

// A sendQueue is a ring with 64-byte blocks. A work request has at least 1 block.
// Posting and polling may be concurrent: they share the slots between tail and head.
type sendQueue struct {
	transport provider.Transport
	number    uint32 // of the queue pair
	flags     uint8  // of each work request
	maxSGE    int
	maxInline int    // bytes
	capacity  uint32 // work requests of the usual size
	unit      int    // the usual size in blocks
	ring      []byte
	blocks    []block    // ring blocks; their count is a power of 2
	formats   [256]uint8 // for work requests that direct writes, by Opcode
	slots     []slot     // by a work request's first block
	posted    uint32     // blocks ever posted
	head      uint32     // work requests ever posted; a larger request counts as several
	tail      atomic.Uint32
	fence     uint8 // next work request's flags
}

// A slot describes a posted work request.
type slot struct {
	id     uint64
	count  uint32                    // queue head after it
	window provider.CompletionOpcode // of a memory window
}

// sendBase returns the segment size before the data in bytes.
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

// post writes the work requests from index n, the first that direct has not written.
// It returns the written request count and the last request's size in blocks.
func (q *sendQueue) post(wrs []provider.SendWR, n int) (done, size int, err error) {
	for size = 1; n < len(wrs); {
		blocks, err := q.fill(&wrs[n])
		if err != nil {
			return n, size, err
		}
		n, size = n+1, blocks
		if more := q.direct(wrs[n:]); more > 0 {
			n, size = n+more, 1
		}
	}
	return n, size, nil
}

// Formats for work requests that direct writes. The low 5 bits are the opcode.
const (
	withImmediate = 1 << 5
	withRemote    = 1 << 6 // has the peer memory segment
	formatOpcode  = withImmediate - 1
)

// formats returns the formats by operation, and 0 for operations that direct leaves to
// fill.
func formats(t provider.Transport) (f [256]uint8) {
	if t != provider.RC && t != provider.UC {
		return f
	}
	f[provider.OpSend], f[provider.OpSendWithImm] = wqeSend, wqeSendImm|withImmediate
	f[provider.OpWrite], f[provider.OpWriteWithImm] = wqeWrite|withRemote, wqeWriteImm|withRemote|withImmediate
	if t == provider.RC {
		f[provider.OpRead] = wqeRead | withRemote
	}
	return f
}

// direct writes the usual work requests, sends, writes and reads on connections with 1 SGE,
// which have 1 block. It returns their number and stops at the first other work request. It
// is a loop without calls, because it determines the posting cost.
func (q *sendQueue) direct(wrs []provider.SendWR) int {
	if q.fence != 0 {
		return 0
	}
	blocks, mask := q.blocks, uint32(len(q.blocks)-1)
	slots := q.slots[:len(blocks)]
	posted, head := q.posted, q.head
	if free := q.capacity - (head - q.tail.Load()); uint64(len(wrs)) > uint64(free) {
		wrs = wrs[:free]
	}
	number, flags := uint64(q.number)<<8, q.flags
	n := 0
	for ; n < len(wrs); n++ {
		wr := &wrs[n]
		format := q.formats[wr.Opcode]
		if format == 0 || wr.Flags&provider.SendInline != 0 || len(wr.SGEs) != 1 {
			break
		}
		s := &wr.SGEs[0]
		if s.Length-1 >= maxMessage { // 0 has no segment
			break
		}
		at := posted & mask
		b := &blocks[at]
		head++
		slots[at].id, slots[at].count = wr.ID, head
		control := uint64(posted&0xffff)<<40 | uint64(format&formatOpcode)<<32 | number
		options := uint64(flags|controlFlags[wr.Flags&sendFlags]) << 32
		if format&withImmediate != 0 {
			options |= uint64(wr.Imm)
		}
		length := uint64(s.Length)<<32 | uint64(s.LKey)
		b[1] = wire64(options)
		if format&withRemote != 0 {
			b[0], b[2], b[3] = wire64(control|3), wire64(wr.RemoteAddr), wire64(uint64(wr.RKey)<<32)
			b[4], b[5] = wire64(length), wire64(s.Addr)
		} else {
			b[0], b[2], b[3] = wire64(control|2), wire64(length), wire64(s.Addr)
		}
		posted++
	}
	q.posted, q.head = posted, head
	return n
}

// fill writes any work request kind and returns its size in blocks.
func (q *sendQueue) fill(wr *provider.SendWR) (blocks int, err error) {
	to, err := q.check(wr)
	if err != nil {
		return 0, err
	}
	room := q.room(wr.Opcode)
	if q.capacity-(q.head-q.tail.Load()) < room {
		return 0, provider.ErrFull
	}
	at := q.posted & uint32(len(q.blocks)-1)
	w := writer{ring: q.ring, offset: int(at) * blockSize}
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
	case provider.OpBindMW:
		w.bind(wr.Bind, q.number)
	case provider.OpLocalInvalidate:
		w.unbind()
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
	flags := q.flags | controlFlags[wr.Flags&sendFlags]
	if wr.Flags&provider.SendFence == 0 {
		flags |= q.fence
	}
	binary.BigEndian.PutUint32(c[8:], uint32(flags))
	binary.BigEndian.PutUint32(c[12:], immediate(wr))
	blocks = (w.size + blockSize - 1) / blockSize
	q.head += room
	q.slots[at] = slot{id: wr.ID, count: q.head}
	q.fence = 0
	if windows>>wr.Opcode&1 != 0 {
		q.slots[at].window, q.fence = completedWindow[wr.Opcode], ctrlSmallFence
	}
	q.posted += uint32(blocks)
	return blocks, nil
}

// completedWindow are the completion operations.
var completedWindow = [...]provider.CompletionOpcode{
	provider.OpBindMW: provider.CompletedBindMW, provider.OpLocalInvalidate: provider.CompletedLocalInvalidate,
}

// segments returns the size for the work request with its first block at an index.
func (q *sendQueue) segments(at int) int { return int(q.ring[at*blockSize+7] & 0x3f) }

// room returns the count of usual work requests that take a single request's room.
func (q *sendQueue) room(op provider.Opcode) uint32 {
	blocks := 1
	switch op {
	case provider.OpBindMW:
		blocks = bindBlocks
	case provider.OpLocalInvalidate:
		blocks = unbindBlocks
	}
	return uint32((blocks + q.unit - 1) / q.unit)
}

// check rejects work requests that the adapter would misinterpret. It returns a datagram's
// destination.
func (q *sendQueue) check(wr *provider.SendWR) (to *ah, err error) {
	if wr.Opcode > 31 || allowed[q.transport]>>wr.Opcode&1 == 0 {
		return nil, provider.ErrOpcode
	}
	if q.transport == provider.UD {
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
	switch {
	case wr.Opcode == provider.OpBindMW && wr.Bind == nil:
		return nil, provider.ErrOpcode
	case windows>>wr.Opcode&1 != 0 && length != 0, wr.Opcode == provider.OpBindMW && wr.Bind.Length-1 >= maxWindow:
		return nil, provider.ErrLength
	}
	if length > maxMessage || wr.Opcode.IsAtomic() && (length != atomicSize || len(wr.SGEs) != 1) {
		err = provider.ErrLength
	}
	return to, err
}

// sendFlags are the flags that change the control segment.
const sendFlags = provider.SendSignaled | provider.SendSolicited | provider.SendFence

// controlFlags are the control segment flags by work request flags.
var controlFlags = [sendFlags + 1]uint8{
	provider.SendSignaled:                                               ctrlSignaled,
	provider.SendSolicited:                                              ctrlSolicited,
	provider.SendFence:                                                  ctrlFence,
	provider.SendSignaled | provider.SendSolicited:                      ctrlSignaled | ctrlSolicited,
	provider.SendSignaled | provider.SendFence:                          ctrlSignaled | ctrlFence,
	provider.SendSolicited | provider.SendFence:                         ctrlSolicited | ctrlFence,
	provider.SendSignaled | provider.SendSolicited | provider.SendFence: ctrlSignaled | ctrlSolicited | ctrlFence,
}

// immediate returns the immediate data or the key to change.
func immediate(wr *provider.SendWR) uint32 {
	switch wr.Opcode {
	case provider.OpSendWithImm, provider.OpWriteWithImm:
		return wr.Imm
	case provider.OpSendInvalidate, provider.OpLocalInvalidate:
		return wr.InvalidateKey
	case provider.OpBindMW:
		return wr.Bind.Window
	}
	return 0
}

// slot returns the work request with its first block at the index counter.
func (q *sendQueue) slot(counter uint16) *slot {
	return &q.slots[uint32(counter)&uint32(len(q.slots)-1)]
}

// retire frees a completed work request and all before it, and returns its ID. counter
// is its first block's index.
func (q *sendQueue) retire(counter uint16) uint64 {
	s := q.slot(counter)
	q.tail.Store(s.count)
	return s.id
}

// reset discards all work requests.
func (q *sendQueue) reset() {
	q.posted, q.head, q.fence = 0, 0, 0
	q.tail.Store(0)
}
