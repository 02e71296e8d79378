package uapi

import (
	"structs"
	"unsafe"
)

// MLX5QueryDeviceResp is the head of struct mlx5_ib_query_device_resp of
// <rdma/mlx5-abi.h>, up to packet pacing.
type MLX5QueryDeviceResp struct {
	_                  structs.HostLayout
	CompMask           uint32
	ResponseLength     uint32 // bytes
	MaxTSO             uint32 `c:"tso_caps.max_tso"`             // bytes
	TSOQPTypes         uint32 `c:"tso_caps.supported_qpts"`      // a bit for each enum ib_qp_type
	RxHashFieldsMask   uint64 `c:"rss_caps.rx_hash_fields_mask"` // enum mlx5_rx_hash_fields
	RxHashFunction     uint8  `c:"rss_caps.rx_hash_function"`    // enum mlx5_rx_hash_function_flags
	_                  [7]byte
	CQECompMaxNum      uint32 `c:"cqe_comp_caps.max_num"`
	CQECompFormats     uint32 `c:"cqe_comp_caps.supported_format"`
	QPRateLimitMin     uint32 `c:"packet_pacing_caps.qp_rate_limit_min"` // kbit/s
	QPRateLimitMax     uint32 `c:"packet_pacing_caps.qp_rate_limit_max"`
	PacketPacingQPType uint32 `c:"packet_pacing_caps.supported_qpts"` // a bit for each enum ib_qp_type
	PacketPacingFlags  uint8  `c:"packet_pacing_caps.cap_flags"`
	_                  [3]byte
}

// MLX4QueryDeviceResp is struct mlx4_uverbs_ex_query_device_resp of
// <rdma/mlx4-abi.h>.
type MLX4QueryDeviceResp struct {
	_                  structs.HostLayout
	CompMask           uint32
	ResponseLength     uint32 // bytes
	HCACoreClockOffset uint64
	MaxInlRecvSz       uint32
	_                  uint32
	RxHashFieldsMask   uint64 `c:"rss_caps.rx_hash_fields_mask"` // enum mlx4_ib_rx_hash_fields
	RxHashFunction     uint8  `c:"rss_caps.rx_hash_function"`    // enum mlx4_ib_rx_hash_function_flags
	_                  [7]byte
	MaxTSO             uint32 `c:"tso_caps.max_tso"`        // bytes
	TSOQPTypes         uint32 `c:"tso_caps.supported_qpts"` // a bit for each enum ib_qp_type
}

// MLX5AllocUcontextReq is struct mlx5_ib_alloc_ucontext_req_v2 of
// <rdma/mlx5-abi.h>.
type MLX5AllocUcontextReq struct {
	_                  structs.HostLayout
	TotalNumBFRegs     uint32
	NumLowLatencyBFReg uint32 `c:"num_low_latency_bfregs"`
	Flags              uint32
	CompMask           uint32
	MaxCQEVersion      uint8
	_                  [7]byte
	LibCaps            uint64
}

// Library capabilities in MLX5AllocUcontextReq.
const (
	MLX5LibCap4KUAR  = 1 << 0 // MLX5_LIB_CAP_4K_UAR
	MLX5LibCapDynUAR = 1 << 1 // MLX5_LIB_CAP_DYN_UAR
)

// MLX5AllocUcontextResp is struct mlx5_ib_alloc_ucontext_resp of
// <rdma/mlx5-abi.h>.
type MLX5AllocUcontextResp struct {
	_                  structs.HostLayout
	QPTabSize          uint32
	BFRegSize          uint32
	TotBFRegs          uint32
	CacheLineSize      uint32
	MaxSQDescSize      uint16 `c:"max_sq_desc_sz"`
	MaxRQDescSize      uint16 `c:"max_rq_desc_sz"`
	MaxSendWQEBB       uint32
	MaxRecvWR          uint32
	MaxSRQRecvWR       uint32
	NumPorts           uint16
	FlowActionFlags    uint16
	CompMask           uint32
	ResponseLength     uint32
	CQEVersion         uint8
	CmdsSuppUHW        uint8
	EthMinInline       uint8
	ClockInfoVersions  uint8
	HCACoreClockOffset uint64
	LogUARSize         uint32
	NumUARsPerPage     uint32
	NumDynBFRegs       uint32
	DumpFillMKey       uint32
}

// MLX5SuppUHWQueryDevice is MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE: the kernel returns
// an MLX5QueryDeviceResp.
const MLX5SuppUHWQueryDevice = 1 << 0

// Sizes.
const (
	MLX5QueryDeviceRespSize   = 56
	MLX4QueryDeviceRespSize   = 48
	MLX5AllocUcontextRespSize = 72
)

var (
	_ [MLX5QueryDeviceRespSize - unsafe.Sizeof(MLX5QueryDeviceResp{})]struct{}
	_ [unsafe.Sizeof(MLX5QueryDeviceResp{}) - MLX5QueryDeviceRespSize]struct{}
	_ [MLX4QueryDeviceRespSize - unsafe.Sizeof(MLX4QueryDeviceResp{})]struct{}
	_ [unsafe.Sizeof(MLX4QueryDeviceResp{}) - MLX4QueryDeviceRespSize]struct{}
	_ [MLX5AllocUcontextRespSize - unsafe.Sizeof(MLX5AllocUcontextResp{})]struct{}
	_ [unsafe.Sizeof(MLX5AllocUcontextResp{}) - MLX5AllocUcontextRespSize]struct{}
)
