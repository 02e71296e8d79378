package uapi

import "structs"

// MLX5CreateCQ is struct mlx5_ib_create_cq in <rdma/mlx5-abi.h>.
type MLX5CreateCQ struct {
	_                structs.HostLayout
	BufAddr          uint64
	DBAddr           uint64
	CQESize          uint32 // bytes
	CQECompEn        uint8
	CQECompResFormat uint8
	Flags            uint16
	UARPageIndex     uint16
	_                uint16
	_                uint32
}

// MLX5CQUARPageIndex is MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX: UARPageIndex is valid.
const MLX5CQUARPageIndex = 1 << 1

// MLX5CreateCQResp is struct mlx5_ib_create_cq_resp.
type MLX5CreateCQResp struct {
	_   structs.HostLayout
	CQN uint32
	_   uint32
}

// MLX5ResizeCQ is struct mlx5_ib_resize_cq.
type MLX5ResizeCQ struct {
	_       structs.HostLayout
	BufAddr uint64
	CQESize uint16
	_       uint16
	_       uint32
}

// MLX5CreateSRQ is struct mlx5_ib_create_srq.
type MLX5CreateSRQ struct {
	_       structs.HostLayout
	BufAddr uint64
	DBAddr  uint64
	Flags   uint32
	_       uint32
	UIdx    uint32
	_       uint32
}

// MLX5CreateSRQResp is struct mlx5_ib_create_srq_resp.
type MLX5CreateSRQResp struct {
	_    structs.HostLayout
	SRQN uint32
	_    uint32
}

// MLX5CreateQP is struct mlx5_ib_create_qp.
type MLX5CreateQP struct {
	_          structs.HostLayout
	BufAddr    uint64
	DBAddr     uint64
	SQWQECount uint32 // blocks of 64 bytes
	RQWQECount uint32
	RQWQEShift uint32
	Flags      uint32
	UIdx       uint32
	BFRegIndex uint32
	SQBufAddr  uint64 // of raw packets
	ECEOptions uint32
	_          uint16 // dci_streams
	_          uint16
}

// MLX5QPUARPageIndex is MLX5_QP_FLAG_UAR_PAGE_INDEX: BFRegIndex is the number of a page.
const MLX5QPUARPageIndex = 1 << 10

// MLX5CreateQPResp is struct mlx5_ib_create_qp_resp.
type MLX5CreateQPResp struct {
	_          structs.HostLayout
	BFRegIndex uint32
	ECEOptions uint32
	CompMask   uint32
	TIRN       uint32
	TISN       uint32
	RQN        uint32
	SQN        uint32
	_          uint32
	TIRICMAddr uint64
}

// MLX5CreateAHResp is struct mlx5_ib_create_ah_resp.
type MLX5CreateAHResp struct {
	_              structs.HostLayout
	ResponseLength uint32
	DMAC           [6]byte
	_              [6]byte
}

// The object of doorbell pages (<rdma/mlx5_user_ioctl_cmds.h>, MLX5_IB_OBJECT_UAR).
const (
	MLX5ObjectUAR        = 0x1008 // MLX5_IB_OBJECT_UAR
	MLX5MethodUARAlloc   = 0x1000 // MLX5_IB_METHOD_UAR_OBJ_ALLOC
	MLX5MethodUARDestroy = 0x1001 // MLX5_IB_METHOD_UAR_OBJ_DESTROY

	MLX5AttrUARHandle        = 0x1000 // MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE
	MLX5AttrUARType          = 0x1001 // MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE
	MLX5AttrUAROffset        = 0x1002 // MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET
	MLX5AttrUARLength        = 0x1003 // MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH
	MLX5AttrUARPageID        = 0x1004 // MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID
	MLX5AttrUARDestroyHandle = 0x1000 // MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE
)

// Types of doorbell pages (<rdma/mlx5_user_ioctl_verbs.h>, enum
// mlx5_ib_uapi_uar_alloc_type).
const (
	MLX5UARTypeBF = 0 // MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF: write combining
	MLX5UARTypeNC = 1 // MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC: uncached
)
