package uapi

import (
	"structs"
	"unsafe"
)

// SIWCreateCQResp is struct siw_uresp_create_cq in <rdma/siw-abi.h>.
type SIWCreateCQResp struct {
	_      structs.HostLayout
	CQID   uint32
	NumCQE uint32
	Key    uint64 `c:"cq_key"`
}

// SIWCreateQPResp is struct siw_uresp_create_qp.
type SIWCreateQPResp struct {
	_      structs.HostLayout
	QPID   uint32
	NumSQE uint32
	NumRQE uint32
	_      uint32
	SQKey  uint64
	RQKey  uint64
}

// SIWCreateSRQResp is struct siw_uresp_create_srq.
type SIWCreateSRQResp struct {
	_      structs.HostLayout
	NumRQE uint32
	_      uint32
	Key    uint64 `c:"srq_key"`
}

// SIWRegMR is struct siw_ureq_reg_mr.
type SIWRegMR struct {
	_       structs.HostLayout
	StagKey uint8
	_       [3]uint8
	_       uint32
}

// SIWRegMRResp is struct siw_uresp_reg_mr.
type SIWRegMRResp struct {
	_    structs.HostLayout
	Stag uint32
	_    uint32
}

// SIWInvalidKey is SIW_INVAL_UOBJ_KEY: there is no mapping.
const SIWInvalidKey = 0x08ffff + 1

// Limits of a work request.
const (
	SIWMaxSGE    = 6                    // SIW_MAX_SGE
	SIWMaxInline = (SIWMaxSGE - 1) * 16 // SIW_MAX_INLINE: bytes
)

// The operations (enum siw_opcode).
const (
	SIWOpWrite         = 0 // SIW_OP_WRITE
	SIWOpRead          = 1 // SIW_OP_READ
	SIWOpReadLocalInv  = 2 // SIW_OP_READ_LOCAL_INV
	SIWOpSend          = 3 // SIW_OP_SEND
	SIWOpSendWithImm   = 4 // SIW_OP_SEND_WITH_IMM
	SIWOpSendRemoteInv = 5 // SIW_OP_SEND_REMOTE_INV
	SIWOpFetchAndAdd   = 6 // SIW_OP_FETCH_AND_ADD
	SIWOpCompAndSwap   = 7 // SIW_OP_COMP_AND_SWAP
	SIWOpReceive       = 8 // SIW_OP_RECEIVE
)

// Queue element flags (enum siw_wqe_flags).
const (
	SIWValid     = 1 << 0 // SIW_WQE_VALID
	SIWInline    = 1 << 1 // SIW_WQE_INLINE
	SIWSignalled = 1 << 2 // SIW_WQE_SIGNALLED
	SIWSolicited = 1 << 3 // SIW_WQE_SOLICITED
	SIWReadFence = 1 << 4 // SIW_WQE_READ_FENCE
	SIWRemInval  = 1 << 5 // SIW_WQE_REM_INVAL
)

// The flags of a CQ's control word (enum siw_notify_flags).
const (
	SIWNotifySolicited      = 1 << 0 // SIW_NOTIFY_SOLICITED
	SIWNotifyNextCompletion = 1 << 1 // SIW_NOTIFY_NEXT_COMPLETION
)

// SIWSGE is struct siw_sge.
type SIWSGE struct {
	_      structs.HostLayout
	Addr   uint64 `c:"laddr"`
	Length uint32
	LKey   uint32
}

// SIWSQE is struct siw_sqe. Head contains flags, num_sge and opcode: it is written last,
// in one piece.
type SIWSQE struct {
	_     structs.HostLayout
	ID    uint64
	Head  uint32 `c:"flags,num_sge,opcode"`
	RKey  uint32
	RAddr uint64
	SGE   [SIWMaxSGE]SIWSGE
}

// SIWRQE is struct siw_rqe. Head contains flags, num_sge and opcode.
type SIWRQE struct {
	_    structs.HostLayout
	ID   uint64
	Head uint32 `c:"flags,num_sge,opcode"`
	_    uint32
	SGE  [SIWMaxSGE]SIWSGE
}

// SIWCQE is struct siw_cqe. Head contains flags, opcode and status.
type SIWCQE struct {
	_     structs.HostLayout
	ID    uint64
	Head  uint32 `c:"flags,opcode,status"`
	Bytes uint32
	Ex    [8]byte `c:"imm_data"` // or inval_stag
	QPID  uint64
}

// SIWCQCtrl is struct siw_cq_ctrl.
type SIWCQCtrl struct {
	_     structs.HostLayout
	Flags uint32
	_     uint32
}

// The structure sizes.
const (
	SIWSQESize    = int(unsafe.Sizeof(SIWSQE{}))
	SIWRQESize    = int(unsafe.Sizeof(SIWRQE{}))
	SIWCQESize    = int(unsafe.Sizeof(SIWCQE{}))
	SIWCQCtrlSize = int(unsafe.Sizeof(SIWCQCtrl{}))
)
