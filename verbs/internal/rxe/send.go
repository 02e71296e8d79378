package rxe

import (
	"encoding/binary"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A sendQueue is a send work request ring.
type sendQueue struct {
	ring      ring
	transport provider.Transport
	maxSGE    int
	maxInline int    // bytes
	usual     uint32 // the operations that direct writes, with a bit for each Opcode
}

// usualOps are the connection operations that direct writes.
const usualOps = 1<<provider.OpWrite | 1<<provider.OpWriteWithImm | 1<<provider.OpSend |
	1<<provider.OpSendWithImm | 1<<provider.OpRead | 1<<provider.OpCompareSwap | 1<<provider.OpFetchAdd

// newSendQueue returns a queue with a mapped ring.
func newSendQueue(t provider.Transport, c provider.QPCap, ring ring) sendQueue {
	q := sendQueue{ring: ring, transport: t, maxSGE: int(c.MaxSendSGE), maxInline: int(c.MaxInline)}
	if t != provider.UD && q.maxSGE > 0 {
		q.usual = usualOps & allowed[t]
	}
	return q
}

// sendElement returns a send work request's size in bytes.
func sendElement(c provider.QPCap) int {
	return uapi.RXESendWQESize + max(int(c.MaxSendSGE)*uapi.RXESGESize, int(c.MaxInline))
}

// post writes work requests into slots and returns their number and the total length
// of their messages, also if it rejects a work request.
func (q *sendQueue) post(wrs []provider.SendWR) (n int, bytes uint64, err error) {
	for n < len(wrs) {
		var length uint32
		if length, err = q.fill(&wrs[n]); err != nil {
			break
		}
		bytes += uint64(length)
		n++
	}
	if n > 0 {
		q.ring.publish()
	}
	return n, bytes, err
}

// fill writes a work request into a slot and returns its message's length.
func (q *sendQueue) fill(wr *provider.SendWR) (uint32, error) {
	if q.isUsual(wr) {
		return q.direct(wr)
	}
	length, err := q.check(wr)
	if err != nil {
		return 0, err
	}
	slot, err := q.ring.next()
	if err != nil {
		return 0, err
	}
	wqe := (*uapi.RXESendWQE)(slot)
	*wqe = uapi.RXESendWQE{}
	wqe.WRID = wr.ID
	wqe.Opcode = uint32(wr.Opcode)
	wqe.SendFlags = uint32(wr.Flags)
	if err := q.operation(wqe, wr); err != nil {
		return 0, err
	}
	wqe.DMA.Length, wqe.DMA.Resid = length, length
	data := unsafe.Add(slot, uapi.RXESendWQESize)
	if wr.Flags&provider.SendInline != 0 {
		copy(unsafe.Slice((*byte)(data), q.maxInline), wr.Inline)
	} else {
		wqe.DMA.NumSGE = uint32(len(wr.SGEs))
		copySGEs(data, wr.SGEs)
	}
	q.ring.advance()
	return length, nil
}

// isUsual reports whether direct can write a work request: a send, write, read or atomic on
// a connection with 1 SGE.
func (q *sendQueue) isUsual(wr *provider.SendWR) bool {
	return wr.Opcode <= provider.OpFetchAdd && q.usual>>(wr.Opcode&31)&1 != 0 && wr.Flags&provider.SendInline == 0 &&
		len(wr.SGEs) == 1 && wr.SGEs[0].Length <= maxMessage && (wr.Opcode <= provider.OpRead || wr.SGEs[0].Length == 8)
}

// direct writes a usual work request. The general path's calls would be a part of
// the latency.
func (q *sendQueue) direct(wr *provider.SendWR) (uint32, error) {
	slot, err := q.ring.next()
	if err != nil {
		return 0, err
	}
	wqe, sge := (*uapi.RXESendWQE)(slot), &wr.SGEs[0]
	*wqe = uapi.RXESendWQE{}
	wqe.WRID, wqe.Opcode, wqe.SendFlags = wr.ID, uint32(wr.Opcode), uint32(wr.Flags)
	if wr.Opcode == provider.OpWriteWithImm || wr.Opcode == provider.OpSendWithImm {
		binary.BigEndian.PutUint32(wqe.Ex[:], wr.Imm)
	}
	switch union := unsafe.Pointer(&wqe.WR); wr.Opcode {
	case provider.OpSend, provider.OpSendWithImm:
	case provider.OpCompareSwap, provider.OpFetchAdd:
		*(*uapi.RXEAtomic)(union) = uapi.RXEAtomic{RemoteAddr: wr.RemoteAddr, RKey: wr.RKey, CompareAdd: wr.CompareAdd, Swap: wr.Swap}
		wqe.IOVA = wr.RemoteAddr
	default:
		*(*uapi.RXERDMA)(union) = uapi.RXERDMA{RemoteAddr: wr.RemoteAddr, RKey: wr.RKey}
		wqe.IOVA = wr.RemoteAddr
	}
	wqe.DMA.Length, wqe.DMA.Resid, wqe.DMA.NumSGE = sge.Length, sge.Length, 1
	*(*uapi.RXESGE)(unsafe.Add(slot, uapi.RXESendWQESize)) = uapi.RXESGE{Addr: sge.Addr, Length: sge.Length, LKey: sge.LKey}
	q.ring.advance()
	return sge.Length, nil
}

// allowed are each transport's operations (InfiniBand Architecture, volume 1,
// table 43), with a bit for each Opcode.
var allowed = [...]uint32{
	provider.RC: 1<<provider.OpSend | 1<<provider.OpSendWithImm | 1<<provider.OpSendInvalidate |
		1<<provider.OpWrite | 1<<provider.OpWriteWithImm | 1<<provider.OpRead |
		1<<provider.OpCompareSwap | 1<<provider.OpFetchAdd | 1<<provider.OpLocalInvalidate | 1<<provider.OpBindMW,
	provider.UC: 1<<provider.OpSend | 1<<provider.OpSendWithImm | 1<<provider.OpSendInvalidate |
		1<<provider.OpWrite | 1<<provider.OpWriteWithImm | 1<<provider.OpLocalInvalidate | 1<<provider.OpBindMW,
	provider.UD: 1<<provider.OpSend | 1<<provider.OpSendWithImm,
}

// check rejects work requests that the kernel would misinterpret, and returns the message
// length.
func (q *sendQueue) check(wr *provider.SendWR) (uint32, error) {
	if wr.Opcode > 31 || allowed[q.transport]>>wr.Opcode&1 == 0 {
		return 0, provider.ErrOpcode
	}
	if wr.Flags&provider.SendInline != 0 {
		if len(wr.Inline) > q.maxInline || len(wr.SGEs) > 0 || !wr.Opcode.CarriesPayload() {
			return 0, provider.ErrInline
		}
		return uint32(len(wr.Inline)), nil
	}
	if len(wr.SGEs) > q.maxSGE {
		return 0, provider.ErrSGEs
	}
	length, err := provider.Length(wr.SGEs, maxMessage)
	if err != nil {
		return 0, err
	}
	switch wr.Opcode {
	case provider.OpCompareSwap, provider.OpFetchAdd:
		if length != 8 {
			return 0, provider.ErrLength
		}
	case provider.OpLocalInvalidate, provider.OpBindMW:
		if length != 0 {
			return 0, provider.ErrLength
		}
		if wr.Opcode == provider.OpBindMW && wr.Bind == nil {
			return 0, provider.ErrOpcode
		}
	}
	return length, nil
}

// operation writes an operation's parameters.
func (q *sendQueue) operation(wqe *uapi.RXESendWQE, wr *provider.SendWR) error {
	switch wr.Opcode {
	case provider.OpWriteWithImm, provider.OpSendWithImm:
		binary.BigEndian.PutUint32(wqe.Ex[:], wr.Imm)
	case provider.OpSendInvalidate, provider.OpLocalInvalidate:
		binary.NativeEndian.PutUint32(wqe.Ex[:], wr.InvalidateKey)
	}
	union := unsafe.Pointer(&wqe.WR)
	switch wr.Opcode {
	case provider.OpWrite, provider.OpWriteWithImm, provider.OpRead:
		x := (*uapi.RXERDMA)(union)
		x.RemoteAddr, x.RKey = wr.RemoteAddr, wr.RKey
		wqe.IOVA = wr.RemoteAddr
	case provider.OpCompareSwap, provider.OpFetchAdd:
		x := (*uapi.RXEAtomic)(union)
		x.RemoteAddr, x.RKey = wr.RemoteAddr, wr.RKey
		x.CompareAdd, x.Swap = wr.CompareAdd, wr.Swap
		wqe.IOVA = wr.RemoteAddr
	case provider.OpBindMW:
		x, b := (*uapi.RXEMW)(union), wr.Bind
		x.Addr, x.Length, x.Access = b.Addr, b.Length, uint32(b.Access)
		x.MRLKey, x.MWRKey, x.RKey = b.LKey, b.Window, b.RKey
	case provider.OpSend, provider.OpSendWithImm:
		if q.transport == provider.UD {
			return datagram((*uapi.RXEUD)(union), wr)
		}
	}
	return nil
}

// datagram writes a datagram's destination.
func datagram(x *uapi.RXEUD, wr *provider.SendWR) error {
	to, ok := wr.AH.Provided().(*ah)
	if !ok {
		return provider.ErrAH
	}
	x.RemoteQPN, x.QKey, x.AHNum, x.AV = wr.RemoteQPN, wr.QKey, to.number, to.address
	return nil
}
