package uapi

import "structs"

// EFAAllocUcontextCmd is struct efa_ibv_alloc_ucontext_cmd in <rdma/efa-abi.h>.
type EFAAllocUcontextCmd struct {
	_             structs.HostLayout
	SupportedCaps uint32
	_             uint32
}

// Capabilities in EFAAllocUcontextCmd.
const (
	EFACapTxBatch = 1 << 0 // EFA_ALLOC_UCONTEXT_CMD_SUPP_CAPS_TX_BATCH
	EFACapMinSQWR = 1 << 1 // EFA_ALLOC_UCONTEXT_CMD_SUPP_CAPS_MIN_SQ_WR
)

// EFAAllocUcontextResp is struct efa_ibv_alloc_ucontext_resp.
type EFAAllocUcontextResp struct {
	_                 structs.HostLayout
	CompMask          uint32
	CmdsSuppUdataMask uint32
	SubCQsPerCQ       uint16
	InlineBufSize     uint16
	MaxLLQSize        uint32 // bytes
	MaxTxBatch        uint16 // units of 64 bytes; 0: no limit
	MinSQWR           uint16
	InlineBufSizeEx   uint16 // with work requests of 128 bytes
	_                 uint16
}

// Commands with a driver's part in EFAAllocUcontextResp.
const (
	EFASuppQueryDevice = 1 << 0 // EFA_USER_CMDS_SUPP_UDATA_QUERY_DEVICE
	EFASuppCreateAH    = 1 << 1 // EFA_USER_CMDS_SUPP_UDATA_CREATE_AH
)

// EFAQueryDeviceResp is struct efa_ibv_ex_query_device_resp.
type EFAQueryDeviceResp struct {
	_           structs.HostLayout
	CompMask    uint32
	MaxSQWR     uint32
	MaxRQWR     uint32
	MaxSQSGE    uint16
	MaxRQSGE    uint16
	MaxRDMASize uint32
	DeviceCaps  uint32
}

// Capabilities in EFAQueryDeviceResp.
const (
	EFADeviceRead          = 1 << 0 // EFA_QUERY_DEVICE_CAPS_RDMA_READ
	EFADeviceNotifications = 1 << 2 // EFA_QUERY_DEVICE_CAPS_CQ_NOTIFICATIONS
	EFADeviceWrite         = 1 << 5 // EFA_QUERY_DEVICE_CAPS_RDMA_WRITE
)

// EFACreateCQ is struct efa_ibv_create_cq.
type EFACreateCQ struct {
	_           structs.HostLayout
	CompMask    uint32
	CQEntrySize uint32
	NumSubCQs   uint16
	Flags       uint8
	_           [5]byte
}

// Flags in EFACreateCQ and EFACreateCQResp.
const (
	EFACQWithChannel = 1 << 0 // EFA_CREATE_CQ_WITH_COMPLETION_CHANNEL
	EFACQDBOffset    = 1 << 0 // EFA_CREATE_CQ_RESP_DB_OFF
)

// EFACreateCQResp is struct efa_ibv_create_cq_resp.
type EFACreateCQResp struct {
	_         structs.HostLayout
	CompMask  uint32
	_         uint32
	QMmapKey  uint64
	QMmapSize uint64
	CQIdx     uint16
	_         uint16
	DBOff     uint32
	DBMmapKey uint64
}

// EFADriverTypeSRD is EFA_QP_DRIVER_TYPE_SRD.
const EFADriverTypeSRD = 0

// EFACreateQP is the head of struct efa_ibv_create_qp. Newer members are optional.
type EFACreateQP struct {
	_            structs.HostLayout
	CompMask     uint32
	RQRingSize   uint32 // bytes
	SQRingSize   uint32 // bytes
	DriverQPType uint32
}

// EFACreateQPResp is struct efa_ibv_create_qp_resp.
type EFACreateQPResp struct {
	_              structs.HostLayout
	CompMask       uint32
	RQDBOffset     uint32
	SQDBOffset     uint32
	LLQDescOffset  uint32
	RQMmapKey      uint64
	RQMmapSize     uint64
	RQDBMmapKey    uint64
	SQDBMmapKey    uint64
	LLQDescMmapKey uint64
	SendSubCQIdx   uint16
	RecvSubCQIdx   uint16
	_              uint32
}

// EFACreateAHResp is struct efa_ibv_create_ah_resp.
type EFACreateAHResp struct {
	_                structs.HostLayout
	CompMask         uint32
	EFAAddressHandle uint16
	_                uint16
}
