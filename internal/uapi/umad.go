// Package uapi declares the kernel's structures, constants and ioctl numbers, each
// of them once. It contains no behaviour.
//
// The comment of a structure or constant has its name in C. A field with a name that is not
// that of the C member without underscores has it in a tag. A test compares all of them
// with the headers, as a C compiler describes them in testdata/headers.txt.
package uapi

import (
	"structs"
	"unsafe"
)

// UMADABIVersion is IB_USER_MAD_ABI_VERSION in <rdma/ib_user_mad.h>, the version of
// all kernels since 2.6.14.
const UMADABIVersion = 5

// be16 and be32 hold numbers in network byte order.
type (
	be16 [2]byte
	be32 [4]byte
)

// UMADHeader is struct ib_user_mad_hdr in <rdma/ib_user_mad.h>: the header of each
// MAD that is written to or read from /dev/infiniband/umadN. Numbers are in host
// byte order unless their type is be16 or be32.
type UMADHeader struct {
	_            structs.HostLayout
	ID           uint32 // agent ID
	Status       uint32 // 0, or ETIMEDOUT for a request without a reply
	TimeoutMS    uint32
	Retries      uint32
	Length       uint32
	QPN          be32
	QKey         be32
	LID          be16
	SL           uint8
	PathBits     uint8
	GRHPresent   uint8
	GIDIndex     uint8
	HopLimit     uint8
	TrafficClass uint8
	GID          [16]byte
	FlowLabel    be32
	PKeyIndex    uint16
	_            [6]byte
}

// UMADRegister is struct ib_user_mad_reg_req2, the argument of UMADRegisterAgent.
type UMADRegister struct {
	_           structs.HostLayout
	ID          uint32 // set by the kernel
	QPN         uint32 // 0 or 1
	Class       uint8  `c:"mgmt_class"` // 0: receive replies only
	ClassVers   uint8  `c:"mgmt_class_version"`
	_           uint16
	Flags       uint32
	MethodMask  [2]uint64 // methods of unsolicited MADs to receive
	OUI         uint32
	RMPPVersion uint8 // 1: the kernel segments and reassembles
	_           [3]byte
}

// Sizes, because the ioctl number contains the size.
const (
	UMADHeaderSize   = 64
	umadRegisterSize = 40
)

var (
	_ [UMADHeaderSize - unsafe.Sizeof(UMADHeader{})]struct{}
	_ [unsafe.Sizeof(UMADHeader{}) - UMADHeaderSize]struct{}
	_ [umadRegisterSize - unsafe.Sizeof(UMADRegister{})]struct{}
	_ [unsafe.Sizeof(UMADRegister{}) - umadRegisterSize]struct{}
)

// UMADRegisterAgent is IB_USER_MAD_REGISTER_AGENT2 in <rdma/rdma_user_ioctl.h>.
var UMADRegisterAgent = iowr(rdmaMagic, 0x04, umadRegisterSize)

// rdmaMagic is RDMA_IOCTL_MAGIC.
const rdmaMagic = 0x1b
