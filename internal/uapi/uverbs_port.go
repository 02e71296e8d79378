package uapi

import (
	"structs"
	"unsafe"
)

// QueryPort is struct ib_uverbs_query_port in <rdma/ib_user_verbs.h>.
type QueryPort struct {
	_        structs.HostLayout
	Response uint64 // ignored by INVOKE_WRITE
	PortNum  uint8
	_        [7]byte
}

// QueryPortResp is struct ib_uverbs_query_port_resp in <rdma/ib_user_verbs.h>.
// Numbers are in host byte order.
type QueryPortResp struct {
	_             structs.HostLayout
	CapFlags      uint32 `c:"port_cap_flags"` // enum ib_uverbs_query_port_cap_flags
	MaxMsgSize    uint32 `c:"max_msg_sz"`     // bytes
	BadPKeyCntr   uint32
	QKeyViolCntr  uint32
	GIDTableLen   uint32 `c:"gid_tbl_len"`
	PKeyTableLen  uint16 `c:"pkey_tbl_len"`
	LID           uint16
	SMLID         uint16
	State         uint8
	MaxMTU        uint8 // enum ib_mtu
	ActiveMTU     uint8
	LMC           uint8
	MaxVLNum      uint8
	SMSL          uint8
	SubnetTimeout uint8
	InitTypeReply uint8
	ActiveWidth   uint8
	ActiveSpeed   uint8
	PhysState     uint8
	LinkLayer     uint8
	Flags         uint8 // enum ib_uverbs_query_port_flags
	_             uint8
}

// QueryPortRespEx is struct ib_uverbs_query_port_resp_ex of
// <rdma/ib_user_ioctl_verbs.h>. ActiveSpeedEx is from rdma-core 65; Linux 6.1 has
// reserved bytes in its place and writes zeros.
type QueryPortRespEx struct {
	_             structs.HostLayout
	Legacy        QueryPortResp `c:"legacy_resp"`
	CapFlags2     uint16        `c:"port_cap_flags2"`
	_             [2]byte
	ActiveSpeedEx uint32
}

// GIDEntry is struct ib_uverbs_gid_entry in <rdma/ib_user_ioctl_verbs.h>.
type GIDEntry struct {
	_             structs.HostLayout
	GID           [16]byte // network byte order
	Index         uint32   `c:"gid_index"`
	PortNum       uint32
	Type          uint32 `c:"gid_type"` // enum ib_uverbs_gid_type
	NetdevIfindex uint32 // 0: no interface
}

// AsyncEvent is struct ib_uverbs_async_event_desc in <rdma/ib_user_verbs.h>: the
// record in a file of asynchronous events.
type AsyncEvent struct {
	_       structs.HostLayout
	Element uint64 // user handle of an object, or port number
	Type    uint32 `c:"event_type"` // enum ib_event_type
	_       uint32
}

// Sizes: the kernel rejects responses of another size.
const (
	QueryPortRespExSize = 48
	GIDEntrySize        = 32
	AsyncEventSize      = 16
)

var (
	_ [QueryPortRespExSize - unsafe.Sizeof(QueryPortRespEx{})]struct{}
	_ [unsafe.Sizeof(QueryPortRespEx{}) - QueryPortRespExSize]struct{}
	_ [GIDEntrySize - unsafe.Sizeof(GIDEntry{})]struct{}
	_ [unsafe.Sizeof(GIDEntry{}) - GIDEntrySize]struct{}
	_ [AsyncEventSize - unsafe.Sizeof(AsyncEvent{})]struct{}
	_ [unsafe.Sizeof(AsyncEvent{}) - AsyncEventSize]struct{}
)
