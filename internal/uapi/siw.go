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
	Key    uint64
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
	Key    uint64
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

// SIWMaxSGE is SIW_MAX_SGE, SIWMaxInline SIW_MAX_INLINE in bytes.
const (
	SIWMaxSGE    = 6
	SIWMaxInline = (SIWMaxSGE - 1) * 16
)

// The operations (enum siw_opcode).
const (
	SIWOpWrite         = 0
	SIWOpRead          = 1
	SIWOpReadLocalInv  = 2
	SIWOpSend          = 3
	SIWOpSendWithImm   = 4
	SIWOpSendRemoteInv = 5
	SIWOpFetchAndAdd   = 6
	SIWOpCompAndSwap   = 7
	SIWOpReceive       = 8
)

// Queue element flags (enum siw_wqe_flags).
const (
	SIWValid     = 1 << 0
	SIWInline    = 1 << 1
	SIWSignalled = 1 << 2
	SIWSolicited = 1 << 3
	SIWReadFence = 1 << 4
	SIWRemInval  = 1 << 5
)

// The flags of a CQ's control word (enum siw_notify_flags).
const (
	SIWNotifySolicited      = 1 << 0
	SIWNotifyNextCompletion = 1 << 1
)

// SIWSGE is struct siw_sge.
type SIWSGE struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint32
	LKey   uint32
}

// SIWSQE is struct siw_sqe. Head contains flags, num_sge and opcode: it is written last,
// in one piece.
type SIWSQE struct {
	_     structs.HostLayout
	ID    uint64
	Head  uint32
	RKey  uint32
	RAddr uint64
	SGE   [SIWMaxSGE]SIWSGE
}

// SIWRQE is struct siw_rqe. Head contains flags, num_sge and opcode.
type SIWRQE struct {
	_    structs.HostLayout
	ID   uint64
	Head uint32
	_    uint32
	SGE  [SIWMaxSGE]SIWSGE
}

// SIWCQE is struct siw_cqe. Head contains flags, opcode and status.
type SIWCQE struct {
	_     structs.HostLayout
	ID    uint64
	Head  uint32
	Bytes uint32
	Ex    [8]byte // imm_data or inval_stag
	QPID  uint64
}

// SIWCQCtrl is struct siw_cq_ctrl.
type SIWCQCtrl struct {
	_     structs.HostLayout
	Flags uint32
	_     uint32
}

// The structure sizes, proved by a test.
const (
	SIWSQESize    = int(unsafe.Sizeof(SIWSQE{}))
	SIWRQESize    = int(unsafe.Sizeof(SIWRQE{}))
	SIWCQESize    = int(unsafe.Sizeof(SIWCQE{}))
	SIWCQCtrlSize = int(unsafe.Sizeof(SIWCQCtrl{}))
)
