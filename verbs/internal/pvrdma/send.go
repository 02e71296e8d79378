package pvrdma

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A sendQueue is a send work request ring.
type sendQueue struct {
	ring
	transport provider.Transport
	maxSGE    int
	flags     provider.SendFlags // each work request's
}

// sendStride returns a send work request's size.
func sendStride(maxSGE uint32) uint64 {
	return stride(unsafe.Sizeof(uapi.PVRDMASendHeader{}), maxSGE)
}

// allowed are the operations by transport, a bit each. Their numbers follow enum
// pvrdma_wr_opcode.
var allowed = [...]uint32{
	provider.RC: 1<<provider.OpWrite | 1<<provider.OpWriteWithImm | 1<<provider.OpSend | 1<<provider.OpSendWithImm |
		1<<provider.OpRead | 1<<provider.OpCompareSwap | 1<<provider.OpFetchAdd,
	provider.UD: 1<<provider.OpSend | 1<<provider.OpSendWithImm,
}

// atomicSize is an atomic operand's size in bytes.
const atomicSize = 8

// post writes work requests and returns their number.
func (q *sendQueue) post(wrs []provider.SendWR) (int, error) {
	for i := range wrs {
		if err := q.fill(&wrs[i]); err != nil {
			return i, err
		}
	}
	return len(wrs), nil
}

// fill writes a work request.
func (q *sendQueue) fill(wr *provider.SendWR) error {
	to, err := q.check(wr)
	if err != nil {
		return err
	}
	tail, err := q.reserve()
	if err != nil {
		return err
	}
	h := (*uapi.PVRDMASendHeader)(q.at(tail))
	*h = uapi.PVRDMASendHeader{WRID: wr.ID, NumSGE: uint32(len(wr.SGEs)), Opcode: uint32(wr.Opcode), SendFlags: uint32(wr.Flags | q.flags)}
	body := unsafe.Pointer(&h.WR)
	switch wr.Opcode {
	case provider.OpWrite, provider.OpWriteWithImm, provider.OpRead:
		*(*uapi.PVRDMARDMA)(body) = uapi.PVRDMARDMA{RemoteAddr: wr.RemoteAddr, RKey: wr.RKey}
	case provider.OpCompareSwap, provider.OpFetchAdd:
		*(*uapi.PVRDMAAtomic)(body) = uapi.PVRDMAAtomic{RemoteAddr: wr.RemoteAddr, RKey: wr.RKey, CompareAdd: wr.CompareAdd, Swap: wr.Swap}
	default:
		if to != nil {
			*(*uapi.PVRDMADatagram)(body) = uapi.PVRDMADatagram{RemoteQPN: wr.RemoteQPN, RemoteQKey: wr.QKey, AV: *to}
		}
	}
	if wr.Opcode == provider.OpSendWithImm || wr.Opcode == provider.OpWriteWithImm {
		binary.BigEndian.PutUint32(h.Imm[:], wr.Imm)
	}
	putSGEs(unsafe.Add(unsafe.Pointer(h), unsafe.Sizeof(*h)), wr.SGEs)
	q.publish(tail)
	return nil
}

// check rejects work requests that the adapter would misinterpret. It returns a datagram's
// destination.
func (q *sendQueue) check(wr *provider.SendWR) (to *uapi.PVRDMAAV, err error) {
	switch {
	case wr.Opcode > 31 || allowed[q.transport]>>wr.Opcode&1 == 0:
		return nil, provider.ErrOpcode
	case wr.Flags&provider.SendInline != 0:
		return nil, provider.ErrInline
	case len(wr.SGEs) > q.maxSGE:
		return nil, provider.ErrSGEs
	}
	if q.transport == provider.UD {
		var ok bool
		if to, ok = wr.AH.Provided().(*uapi.PVRDMAAV); !ok {
			return nil, provider.ErrAH
		}
	}
	length, err := provider.Length(wr.SGEs, math.MaxUint32)
	if err == nil && wr.Opcode.IsAtomic() && (length != atomicSize || len(wr.SGEs) != 1) {
		err = provider.ErrLength
	}
	return to, err
}
