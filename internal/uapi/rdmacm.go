package uapi

import (
	"structs"
	"unsafe"
)

// Commands for write(2) on /dev/infiniband/rdma_cm (<rdma/rdma_user_cm.h>). A message
// consists of a CMHeader and the structure of the command.
const (
	CMCmdCreateID     = 0  // RDMA_USER_CM_CMD_CREATE_ID
	CMCmdDestroyID    = 1  // RDMA_USER_CM_CMD_DESTROY_ID
	CMCmdResolveRoute = 4  // RDMA_USER_CM_CMD_RESOLVE_ROUTE
	CMCmdQueryRoute   = 5  // RDMA_USER_CM_CMD_QUERY_ROUTE
	CMCmdConnect      = 6  // RDMA_USER_CM_CMD_CONNECT
	CMCmdListen       = 7  // RDMA_USER_CM_CMD_LISTEN
	CMCmdAccept       = 8  // RDMA_USER_CM_CMD_ACCEPT
	CMCmdReject       = 9  // RDMA_USER_CM_CMD_REJECT
	CMCmdDisconnect   = 10 // RDMA_USER_CM_CMD_DISCONNECT
	CMCmdInitQPAttr   = 11 // RDMA_USER_CM_CMD_INIT_QP_ATTR
	CMCmdGetEvent     = 12 // RDMA_USER_CM_CMD_GET_EVENT
	CMCmdSetOption    = 14 // RDMA_USER_CM_CMD_SET_OPTION
	CMCmdNotify       = 15 // RDMA_USER_CM_CMD_NOTIFY
	CMCmdLeaveMcast   = 17 // RDMA_USER_CM_CMD_LEAVE_MCAST
	CMCmdMigrateID    = 18 // RDMA_USER_CM_CMD_MIGRATE_ID
	CMCmdQuery        = 19 // RDMA_USER_CM_CMD_QUERY
	CMCmdBind         = 20 // RDMA_USER_CM_CMD_BIND
	CMCmdResolveAddr  = 21 // RDMA_USER_CM_CMD_RESOLVE_ADDR
	CMCmdJoinMcast    = 22 // RDMA_USER_CM_CMD_JOIN_MCAST
)

// enum of the option of CMCmdQuery.
const (
	CMQueryAddr = iota // RDMA_USER_CM_QUERY_ADDR
	CMQueryPath        // RDMA_USER_CM_QUERY_PATH
	CMQueryGID         // RDMA_USER_CM_QUERY_GID
)

// Option levels and names.
const (
	CMOptionID           = 0 // RDMA_OPTION_ID
	CMOptionIB           = 1 // RDMA_OPTION_IB
	CMOptionIDTOS        = 0 // RDMA_OPTION_ID_TOS, one byte
	CMOptionIDReuseAddr  = 1 // RDMA_OPTION_ID_REUSEADDR, int
	CMOptionIDAFOnly     = 2 // RDMA_OPTION_ID_AFONLY, int
	CMOptionIDAckTimeout = 3 // RDMA_OPTION_ID_ACK_TIMEOUT, one byte
	CMOptionIBPath       = 1 // RDMA_OPTION_IB_PATH, CMPathData
)

// CMHeader is struct rdma_ucm_cmd_hdr. Numbers of all structures are in host byte
// order unless stated otherwise.
type CMHeader struct {
	_   structs.HostLayout
	Cmd uint32
	In  uint16 // bytes that follow
	Out uint16 // response bytes
}

// CMSockaddr is struct __kernel_sockaddr_storage.
type CMSockaddr [128]byte

// CMCreateID is struct rdma_ucm_create_id.
type CMCreateID struct {
	_        structs.HostLayout
	UID      uint64
	Response uint64 // CMIDResp
	PS       uint16 // enum rdma_ucm_port_space
	QPType   uint8  // enum ib_qp_type, for RDMA_PS_IB
	_        [5]byte
}

// CMIDResp is struct rdma_ucm_create_id_resp, also of CMCmdJoinMcast.
type CMIDResp struct {
	_  structs.HostLayout
	ID uint32
}

// CMDestroyID is struct rdma_ucm_destroy_id, also of CMCmdLeaveMcast.
type CMDestroyID struct {
	_        structs.HostLayout
	Response uint64 // CMEventsResp
	ID       uint32
	_        uint32
}

// CMEventsResp is struct rdma_ucm_destroy_id_resp and struct rdma_ucm_migrate_resp.
type CMEventsResp struct {
	_        structs.HostLayout
	Reported uint32 `c:"events_reported"` // events of the ID that GET_EVENT has returned
}

