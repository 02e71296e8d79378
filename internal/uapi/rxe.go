package uapi

import (
	"structs"
	"unsafe"
)

// RXEMMInfo is struct mminfo in <rdma/rdma_user_rxe.h>: offset and size of a mapping
// of the device node.
type RXEMMInfo struct {
	_      structs.HostLayout
	Offset uint64
	Size   uint32
	_      uint32
}

// RXECreateCQResp is struct rxe_create_cq_resp.
type RXECreateCQResp struct {
	_  structs.HostLayout
	MI RXEMMInfo
}

// RXECreateQPResp is struct rxe_create_qp_resp.
type RXECreateQPResp struct {
	_    structs.HostLayout
	RQMI RXEMMInfo
	SQMI RXEMMInfo
}

// RXECreateSRQResp is struct rxe_create_srq_resp.
type RXECreateSRQResp struct {
	_      structs.HostLayout
	MI     RXEMMInfo
	SRQNum uint32
	_      uint32
}

// RXECreateAHResp is struct rxe_create_ah_resp.
type RXECreateAHResp struct {
	_     structs.HostLayout
	AHNum uint32
	_     uint32
}

// RXEQueueBuf is struct rxe_queue_buf: the head of a mapped queue.
type RXEQueueBuf struct {
	_             structs.HostLayout
	Log2ElemSize  uint32
	IndexMask     uint32
	_             [30]uint32
	ProducerIndex uint32
	_             [31]uint32
	ConsumerIndex uint32
	_             [31]uint32
}

// RXESGE is struct rxe_sge.
type RXESGE struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint32
	LKey   uint32
}

// RXEDMAInfo is struct rxe_dma_info up to inline data or SGEs.
type RXEDMAInfo struct {
	_         structs.HostLayout
	Length    uint32
	Resid     uint32
	CurSGE    uint32
	NumSGE    uint32
	SGEOffset uint32
	_         uint32
}

// RXERDMA is wr.rdma of struct rxe_send_wr.
type RXERDMA struct {
	_          structs.HostLayout
	RemoteAddr uint64
	RKey       uint32
	_          uint32
}

// RXEAtomic is wr.atomic of struct rxe_send_wr.
type RXEAtomic struct {
	_          structs.HostLayout
	RemoteAddr uint64
	CompareAdd uint64
	Swap       uint64
	RKey       uint32
	_          uint32
}

// RXEUD is wr.ud of struct rxe_send_wr.
type RXEUD struct {
	_         structs.HostLayout
	RemoteQPN uint32
	QKey      uint32 `c:"remote_qkey"`
	PKeyIndex uint16
	_         uint16
	AHNum     uint32
	_         [4]uint32
	AV        RXEAV // for kernels without AHNum
}

// RXEAV is struct rxe_av.
type RXEAV struct {
	_            structs.HostLayout
	PortNum      uint8
	NetworkType  uint8
	DMAC         [6]byte
	DGID         [16]byte `c:"grh.dgid"`
	FlowLabel    uint32   `c:"grh.flow_label"`
	SGIDIndex    uint8    `c:"grh.sgid_index"`
	HopLimit     uint8    `c:"grh.hop_limit"`
	TrafficClass uint8    `c:"grh.traffic_class"`
	_            uint8
	SGIDAddr     [28]byte // struct sockaddr_in or sockaddr_in6
	DGIDAddr     [28]byte
}

// Values of RXEAV.NetworkType.
const (
	RXENetworkTypeIPv4 = 1 // RXE_NETWORK_TYPE_IPV4
	RXENetworkTypeIPv6 = 2 // RXE_NETWORK_TYPE_IPV6
)

// RXEMW is wr.mw of struct rxe_send_wr.
type RXEMW struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint64
	MRLKey uint32
	MWRKey uint32
	RKey   uint32
	Access uint32
}

// RXESendWQE is struct rxe_send_wqe without inline data or SGEs, which follow.
type RXESendWQE struct {
	_           structs.HostLayout
	WRID        uint64 `c:"wr.wr_id"`
	_           uint32
	Opcode      uint32     `c:"wr.opcode"`
	SendFlags   uint32     `c:"wr.send_flags"`
	Ex          [4]byte    `c:"wr.ex"` // immediate data in network byte order, or a key in the host's
	WR          [15]uint64 `c:"wr.wr"` // an RXERDMA, RXEAtomic, RXEUD or RXEMW
	Status      uint32
	State       uint32
	IOVA        uint64
	Mask        uint32
	FirstPSN    uint32
	LastPSN     uint32
	AckLength   uint32
	SSN         uint32
	HasRdAtomic uint32
	DMA         RXEDMAInfo
}

// RXERecvWQE is struct rxe_recv_wqe without SGEs, which follow.
type RXERecvWQE struct {
	_    structs.HostLayout
	WRID uint64
	_    uint32
	_    uint32
	DMA  RXEDMAInfo
}

// Sizes: the data that follows a structure begins at its end.
const (
	RXEQueueBufSize = 384
	RXESGESize      = 16
	RXESendWQESize  = 208
	RXERecvWQESize  = 40
)

var (
	_ [RXEQueueBufSize - unsafe.Sizeof(RXEQueueBuf{})]struct{}
	_ [unsafe.Sizeof(RXEQueueBuf{}) - RXEQueueBufSize]struct{}
	_ [RXESGESize - unsafe.Sizeof(RXESGE{})]struct{}
	_ [unsafe.Sizeof(RXESGE{}) - RXESGESize]struct{}
	_ [RXESendWQESize - unsafe.Sizeof(RXESendWQE{})]struct{}
	_ [unsafe.Sizeof(RXESendWQE{}) - RXESendWQESize]struct{}
	_ [RXERecvWQESize - unsafe.Sizeof(RXERecvWQE{})]struct{}
	_ [unsafe.Sizeof(RXERecvWQE{}) - RXERecvWQESize]struct{}
)
