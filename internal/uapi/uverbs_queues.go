package uapi

import (
	"structs"
	"unsafe"
)

// CreateCompChannel is struct ib_uverbs_create_comp_channel of
// <rdma/ib_user_verbs.h>: the address of the response, which INVOKE_WRITE ignores.
type CreateCompChannel uint64

// CreateCompChannelResp is struct ib_uverbs_create_comp_channel_resp.
type CreateCompChannelResp struct {
	_  structs.HostLayout
	FD uint32
}

// CompEvent is struct ib_uverbs_comp_event_desc in <rdma/ib_user_verbs.h>: the
// record in a completion channel.
type CompEvent struct {
	_        structs.HostLayout
	CQHandle uint64 // user handle
}

// ReqNotifyCQ is struct ib_uverbs_req_notify_cq in <rdma/ib_user_verbs.h>.
type ReqNotifyCQ struct {
	_             structs.HostLayout
	CQHandle      uint32
	SolicitedOnly uint32
}

// DestroyCQResp is struct ib_uverbs_destroy_cq_resp in <rdma/ib_user_verbs.h>.
type DestroyCQResp struct {
	_                   structs.HostLayout
	CompEventsReported  uint32
	AsyncEventsReported uint32
}

// DestroyQPResp is struct ib_uverbs_destroy_qp_resp; struct
// ib_uverbs_destroy_srq_resp has the same layout.
type DestroyQPResp struct {
	_              structs.HostLayout
	EventsReported uint32
}

// WC is struct ib_uverbs_wc in <rdma/ib_user_verbs.h>.
type WC struct {
	_         structs.HostLayout
	WRID      uint64
	Status    uint32 // enum ib_wc_status
	Opcode    uint32
	VendorErr uint32
	ByteLen   uint32
	Ex        [4]byte // immediate data in network byte order, or a key in the host's
	QPNum     uint32
	SrcQP     uint32
	Flags     uint32 `c:"wc_flags"` // enum ib_wc_flags
	PKeyIndex uint16
	SLID      uint16
	SL        uint8
	PathBits  uint8 `c:"dlid_path_bits"`
	PortNum   uint8
	_         uint8
}

// CmdHeader is struct ib_uverbs_cmd_hdr in <rdma/ib_user_verbs.h>: the head of a
// command that is written to the device node.
type CmdHeader struct {
	_        structs.HostLayout
	Command  uint32
	InWords  uint16 // words of 4 bytes, including the header
	OutWords uint16
}

// CmdHeaderSize is the size of a CmdHeader in bytes.
const CmdHeaderSize = 8

// PostSend is struct ib_uverbs_post_send in <rdma/ib_user_verbs.h>.
type PostSend struct {
	_        structs.HostLayout
	Response uint64 // ignored by INVOKE_WRITE
	QPHandle uint32
	WRCount  uint32
	SGECount uint32
	WQESize  uint32 // bytes of struct ib_uverbs_send_wr
}

// PostSendResp is struct ib_uverbs_post_send_resp.
type PostSendResp struct {
	_     structs.HostLayout
	BadWR uint32
}

// SendWRSize is the size of struct ib_uverbs_send_wr.
const SendWRSize = 56

// ExModifyCQ is struct ib_uverbs_ex_modify_cq in <rdma/ib_user_verbs.h> with struct
// ib_uverbs_cq_moderation.
type ExModifyCQ struct {
	_        structs.HostLayout
	CQHandle uint32
	AttrMask uint32 // CQModerate
	Count    uint16 `c:"attr.cq_count"`
	Period   uint16 `c:"attr.cq_period"` // µs
	_        uint32
}

// CQModerate selects the moderation (enum ib_cq_attr_mask of <rdma/ib_verbs.h>).
const CQModerate = 1

// PollCQ is struct ib_uverbs_poll_cq in <rdma/ib_user_verbs.h>.
type PollCQ struct {
	_        structs.HostLayout
	Response uint64 // ignored by INVOKE_WRITE
	CQHandle uint32
	NE       uint32
}

// PollCQResp is struct ib_uverbs_poll_cq_resp. Completions follow it.
type PollCQResp struct {
	_     structs.HostLayout
	Count uint32
	_     uint32
}

// ResizeCQ is struct ib_uverbs_resize_cq in <rdma/ib_user_verbs.h>.
type ResizeCQ struct {
	_        structs.HostLayout
	Response uint64 // ignored by INVOKE_WRITE
	CQHandle uint32
	CQE      uint32
}

// ResizeCQResp is struct ib_uverbs_resize_cq_resp.
type ResizeCQResp struct {
	_   structs.HostLayout
	CQE uint32
	_   uint32
}

// ModifySRQ is struct ib_uverbs_modify_srq in <rdma/ib_user_verbs.h>.
type ModifySRQ struct {
	_         structs.HostLayout
	SRQHandle uint32
	AttrMask  uint32 // enum ib_srq_attr_mask
	MaxWR     uint32
	SRQLimit  uint32
}

// QuerySRQ is struct ib_uverbs_query_srq in <rdma/ib_user_verbs.h>.
type QuerySRQ struct {
	_         structs.HostLayout
	Response  uint64 // ignored by INVOKE_WRITE
	SRQHandle uint32
	_         uint32
}

// QuerySRQResp is struct ib_uverbs_query_srq_resp.
type QuerySRQResp struct {
	_        structs.HostLayout
	MaxWR    uint32
	MaxSGE   uint32
	SRQLimit uint32
	_        uint32
}

var (
	_ [CmdHeaderSize - unsafe.Sizeof(CmdHeader{})]struct{}
	_ [unsafe.Sizeof(CmdHeader{}) - CmdHeaderSize]struct{}
)
