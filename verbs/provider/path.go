package provider

import (
	"net/netip"

	"github.com/ibkit/ibkit/ib"
)

// A Path is the route to another port (struct ibv_ah_attr).
type Path struct {
	DGID         netip.Addr // an IPv6 address; invalid: packets without a GRH, InfiniBand only
	SGIDIndex    uint8      // index into the local port GID table
	FlowLabel    uint32     // 20 bits
	HopLimit     uint8
	TrafficClass uint8

	DLID        ib.LID // InfiniBand only
	SL          uint8
	SrcPathBits uint8   // low bits of the local port's LID
	StaticRate  ib.Rate // 0: the port's rate
	Port        uint8   // local port
}
