package mlx5

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs/provider"
)

// The completion queue entry fields (mlx5dv.h, struct mlx5_cqe64).
const (
	cqePathBits   = 17 // 7 bits
	cqeSLID       = 22
	cqeSource     = 24 // GRH present 2 bits, SL 4, source QP 24
	cqeUser       = 32 // low 24 bits
	cqeImm        = 36 // immediate data, invalidated key, or P_Key index
	cqeByteCount  = 44
	cqeVendor     = 54 // of an error
	cqeSyndrome   = 55 // of an error
	cqeQPN        = 56 // 24 bits, after the send work request opcode
	cqeCounter    = 60
	cqeOwner      = 63 // opcode 4 bits, format 2, solicited 1, owner 1
	cqeFormatMask = 0xc
	cqeUsual      = 0xf0 | cqeFormatMask | 1 // all but solicited
)

// Completion opcodes.
const (
	cqeRequest      = 0x0
	cqeWriteImm     = 0x1
	cqeRecv         = 0x2
	cqeRecvImm      = 0x3
	cqeRecvInv      = 0x4
	cqeResize       = 0x5
	cqeRequestError = 0xd
	cqeRecvError    = 0xe
	cqeInvalid      = 0xf
)

// The page fault syndromes (mlx5dv.h, MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR and
// MLX5_CQE_VENDOR_SYNDROME_ODP_PFAULT).
const (
	syndromeAborted = 0x22
	vendorPageFault = 0x93
)

// statuses are the status codes by syndrome (mlx5dv.h, MLX5_CQE_SYNDROME_*).
var statuses = [256]provider.Status{
	0x01: provider.StatusLocalLength,
	0x02: provider.StatusLocalQPOp,
	0x04: provider.StatusLocalProt,
	0x05: provider.StatusFlushed,
	0x06: provider.StatusMWBind,
	0x10: provider.StatusBadResponse,
	0x11: provider.StatusLocalAccess,
	0x12: provider.StatusRemoteInvalid,
	0x13: provider.StatusRemoteAccess,
	0x14: provider.StatusRemoteOp,
	0x15: provider.StatusRetryExceeded,
	0x16: provider.StatusRNRExceeded,

	syndromeAborted: provider.StatusRemoteAborted,
}

// A requestKind states how a send work request's completion is decoded.
type requestKind struct {
	defined bool
	opcode  provider.CompletionOpcode
	length  uint32 // payload length
	counted uint32 // length mask in the completion
}

// requestKinds are the completion kinds by work request opcode.
var requestKinds = [256]requestKind{
	wqeSend:        {defined: true, opcode: provider.CompletedSend},
	wqeSendImm:     {defined: true, opcode: provider.CompletedSend},
	wqeSendInv:     {defined: true, opcode: provider.CompletedSend},
	wqeWrite:       {defined: true, opcode: provider.CompletedWrite},
	wqeWriteImm:    {defined: true, opcode: provider.CompletedWrite},
	wqeRead:        {defined: true, opcode: provider.CompletedRead, counted: 1<<32 - 1},
	wqeCompareSwap: {defined: true, opcode: provider.CompletedCompareSwap, length: atomicSize},
	wqeFetchAdd:    {defined: true, opcode: provider.CompletedFetchAdd, length: atomicSize},
}

// complete decodes a completion for a failed, a memory window or a receive work request, and
// frees the work request. It reports false for an invalid entry.
func (u *user) complete(c *provider.Completion, e *[cqeSize]byte) bool {
	op := e[cqeOwner] >> 4
	counter := counterOf(e)
	*c = provider.Completion{QPN: binary.BigEndian.Uint32(e[cqeQPN:]) & 0xffffff}
	switch op {
	case cqeRequest:
		// With another format, the entry contains a read's data, which is off.
		if u.qp == nil || e[cqeQPN] != wqeUMR || e[cqeOwner]&cqeFormatMask != 0 {
			return false
		}
		if c.Opcode = u.qp.send.slot(counter).window; c.Opcode == 0 {
			return false
		}
		c.ID = u.qp.send.retire(counter)
		return true
	case cqeRequestError:
		if u.qp == nil {
			return false
		}
		c.ID = u.qp.send.retire(counter)
	case cqeWriteImm, cqeRecv, cqeRecvImm, cqeRecvInv:
		if e[cqeOwner]&cqeFormatMask != 0 { // data in the entry, which is off
			return false
		}
		c.ID = u.retireRecv(counter)
		decodeRecv(c, e, op)
		return true
	case cqeRecvError:
		c.ID = u.retireRecv(counter)
	default:
		return false
	}
	c.Status = statuses[e[cqeSyndrome]]
	if c.Status == provider.StatusOK {
		c.Status = provider.StatusGeneral
	}
	c.VendorErr = uint32(e[cqeVendor])
	return true
}

// counterOf returns the work request index.
func counterOf(e *[cqeSize]byte) uint16 { return binary.BigEndian.Uint16(e[cqeCounter:]) }

// decodeRecv decodes a receive work request's completion.
func decodeRecv(c *provider.Completion, e *[cqeSize]byte, op uint8) {
	c.Opcode = provider.CompletedRecv
	c.ByteLen = binary.BigEndian.Uint32(e[cqeByteCount:])
	imm := binary.BigEndian.Uint32(e[cqeImm:])
	switch op {
	case cqeWriteImm:
		c.Opcode = provider.CompletedRecvWriteImm
		c.Imm, c.Flags = imm, provider.CompletionWithImm
	case cqeRecvImm:
		c.Imm, c.Flags = imm, provider.CompletionWithImm
	case cqeRecvInv:
		c.InvKey, c.Flags = imm, provider.CompletionWithInv
	}
	source := binary.BigEndian.Uint32(e[cqeSource:])
	if source>>28&3 != 0 {
		c.Flags |= provider.CompletionGRH
	}
	c.SrcQPN, c.SL = source&0xffffff, uint8(source>>24&0xf)
	c.SLID = ib.LID(binary.BigEndian.Uint16(e[cqeSLID:]))
	c.PathBits = e[cqePathBits] & 0x7f
	if op == cqeRecv {
		c.PKeyIndex = uint16(imm)
	}
}
