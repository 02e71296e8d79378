package uapi

import (
	"structs"
	"unsafe"
)

// QueryDevice is struct ib_uverbs_query_device in <rdma/ib_user_verbs.h>: the
// address of the response, which INVOKE_WRITE ignores.
type QueryDevice uint64

// GetContext is struct ib_uverbs_get_context: the address of the response, which
// INVOKE_WRITE ignores.
type GetContext uint64

// GetContextResp is struct ib_uverbs_get_context_resp.
type GetContextResp struct {
	_              structs.HostLayout
	AsyncFD        uint32
	NumCompVectors uint32
}

// QueryDeviceResp is struct ib_uverbs_query_device_resp. Numbers are in host byte
// order except the GUIDs.
type QueryDeviceResp struct {
	_                     structs.HostLayout
	FWVersion             uint64  `c:"fw_ver"`
	NodeGUID              [8]byte // network byte order
	SysImageGUID          [8]byte
	MaxMRSize             uint64 // bytes
	PageSizeCap           uint64 // a bit for each page size in bytes
	VendorID              uint32
	VendorPartID          uint32
	HWVersion             uint32 `c:"hw_ver"`
	MaxQP                 uint32
	MaxQPWR               uint32
	DeviceCapFlags        uint32 // enum ib_uverbs_device_cap_flags
	MaxSGE                uint32
	MaxSGERd              uint32
	MaxCQ                 uint32
	MaxCQE                uint32
	MaxMR                 uint32
	MaxPD                 uint32
	MaxQPRdAtom           uint32
	MaxEERdAtom           uint32
	MaxResRdAtom          uint32
	MaxQPInitRdAtom       uint32
	MaxEEInitRdAtom       uint32
	AtomicCap             uint32
	MaxEE                 uint32
	MaxRDD                uint32
	MaxMW                 uint32
	MaxRawIPv6QP          uint32
	MaxRawEthyQP          uint32
	MaxMcastGrp           uint32
	MaxMcastQPAttach      uint32
	MaxTotalMcastQPAttach uint32
	MaxAH                 uint32
	MaxFMR                uint32
	MaxMapPerFMR          uint32
	MaxSRQ                uint32
	MaxSRQWR              uint32
	MaxSRQSGE             uint32
	MaxPKeys              uint16
	LocalCAAckDelay       uint8
	PhysPortCnt           uint8
	_                     [4]byte
}

// ExQueryDevice is struct ib_uverbs_ex_query_device.
type ExQueryDevice struct {
	_        structs.HostLayout
	CompMask uint32 // 0
	_        uint32
}

// ODPCaps is struct ib_uverbs_odp_caps.
type ODPCaps struct {
	_       structs.HostLayout
	General uint64 `c:"general_caps"`                   // enum ib_uverbs_odp_general_cap_bits
	RC      uint32 `c:"per_transport_caps.rc_odp_caps"` // enum ib_uverbs_odp_transport_cap_bits
	UC      uint32 `c:"per_transport_caps.uc_odp_caps"`
	UD      uint32 `c:"per_transport_caps.ud_odp_caps"`
	_       uint32
}

// RSSCaps is struct ib_uverbs_rss_caps.
type RSSCaps struct {
	_                          structs.HostLayout
	SupportedQPTypes           uint32 `c:"supported_qpts"` // a bit for each enum ib_qp_type
	MaxRWQIndirectionTables    uint32
	MaxRWQIndirectionTableSize uint32
	_                          uint32
}

// TMCaps is struct ib_uverbs_tm_caps.
type TMCaps struct {
	_              structs.HostLayout
	MaxRndvHdrSize uint32 // bytes
	MaxNumTags     uint32
	Flags          uint32
	MaxOps         uint32
	MaxSGE         uint32
	_              uint32
}

// CQModerationCaps is struct ib_uverbs_cq_moderation_caps.
type CQModerationCaps struct {
	_         structs.HostLayout
	MaxCount  uint16 `c:"max_cq_moderation_count"`
	MaxPeriod uint16 `c:"max_cq_moderation_period"` // µs
	_         uint32
}

// ExQueryDeviceResp is struct ib_uverbs_ex_query_device_resp. The kernel sets the
// fields up to ResponseLength.
type ExQueryDeviceResp struct {
	_                structs.HostLayout
	Base             QueryDeviceResp
	CompMask         uint32
	ResponseLength   uint32  // bytes
	ODP              ODPCaps `c:"odp_caps"`
	TimestampMask    uint64
	HCACoreClock     uint64  // kHz
	DeviceCapFlagsEx uint64  // enum ib_uverbs_device_cap_flags
	RSS              RSSCaps `c:"rss_caps"`
	MaxWQTypeRQ      uint32
	RawPacketCaps    uint32           // enum ib_uverbs_raw_packet_caps
	TM               TMCaps           `c:"tm_caps"`
	CQModeration     CQModerationCaps `c:"cq_moderation_caps"`
	MaxDMSize        uint64           // bytes
	XRCODP           uint32           `c:"xrc_odp_caps"` // enum ib_uverbs_odp_transport_cap_bits
	_                uint32
}

// Sizes: the kernel rejects responses that are too short.
const (
	QueryDeviceRespSize   = 176
	ExQueryDeviceRespSize = 304
)

var (
	_ [QueryDeviceRespSize - unsafe.Sizeof(QueryDeviceResp{})]struct{}
	_ [unsafe.Sizeof(QueryDeviceResp{}) - QueryDeviceRespSize]struct{}
	_ [ExQueryDeviceRespSize - unsafe.Sizeof(ExQueryDeviceResp{})]struct{}
	_ [unsafe.Sizeof(ExQueryDeviceResp{}) - ExQueryDeviceRespSize]struct{}
)
