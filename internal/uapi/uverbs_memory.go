package uapi

import "structs"

// AllocPD is struct ib_uverbs_alloc_pd in <rdma/ib_user_verbs.h>: the address of
// the response, which INVOKE_WRITE ignores.
type AllocPD uint64

// AllocPDResp is struct ib_uverbs_alloc_pd_resp.
type AllocPDResp struct {
	_      structs.HostLayout
	Handle uint32 `c:"pd_handle"`
}

// AllocPDVendorResp is room for the response of a driver to ALLOC_PD: structures of up to 24
// bytes of <rdma/*-abi.h>, for example mlx5_ib_alloc_pd_resp. Most begin with the number of
// the domain. Without room, mlx5 and others return EFAULT (mlx5_ib_alloc_pd).
type AllocPDVendorResp struct {
	_      structs.HostLayout
	Number uint32
	_      [7]uint32
}

// RegMR is struct ib_uverbs_reg_mr in <rdma/ib_user_verbs.h>.
type RegMR struct {
	_           structs.HostLayout
	Response    uint64 // ignored by INVOKE_WRITE
	Start       uint64 // address of the memory
	Length      uint64 // bytes
	HCAVA       uint64 // address that the device uses
	PDHandle    uint32
	AccessFlags uint32
}

// RegMRResp is struct ib_uverbs_reg_mr_resp.
type RegMRResp struct {
	_      structs.HostLayout
	Handle uint32 `c:"mr_handle"`
	LKey   uint32
	RKey   uint32
}

// AllocMW is struct ib_uverbs_alloc_mw in <rdma/ib_user_verbs.h>.
type AllocMW struct {
	_        structs.HostLayout
	Response uint64 // ignored by INVOKE_WRITE
	PDHandle uint32
	Type     uint8 `c:"mw_type"` // MWType2
	_        [3]byte
}

// MWType2 is IB_MW_TYPE_2 of the kernel's <rdma/ib_verbs.h>: a window that work
// requests bind.
const MWType2 = 2

// AllocMWResp is struct ib_uverbs_alloc_mw_resp.
type AllocMWResp struct {
	_      structs.HostLayout
	Handle uint32 `c:"mw_handle"`
	RKey   uint32
}

// GlobalRoute is struct ib_uverbs_global_route in <rdma/ib_user_verbs.h>.
type GlobalRoute struct {
	_            structs.HostLayout
	DGID         [16]byte // network byte order
	FlowLabel    uint32
	SGIDIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	_            uint8
}

// AHAttr is struct ib_uverbs_ah_attr in <rdma/ib_user_verbs.h>.
type AHAttr struct {
	_           structs.HostLayout
	GRH         GlobalRoute
	DLID        uint16
	SL          uint8
	SrcPathBits uint8
	StaticRate  uint8
	IsGlobal    uint8
	PortNum     uint8
	_           uint8
}

// CreateAH is struct ib_uverbs_create_ah in <rdma/ib_user_verbs.h>.
type CreateAH struct {
	_          structs.HostLayout
	Response   uint64 // ignored by INVOKE_WRITE
	UserHandle uint64
	PDHandle   uint32
	_          uint32
	Attr       AHAttr
}

// CreateAHResp is struct ib_uverbs_create_ah_resp.
type CreateAHResp struct {
	_      structs.HostLayout
	Handle uint32 `c:"ah_handle"`
}
