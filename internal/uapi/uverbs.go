package uapi

import (
	"structs"
	"unsafe"
)

// UverbsHeader is struct ib_uverbs_ioctl_hdr in <rdma/rdma_user_ioctl_cmds.h>: the
// head of a request over RDMA_VERBS_IOCTL. The attributes follow without a gap.
// Numbers are in host byte order.
type UverbsHeader struct {
	_        structs.HostLayout
	Length   uint16 // bytes of the request, including attributes
	Object   uint16 `c:"object_id"`
	Method   uint16 `c:"method_id"`
	NumAttrs uint16
	_        uint64
	Driver   uint32 `c:"driver_id"` // enum rdma_driver_id of the device
	_        uint32
}

// UverbsAttr is struct ib_uverbs_attr in <rdma/rdma_user_ioctl_cmds.h>.
type UverbsAttr struct {
	_      structs.HostLayout
	ID     uint16 `c:"attr_id"`
	Len    uint16 // bytes that Data contains or points to; 0 for handles and files
	Flags  uint16
	ElemID uint8 `c:"attr_data.enum_data.elem_id"` // variant of an enum attribute
	_      uint8
	Data   [8]byte // a pointer, a handle, a file or, if Len is at most 8, the value
}

// Flags of a UverbsAttr.
const (
	AttrMandatory   = 1 << 0 // UVERBS_ATTR_F_MANDATORY: the request fails if the attribute is unknown
	AttrValidOutput = 1 << 1 // UVERBS_ATTR_F_VALID_OUTPUT: the kernel has written an output
)

// Sizes, because the ioctl number contains the size of the header.
const (
	UverbsHeaderSize = 24
	UverbsAttrSize   = 16
)

var (
	_ [UverbsHeaderSize - unsafe.Sizeof(UverbsHeader{})]struct{}
	_ [unsafe.Sizeof(UverbsHeader{}) - UverbsHeaderSize]struct{}
	_ [UverbsAttrSize - unsafe.Sizeof(UverbsAttr{})]struct{}
	_ [unsafe.Sizeof(UverbsAttr{}) - UverbsAttrSize]struct{}
)

// VerbsIoctl is RDMA_VERBS_IOCTL in <rdma/rdma_user_ioctl_cmds.h>.
var VerbsIoctl = iowr(rdmaMagic, 0x01, UverbsHeaderSize)
