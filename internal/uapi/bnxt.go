package uapi

import "structs"

// BNXTContextReq is struct bnxt_re_uctx_req in <rdma/bnxt_re-abi.h>.
type BNXTContextReq struct {
	_        structs.HostLayout
	CompMask uint64
}

// Requests in BNXTContextReq.
const (
	BNXTReqPow2        = 1 << 0 // BNXT_RE_COMP_MASK_REQ_UCNTX_POW2_SUPPORT
	BNXTReqVariableWQE = 1 << 1 // BNXT_RE_COMP_MASK_REQ_UCNTX_VAR_WQE_SUPPORT
)

// BNXTContextResp is struct bnxt_re_uctx_resp.
type BNXTContextResp struct {
	_        structs.HostLayout
	DevID    uint32
	MaxQP    uint32
	PgSize   uint32
	CQESz    uint32
	MaxCQD   uint32
	_        uint32
	CompMask uint64
	ChipID0  uint32
	ChipID1  uint32
	Mode     uint32
	_        uint32
}

// Valid fields and queue properties in BNXTContextResp.
const (
	BNXTHaveChip     = 1 << 0 // BNXT_RE_UCNTX_CMASK_HAVE_CCTX
	BNXTHaveMode     = 1 << 1 // BNXT_RE_UCNTX_CMASK_HAVE_MODE
	BNXTPow2Disabled = 1 << 4 // BNXT_RE_UCNTX_CMASK_POW2_DISABLED
	BNXTMSNTable     = 1 << 6 // BNXT_RE_UCNTX_CMASK_MSN_TABLE_ENABLED
	BNXTModeVariable = 1      // BNXT_QPLIB_WQE_MODE_VARIABLE
)

// BNXTPDResp is struct bnxt_re_pd_resp.
type BNXTPDResp struct {
	_    structs.HostLayout
	PDID uint32
	DPI  uint32
	DBR  uint64
}

// BNXTCQReq is struct bnxt_re_cq_req.
type BNXTCQReq struct {
	_        structs.HostLayout
	CQVA     uint64
	CQHandle uint64
	CompMask uint64
}

// BNXTCQResp is struct bnxt_re_cq_resp.
type BNXTCQResp struct {
	_        structs.HostLayout
	CQID     uint32
	Tail     uint32
	Phase    uint32
	_        uint32
	CompMask uint64
}

// BNXTResizeCQReq is struct bnxt_re_resize_cq_req.
type BNXTResizeCQReq struct {
	_    structs.HostLayout
	CQVA uint64
}

// BNXTQPReq is struct bnxt_re_qp_req.
type BNXTQPReq struct {
	_        structs.HostLayout
	QPSVA    uint64
	QPRVA    uint64
	QPHandle uint64
	CompMask uint64
	SQSlots  uint32
	SQNPSN   uint32
}

// BNXTQPResp is struct bnxt_re_qp_resp.
type BNXTQPResp struct {
	_    structs.HostLayout
	QPID uint32
	_    uint32
}

// BNXTSRQReq is struct bnxt_re_srq_req.
type BNXTSRQReq struct {
	_         structs.HostLayout
	SRQVA     uint64
	SRQHandle uint64
}

// BNXTSRQResp is struct bnxt_re_srq_resp.
type BNXTSRQResp struct {
	_        structs.HostLayout
	SRQID    uint32
	_        uint32
	CompMask uint64
}

// Bits in BNXTCQResp and BNXTSRQResp: the queue has a toggle, which doorbells repeat.
const (
	BNXTCQToggle  = 1 << 0 // BNXT_RE_CQ_TOGGLE_PAGE_SUPPORT
	BNXTSRQToggle = 1 << 0 // BNXT_RE_SRQ_TOGGLE_PAGE_SUPPORT
)

// The method that returns the mapping of a queue toggle.
const (
	BNXTObjectToggle     = 1<<12 + 2 // BNXT_RE_OBJECT_GET_TOGGLE_MEM
	BNXTMethodToggle     = 1 << 12   // BNXT_RE_METHOD_GET_TOGGLE_MEM
	BNXTAttrToggle       = 1 << 12   // BNXT_RE_TOGGLE_MEM_HANDLE
	BNXTAttrToggleType   = 1<<12 + 1 // BNXT_RE_TOGGLE_MEM_TYPE
	BNXTAttrToggleID     = 1<<12 + 2 // BNXT_RE_TOGGLE_MEM_RES_ID
	BNXTAttrTogglePage   = 1<<12 + 3 // BNXT_RE_TOGGLE_MEM_MMAP_PAGE
	BNXTAttrToggleOffset = 1<<12 + 4 // BNXT_RE_TOGGLE_MEM_MMAP_OFFSET
	BNXTAttrToggleLength = 1<<12 + 5 // BNXT_RE_TOGGLE_MEM_MMAP_LENGTH
	BNXTToggleCQ         = 0         // BNXT_RE_CQ_TOGGLE_MEM
	BNXTToggleSRQ        = 1         // BNXT_RE_SRQ_TOGGLE_MEM
)

// BNXTAVIDOffset is the place of the newest address handle's number in the shared page.
const BNXTAVIDOffset = 0x10 // BNXT_RE_AVID_OFFT