// CMBind is struct rdma_ucm_bind.
type CMBind struct {
	_        structs.HostLayout
	ID       uint32
	AddrSize uint16 // exact address family size
	_        uint16
	Addr     CMSockaddr
}

// CMResolveAddr is struct rdma_ucm_resolve_addr.
type CMResolveAddr struct {
	_         structs.HostLayout
	ID        uint32
	TimeoutMS uint32
	SrcSize   uint16 // 0: no source address
	DstSize   uint16
	_         uint32
	Src       CMSockaddr `c:"src_addr"`
	Dst       CMSockaddr `c:"dst_addr"`
}

// CMResolveRoute is struct rdma_ucm_resolve_route.
type CMResolveRoute struct {
	_         structs.HostLayout
	ID        uint32
	TimeoutMS uint32
}

// CMQuery is struct rdma_ucm_query. CMCmdQueryRoute reads the fields before Option.
type CMQuery struct {
	_        structs.HostLayout
	Response uint64
	ID       uint32
	Option   uint32
}

// CMQueryAddrResp is struct rdma_ucm_query_addr_resp, also of CMQueryGID. Kernels
// before Linux 5.9 do not write the fields from DevIndex on.
type CMQueryAddrResp struct {
	_        structs.HostLayout
	NodeGUID [8]byte // network byte order
	PortNum  uint8
	_        uint8
	PKey     [2]byte // network byte order
	SrcSize  uint16
	DstSize  uint16
	Src      CMSockaddr `c:"src_addr"`
	Dst      CMSockaddr `c:"dst_addr"`
	DevIndex uint32     `c:"ibdev_index"` // index of the device in NETLINK_RDMA
	_        uint32
}

// CMPathData is struct ib_path_rec_data in <rdma/ib_user_sa.h>.
type CMPathData struct {
	_      structs.HostLayout
	Flags  uint32
	_      uint32
	Record [64]byte `c:"path_rec"` // PathRecord of the subnet administrator
}

// Flags of a CMPathData.
const (
	CMPathGMP           = 1 << 0      // IB_PATH_GMP
	CMPathPrimary       = 1 << 1      // IB_PATH_PRIMARY
	CMPathBidirectional = 1<<3 | 1<<5 // IB_PATH_BIDIRECTIONAL: outbound and reversed inbound
)

// CMQueryPathResp is struct rdma_ucm_query_path_resp with room for the number of
// paths that librdmacm requests.
type CMQueryPathResp struct {
	_        structs.HostLayout
	NumPaths uint32
	_        uint32
	Paths    [6]CMPathData `c:"path_data"`
}

// CMPathRec is struct ib_user_path_rec in <rdma/ib_user_sa.h>.
type CMPathRec struct {
	_                      structs.HostLayout
	DGID                   [16]byte
	SGID                   [16]byte
	DLID                   [2]byte // network byte order
	SLID                   [2]byte // network byte order
	RawTraffic             uint32
	FlowLabel              [4]byte // network byte order
	Reversible             uint32
	MTU                    uint32
	PKey                   [2]byte // network byte order
	HopLimit               uint8
	TrafficClass           uint8
	NumbPath               uint8
	SL                     uint8
	MTUSelector            uint8
	RateSelector           uint8
	Rate                   uint8
	PacketLifeTimeSelector uint8
	PacketLifeTime         uint8
	Preference             uint8
}

// CMQueryRouteResp is struct rdma_ucm_query_route_resp. Kernels before Linux 5.9 do
// not write the fields from DevIndex on.
type CMQueryRouteResp struct {
	_        structs.HostLayout
	NodeGUID [8]byte      // network byte order
	Routes   [2]CMPathRec `c:"ib_route"`
	Src      [28]byte     `c:"src_addr"`
	Dst      [28]byte     `c:"dst_addr"`
	NumPaths uint32
	PortNum  uint8
	_        [3]byte
	DevIndex uint32 `c:"ibdev_index"`
	_        uint32
}

// CMPrivateDataSize is RDMA_MAX_PRIVATE_DATA.
const CMPrivateDataSize = 256

// CMConnParam is struct rdma_ucm_conn_param.
type CMConnParam struct {
	_                  structs.HostLayout
	QPNum              uint32
	QKey               uint32
	PrivateData        [CMPrivateDataSize]byte
	PrivateDataLen     uint8
	SRQ                uint8
	ResponderResources uint8
	InitiatorDepth     uint8
	FlowControl        uint8
	RetryCount         uint8
	RNRRetryCount      uint8
	Valid              uint8
}

