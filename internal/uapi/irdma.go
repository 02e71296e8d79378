package uapi

import "structs"

// IRDMAAllocUcontextReq is struct irdma_alloc_ucontext_req in <rdma/irdma-abi.h>.
type IRDMAAllocUcontextReq struct {
	_            structs.HostLayout
	_            uint32
	UserspaceVer uint8
	_            [3]byte
	CompMask     uint64
}

// Values in IRDMAAllocUcontextReq and IRDMAAllocUcontextResp.
const (
	IRDMAABIVersion = 5      // IRDMA_ABI_VER
	IRDMAUseRawAttr = 1 << 0 // IRDMA_ALLOC_UCTX_USE_RAW_ATTR
	IRDMAMinWQSize  = 1 << 1 // IRDMA_ALLOC_UCTX_MIN_HW_WQ_SIZE
	IRDMAFormatV2   = 1 << 3 // IRDMA_SUPPORT_WQE_FORMAT_V2
)

// IRDMAAllocUcontextResp is struct irdma_alloc_ucontext_resp.
type IRDMAAllocUcontextResp struct {
	_             structs.HostLayout
	MaxPDs        uint32
	MaxQPs        uint32
	WQSize        uint32
	KernelVer     uint8
	_             [3]byte
	FeatureFlags  uint64
	DBMmapKey     uint64
	MaxHWWQFrags  uint32
	MaxHWReadSGEs uint32
	MaxHWInline   uint32
	MaxHWRQQuanta uint32
	MaxHWWQQuanta uint32
	MinHWCQSize   uint32
	MaxHWCQSize   uint32
	MaxHWSQChunk  uint16
	HWRev         uint8
	_             uint8
	CompMask      uint64
	MinHWWQSize   uint16
	_             [2]byte

	MaxHWSRQQuanta uint32
}

// The registration types in IRDMAMemRegReq.
const (
	IRDMARegMem = 0 // IRDMA_MEMREG_TYPE_MEM
	IRDMARegQP  = 1 // IRDMA_MEMREG_TYPE_QP
	IRDMARegCQ  = 2 // IRDMA_MEMREG_TYPE_CQ
	IRDMARegSRQ = 3 // IRDMA_MEMREG_TYPE_SRQ
)

// IRDMAMemRegReq is struct irdma_mem_reg_req. Pages have 4,096 bytes.
type IRDMAMemRegReq struct {
	_       structs.HostLayout
	RegType uint16
	CQPages uint16
	RQPages uint16
	SQPages uint16
}

// IRDMACreateCQ is struct irdma_create_cq_req.
type IRDMACreateCQ struct {
	_              structs.HostLayout
	UserCQBuf      uint64
	UserShadowArea uint64
}

// IRDMACreateCQResp is struct irdma_create_cq_resp.
type IRDMACreateCQResp struct {
	_      structs.HostLayout
	CQID   uint32
	CQSize uint32
}

// IRDMAResizeCQ is struct irdma_resize_cq_req.
type IRDMAResizeCQ struct {
	_            structs.HostLayout
	UserCQBuffer uint64
}

// IRDMACreateSRQ is struct irdma_create_srq_req.
type IRDMACreateSRQ struct {
	_              structs.HostLayout
	UserSRQBuf     uint64
	UserShadowArea uint64
}

// IRDMACreateSRQResp is struct irdma_create_srq_resp.
type IRDMACreateSRQResp struct {
	_       structs.HostLayout
	SRQID   uint32
	SRQSize uint32
}

// IRDMACreateQP is struct irdma_create_qp_req without the members for other drivers.
type IRDMACreateQP struct {
	_            structs.HostLayout
	UserWQEBufs  uint64
	UserComplCtx uint64
}

// IRDMACreateQPResp is struct irdma_create_qp_resp.
type IRDMACreateQPResp struct {
	_            structs.HostLayout
	QPID         uint32
	ActualSQSize uint32
	ActualRQSize uint32
	IRDMADrvOpt  uint32
	PushIdx      uint16
	LSMM         uint8
	_            uint8
	QPCaps       uint32
}

// IRDMACreateAHResp is struct irdma_create_ah_resp.
type IRDMACreateAHResp struct {
	_    structs.HostLayout
	AHID uint32
	_    [4]byte
}
