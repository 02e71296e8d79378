package siw

import (
	"errors"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A qp is a queue pair.
type qp struct {
	device    provider.Device
	bell      provider.Doorbell
	sq        ring[uapi.SIWSQE]
	rq        receiveQueue // without memory if the queue pair uses an SRQ
	capacity  provider.QPCap
	signalAll bool
}

// Cap returns the capacity.
func (q *qp) Cap() provider.QPCap { return q.capacity }

// The brief doorbell limits, as with Soft-RoCE. The kernel sends within the
// doorbell, as much as the socket accepts without blocking (siw_qp_tx.c).
const (
	briefBytes    = 8 << 10 // bytes
	briefMessages = 8
)

// PostSend fills the ring, and rings the doorbell unless the kernel is processing it.
func (q *qp) PostSend(wrs []provider.SendWR) (n int, err error) {
	first := q.sq.next
	var bytes uint64
	for n < len(wrs) {
		var length uint64
		if length, err = q.fill(&wrs[n]); err != nil {
			break
		}
		bytes += length
		n++
	}
	if n == 0 || q.busy(first, n) {
		return n, err
	}
	if e := q.bell.Ring(bytes <= briefBytes && n <= briefMessages); e != nil {
		return n, errors.Join(e, err)
	}
	return n, err
}

// busy reports whether the kernel processes the ring and therefore finds n elements that
// begin with the count first: it has not taken the element before them yet.
func (q *qp) busy(first uint32, n int) bool {
	if n >= len(q.sq.elements) {
		return false
	}
	return atomic.LoadUint32(&q.sq.at(first-1).Head)&validHead != 0
}

// opcodes are the supported operations with their numbers in the driver. Some accept
// inline data; the driver rejects inline data from others, and reads with a fence (siw_qp.c,
// siw_activate_tx_from_sq).
var opcodes = [...]struct {
	supported, inline bool
	siw               uint8
}{
	provider.OpWrite:          {true, true, uapi.SIWOpWrite},
	provider.OpRead:           {true, false, uapi.SIWOpRead},
	provider.OpSend:           {true, true, uapi.SIWOpSend},
	provider.OpSendInvalidate: {true, false, uapi.SIWOpSendRemoteInv},
}

// fill writes a work request into an element and returns its message's length.
func (q *qp) fill(wr *provider.SendWR) (length uint64, err error) {
	if int(wr.Opcode) >= len(opcodes) || !opcodes[wr.Opcode].supported {
		return 0, provider.ErrOpcode
	}
	op := &opcodes[wr.Opcode]
	inline := wr.Flags&provider.SendInline != 0
	switch {
	case wr.Opcode == provider.OpRead && wr.Flags&provider.SendFence != 0:
		return 0, provider.ErrOpcode
	case inline && (len(wr.Inline) > uapi.SIWMaxInline || len(wr.SGEs) > 0 || !op.inline):
		return 0, provider.ErrInline
	case len(wr.SGEs) > int(q.capacity.MaxSendSGE), wr.Opcode == provider.OpRead && len(wr.SGEs) != 1:
		return 0, provider.ErrSGEs
	}
	sqe := q.sq.at(q.sq.next)
	if atomic.LoadUint32(&sqe.Head)&validHead != 0 {
		return 0, provider.ErrFull
	}
	flags, sges := q.flags(wr.Flags), len(wr.SGEs)
	if inline {
		length, sges = uint64(len(wr.Inline)), 1
		sqe.SGE[0] = uapi.SIWSGE{Length: uint32(length)}
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&sqe.SGE[1])), uapi.SIWMaxInline), wr.Inline)
	} else if length, err = copySGEs(&sqe.SGE, wr.SGEs); err != nil {
		return 0, err
	}
	sqe.ID = wr.ID
	sqe.RAddr, sqe.RKey = wr.RemoteAddr, wr.RKey
	if wr.Opcode == provider.OpSendInvalidate {
		sqe.RAddr, sqe.RKey = 0, wr.InvalidateKey
	}
	atomic.StoreUint32(&sqe.Head, head(flags, uint8(sges), op.siw))
	q.sq.next++
	return length, nil
}

// flags converts work request flags.
func (q *qp) flags(f provider.SendFlags) uint16 {
	flags := uint16(uapi.SIWValid)
	if f&provider.SendSignaled != 0 || q.signalAll {
		flags |= uapi.SIWSignalled
	}
	if f&provider.SendSolicited != 0 {
		flags |= uapi.SIWSolicited
	}
	if f&provider.SendInline != 0 {
		flags |= uapi.SIWInline
	}
	if f&provider.SendFence != 0 {
		flags |= uapi.SIWReadFence
	}
	return flags
}

// head returns an element's second word, with its fields in the host's byte
// order: flags, num_sge and opcode.
func head(flags uint16, sges, opcode uint8) (word uint32) {
	b := (*[4]byte)(unsafe.Pointer(&word))
	*(*uint16)(unsafe.Pointer(b)) = flags
	b[2], b[3] = sges, opcode
	return word
}

// validHead is the flag VALID in an element's second word.
var validHead = head(uapi.SIWValid, 0, 0)

// copySGEs writes SGEs into an element and returns their total length.
func copySGEs(to *[uapi.SIWMaxSGE]uapi.SIWSGE, sges []provider.SGE) (sum uint64, err error) {
	for i := range sges {
		to[i] = uapi.SIWSGE{Addr: sges[i].Addr, Length: sges[i].Length, LKey: sges[i].LKey}
		sum += uint64(sges[i].Length)
	}
	if sum > math.MaxUint32 { // the driver counts with 32 bits
		return 0, provider.ErrLength
	}
	return sum, nil
}

// PostRecv fills the ring.
func (q *qp) PostRecv(wrs []provider.RecvWR) (int, error) { return q.rq.post(wrs) }

// Reset keeps the counts, as the kernel does (siw_qp.c).
func (q *qp) Reset() {}

// Close unmaps the rings.
func (q *qp) Close() error { return errors.Join(q.sq.unmap(q.device), q.rq.ring.unmap(q.device)) }