// CMUDParam is struct rdma_ucm_ud_param.
type CMUDParam struct {
	_              structs.HostLayout
	QPNum          uint32
	QKey           uint32
	AH             AHAttr `c:"ah_attr"`
	PrivateData    [CMPrivateDataSize]byte
	PrivateDataLen uint8
	_              [7]byte
}

// CMECE is struct rdma_ucm_ece.
type CMECE struct {
	_        structs.HostLayout
	VendorID uint32
	AttrMod  uint32
}

// CMConnect is struct rdma_ucm_connect.
type CMConnect struct {
	_     structs.HostLayout
	Param CMConnParam `c:"conn_param"`
	ID    uint32
	_     uint32
	ECE   CMECE
}

// CMListen is struct rdma_ucm_listen.
type CMListen struct {
	_       structs.HostLayout
	ID      uint32
	Backlog uint32
}

// CMAccept is struct rdma_ucm_accept.
type CMAccept struct {
	_     structs.HostLayout
	UID   uint64
	Param CMConnParam `c:"conn_param"`
	ID    uint32
	_     uint32
	ECE   CMECE
}

// CMReject is struct rdma_ucm_reject.
type CMReject struct {
	_              structs.HostLayout
	ID             uint32
	PrivateDataLen uint8
	Reason         uint8
	_              [2]byte
	PrivateData    [CMPrivateDataSize]byte
}

// CMDisconnect is struct rdma_ucm_disconnect.
type CMDisconnect struct {
	_  structs.HostLayout
	ID uint32
}

// CMInitQPAttr is struct rdma_ucm_init_qp_attr.
type CMInitQPAttr struct {
	_        structs.HostLayout
	Response uint64 // UserQPAttr
	ID       uint32
	QPState  uint32
}

// UserQPAttr is struct ib_uverbs_qp_attr in <rdma/ib_user_verbs.h>.
type UserQPAttr struct {
	_               structs.HostLayout
	Mask            uint32 `c:"qp_attr_mask"` // enum ib_qp_attr_mask
	State           uint32 `c:"qp_state"`
	CurState        uint32 `c:"cur_qp_state"`
	PathMTU         uint32
	PathMigState    uint32
	QKey            uint32
	RQPSN           uint32
	SQPSN           uint32
	DestQPNum       uint32
	AccessFlags     uint32 `c:"qp_access_flags"`
	AH              AHAttr `c:"ah_attr"`
	AltAH           AHAttr `c:"alt_ah_attr"`
	MaxSendWR       uint32
	MaxRecvWR       uint32
	MaxSendSGE      uint32
	MaxRecvSGE      uint32
	MaxInline       uint32 `c:"max_inline_data"`
	PKeyIndex       uint16
	AltPKeyIndex    uint16
	EnSQDNotify     uint8 `c:"en_sqd_async_notify"`
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
	_               [5]byte
}

// CMNotify is struct rdma_ucm_notify.
type CMNotify struct {
	_     structs.HostLayout
	ID    uint32
	Event uint32 // enum ib_event_type
}

// CMJoinMcast is struct rdma_ucm_join_mcast.
type CMJoinMcast struct {
	_        structs.HostLayout
	Response uint64 // CMIDResp
	UID      uint64
	ID       uint32
	AddrSize uint16
	Flags    uint16 `c:"join_flags"`
	Addr     CMSockaddr
}

// CMGetEvent is struct rdma_ucm_get_event.
type CMGetEvent struct {
	_        structs.HostLayout
	Response uint64 // CMEventResp
}

// CMEventResp is struct rdma_ucm_event_resp.
type CMEventResp struct {
	_      structs.HostLayout
	UID    uint64
	ID     uint32
	Event  uint32
	Status uint32
	Param  [unsafe.Sizeof(CMUDParam{})]byte // CMConnParam or CMUDParam
	_      uint32
	ECE    CMECE
}

// CMSetOption is struct rdma_ucm_set_option.
type CMSetOption struct {
	_      structs.HostLayout
	Value  uint64 `c:"optval"` // address
	ID     uint32
	Level  uint32
	Name   uint32 `c:"optname"`
	Length uint32 `c:"optlen"`
}

// CMMigrateID is struct rdma_ucm_migrate_id.
type CMMigrateID struct {
	_        structs.HostLayout
	Response uint64 // CMEventsResp
	ID       uint32
	FD       uint32 // the file that has the ID
}
