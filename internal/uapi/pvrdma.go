package uapi

import "structs"

// PVRDMAAllocUcontextResp is struct pvrdma_alloc_ucontext_resp in <rdma/vmw_pvrdma-abi.h>.
type PVRDMAAllocUcontextResp struct {
	_         structs.HostLayout
	QPTabSize uint32
	_         uint32
}

// PVRDMACreateCQ is struct pvrdma_create_cq.
type PVRDMACreateCQ struct {
	_       structs.HostLayout
	BufAddr uint64
	BufSize uint32
	_       uint32
}

// PVRDMACreateCQResp is struct pvrdma_create_cq_resp.
type PVRDMACreateCQResp struct {
	_   structs.HostLayout
	CQN uint32
	_   uint32
}

// PVRDMACreateSRQ is struct pvrdma_create_srq.
type PVRDMACreateSRQ struct {
	_       structs.HostLayout
	BufAddr uint64
	BufSize uint32
	_       uint32
}

// PVRDMACreateSRQResp is struct pvrdma_create_srq_resp.
type PVRDMACreateSRQResp struct {
	_    structs.HostLayout
	SRQN uint32
	_    uint32
}

// PVRDMACreateQP is struct pvrdma_create_qp.
type PVRDMACreateQP struct {
	_        structs.HostLayout
	RBufAddr uint64
	SBufAddr uint64
	RBufSize uint32
	SBufSize uint32
	QPAddr   uint64
}

// PVRDMACreateQPResp is struct pvrdma_create_qp_resp. Before Linux 5.6, QPHandle stays 0.
type PVRDMACreateQPResp struct {
	_        structs.HostLayout
	QPN      uint32
	QPHandle uint32
}

// PVRDMARing is struct pvrdma_ring of the driver (pvrdma_ring.h): the free-running counts of
// a queue modulo twice its size.
type PVRDMARing struct {
	_        structs.HostLayout
	ProdTail uint32 // written by the producer
	ConsHead uint32 // written by the consumer
}

// PVRDMARingState is struct pvrdma_ring_state: the first page of a queue.
type PVRDMARingState struct {
	_  structs.HostLayout
	TX PVRDMARing
	RX PVRDMARing
}

// PVRDMAAV is struct pvrdma_av.
type PVRDMAAV struct {
	_                 structs.HostLayout
	PortPD            uint32
	SLTClassFlowLabel uint32
	DGID              [16]byte
	SrcPathBits       uint8
	GIDIndex          uint8
	StatRate          uint8
	HopLimit          uint8
	DMAC              [6]byte
	_                 [6]uint8
}

// PVRDMASGE is struct pvrdma_sge.
type PVRDMASGE struct {
	_      structs.HostLayout
	Addr   uint64
	Length uint32
	LKey   uint32
}

// PVRDMARecvHeader is struct pvrdma_rq_wqe_hdr. SGEs follow it.
type PVRDMARecvHeader struct {
	_        structs.HostLayout
	WRID     uint64
	NumSGE   uint32
	TotalLen uint32
}

// PVRDMASendHeader is struct pvrdma_sq_wqe_hdr. SGEs follow it. WR is a PVRDMARDMA, a
// PVRDMAAtomic or a PVRDMADatagram.
type PVRDMASendHeader struct {
	_         structs.HostLayout
	WRID      uint64
	NumSGE    uint32
	TotalLen  uint32
	Opcode    uint32
	SendFlags uint32
	Imm       [4]byte `c:"ex"` // immediate data, big-endian
	_         uint32
	WR        [6]uint64
}

// PVRDMARDMA is wr.rdma of struct pvrdma_sq_wqe_hdr.
type PVRDMARDMA struct {
	_          structs.HostLayout
	RemoteAddr uint64
	RKey       uint32
	_          uint32
}

// PVRDMAAtomic is wr.atomic of struct pvrdma_sq_wqe_hdr.
type PVRDMAAtomic struct {
	_          structs.HostLayout
	RemoteAddr uint64
	CompareAdd uint64
	Swap       uint64
	RKey       uint32
	_          uint32
}

// PVRDMADatagram is wr.ud of struct pvrdma_sq_wqe_hdr.
type PVRDMADatagram struct {
	_          structs.HostLayout
	RemoteQPN  uint32
	RemoteQKey uint32
	AV         PVRDMAAV
}

// PVRDMACQE is struct pvrdma_cqe.
type PVRDMACQE struct {
	_            structs.HostLayout
	WRID         uint64
	QP           uint64
	Opcode       uint32
	Status       uint32
	ByteLen      uint32
	Imm          [4]byte `c:"imm_data"` // immediate data, big-endian
	SrcQP        uint32
	WCFlags      uint32
	VendorErr    uint32
	PKeyIndex    uint16
	SLID         uint16
	SL           uint8
	DLIDPathBits uint8
	PortNum      uint8
	SMAC         [6]uint8
	NetworkType  uint8 `c:"network_hdr_type"`
	_            [6]uint8
}

// The doorbells of a page: offset and flags (PVRDMA_UAR_*).
const (
	PVRDMAUARQP       = 0       // PVRDMA_UAR_QP_OFFSET
	PVRDMAUARQPSend   = 1 << 30 // PVRDMA_UAR_QP_SEND
	PVRDMAUARQPRecv   = 1 << 31 // PVRDMA_UAR_QP_RECV
	PVRDMAUARCQ       = 4       // PVRDMA_UAR_CQ_OFFSET
	PVRDMAUARCQArmSol = 1 << 29 // PVRDMA_UAR_CQ_ARM_SOL
	PVRDMAUARCQArm    = 1 << 30 // PVRDMA_UAR_CQ_ARM
	PVRDMAUARCQPoll   = 1 << 31 // PVRDMA_UAR_CQ_POLL
	PVRDMAUARSRQ      = 8       // PVRDMA_UAR_SRQ_OFFSET
	PVRDMAUARSRQRecv  = 1 << 30 // PVRDMA_UAR_SRQ_RECV
)

// Completion flags (enum pvrdma_wc_flags) that structs use.
const (
	PVRDMAWCGRH     = 1 << 0 // PVRDMA_WC_GRH
	PVRDMAWCWithImm = 1 << 1 // PVRDMA_WC_WITH_IMM
)
