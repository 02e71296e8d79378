package uapi

import "structs"

// QPCap is struct ib_uverbs_qp_cap in <rdma/ib_user_ioctl_verbs.h>.
type QPCap struct {
	_          structs.HostLayout
	MaxSendWR  uint32
	MaxRecvWR  uint32
	MaxSendSGE uint32
	MaxRecvSGE uint32
	MaxInline  uint32 `c:"max_inline_data"` // bytes
}

// Flags of a new queue pair (enum ib_uverbs_qp_create_flags of
// <rdma/ib_user_ioctl_verbs.h>).
const (
	QPCreateBlockMulticastLoopback = 1 << 1  // IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK
	QPCreateSignalAll              = 1 << 12 // IB_UVERBS_QP_CREATE_SQ_SIG_ALL
)

// AttachMcast is struct ib_uverbs_attach_mcast in <rdma/ib_user_verbs.h>. Struct
// ib_uverbs_detach_mcast is the same.
type AttachMcast struct {
	_        structs.HostLayout
	GID      [16]byte // network byte order
	QPHandle uint32
	MLID     uint16
	_        uint16
}

// OpenXRCD is struct ib_uverbs_open_xrcd in <rdma/ib_user_verbs.h>.
type OpenXRCD struct {
	_        structs.HostLayout
	Response uint64
	FD       uint32 // of the file that names the domain; NoXRCDFile: none
	OFlags   uint32 // O_CREAT, O_EXCL
}

// NoXRCDFile is OpenXRCD.FD for a domain that no other process can open.
const NoXRCDFile = ^uint32(0)

// OpenXRCDResp is struct ib_uverbs_open_xrcd_resp.
type OpenXRCDResp struct {
	_      structs.HostLayout
	Handle uint32 `c:"xrcd_handle"`
}

// OpenQP is struct ib_uverbs_open_qp in <rdma/ib_user_verbs.h>.
type OpenQP struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	PDHandle   uint32 // of the XRC domain
	QPN        uint32
	QPType     uint8
	_          [7]uint8
}

// CreateQPResp is struct ib_uverbs_create_qp_resp.
type CreateQPResp struct {
	_        structs.HostLayout
	QPHandle uint32
	QPN      uint32
	QPCap
	_ uint32
}

// QPDest is struct ib_uverbs_qp_dest in <rdma/ib_user_verbs.h>.
type QPDest struct {
	_            structs.HostLayout
	DGID         [16]byte // network byte order
	FlowLabel    uint32
	DLID         uint16
	_            uint16
	SGIDIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	SL           uint8
	SrcPathBits  uint8
	StaticRate   uint8
	IsGlobal     uint8
	PortNum      uint8
}

// QueryQP is struct ib_uverbs_query_qp in <rdma/ib_user_verbs.h>.
type QueryQP struct {
	_        structs.HostLayout
	Response uint64 // ignored by INVOKE_WRITE
	QPHandle uint32
	AttrMask uint32 // enum ib_qp_attr_mask
}

// QueryQPResp is struct ib_uverbs_query_qp_resp in <rdma/ib_user_verbs.h>.
type QueryQPResp struct {
	_               structs.HostLayout
	Dest            QPDest
	AltDest         QPDest
	MaxSendWR       uint32
	MaxRecvWR       uint32
	MaxSendSGE      uint32
	MaxRecvSGE      uint32
	MaxInline       uint32 `c:"max_inline_data"`
	QKey            uint32
	RQPSN           uint32
	SQPSN           uint32
	DestQPNum       uint32
	AccessFlags     uint32 `c:"qp_access_flags"`
	PKeyIndex       uint16
	AltPKeyIndex    uint16
	State           uint8 `c:"qp_state"`
	CurState        uint8 `c:"cur_qp_state"`
	PathMTU         uint8
	PathMigState    uint8
	SQDraining      uint8
	MaxRdAtomic     uint8
	MaxDestRdAtomic uint8
	MinRNRTimer     uint8
	PortNum         uint8
	Timeout         uint8
	RetryCnt        uint8
	RNRRetry        uint8
	AltPortNum      uint8
	AltTimeout      uint8
	SQSigAll        uint8
	_               [5]byte
}

// ModifyQP is struct ib_uverbs_modify_qp in <rdma/ib_user_verbs.h>.
type ModifyQP struct {
	_                structs.HostLayout
	Dest             QPDest
	AltDest          QPDest
	QPHandle         uint32
	AttrMask         uint32 // enum ib_qp_attr_mask
	QKey             uint32
	RQPSN            uint32
	SQPSN            uint32
	DestQPNum        uint32
	AccessFlags      uint32 `c:"qp_access_flags"`
	PKeyIndex        uint16
	AltPKeyIndex     uint16
	State            uint8 `c:"qp_state"`
	CurState         uint8 `c:"cur_qp_state"`
	PathMTU          uint8
	PathMigState     uint8
	EnSQDAsyncNotify uint8
	MaxRdAtomic      uint8
	MaxDestRdAtomic  uint8
	MinRNRTimer      uint8
	PortNum          uint8
	Timeout          uint8
	RetryCnt         uint8
	RNRRetry         uint8
	AltPortNum       uint8
	AltTimeout       uint8
	_                [2]byte
}
