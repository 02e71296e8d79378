package rdmacm

import (
	"fmt"

	"github.com/ibkit/ibkit/verbs"
)

// A PortSpace is a service number space (enum rdma_ucm_port_space in
// <rdma/rdma_user_cm.h>). The zero value stands for TCP.
type PortSpace uint16

// The port spaces.
const (
	PortSpaceIPoIB PortSpace = 0x0002 // datagrams to IPoIB's queue pairs, multicast; IPoIB interfaces only
	PortSpaceTCP   PortSpace = 0x0106 // connections
	PortSpaceUDP   PortSpace = 0x0111 // datagrams
	PortSpaceIB    PortSpace = 0x013f // native InfiniBand address service IDs
)

// String returns the port space name.
func (s PortSpace) String() string {
	switch s {
	case 0, PortSpaceTCP:
		return "TCP"
	case PortSpaceUDP:
		return "UDP"
	case PortSpaceIPoIB:
		return "IPoIB"
	case PortSpaceIB:
		return "IB"
	}
	return fmt.Sprintf("port space %#x", uint16(s))
}

// ServiceID returns a port's service ID (InfiniBand Architecture, volume 1,
// annex A11).
func (s PortSpace) ServiceID(port uint16) uint64 {
	return uint64(s.orTCP())<<16 | uint64(port)
}

func (s PortSpace) orTCP() PortSpace {
	if s == 0 {
		return PortSpaceTCP
	}
	return s
}

// qpType returns an ID's queue pair type (ucma.c, ucma_get_qp_type).
// t is the type that the caller has chosen for PortSpaceIB; 0 is QPTypeRC.
func (s PortSpace) qpType(t verbs.QPType) verbs.QPType {
	switch {
	case s == PortSpaceUDP || s == PortSpaceIPoIB:
		return verbs.QPTypeUD
	case s == PortSpaceIB && t != 0:
		return t
	}
	return verbs.QPTypeRC
}
