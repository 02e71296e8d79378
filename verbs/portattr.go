package verbs

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
)

// PortAttr are port and link attributes.
type PortAttr struct {
	State         ib.PortState
	MaxMTU        ib.MTU
	ActiveMTU     ib.MTU
	SMLID         ib.LID
	LID           ib.LID
	LMC           uint8
	LinkLayer     ib.LinkLayer
	MaxMsgSize    uint32 // bytes
	Caps          PortCaps
	Caps2         uint16 // PortInfo's CapabilityMask2
	MaxVL         ib.VLCap
	BadPKeys      uint32
	QKeyViols     uint32
	SMSL          uint8
	PKeyTableLen  uint16
	GIDTableLen   uint32
	SubnetTimeout uint8 // 4.096 µs · 2^n
	InitTypeReply uint8
	ActiveWidth   ib.LinkWidth
	ActiveSpeed   ib.Speed
	PhysState     ib.PhysState
	GRHRequired   bool
}

// PortCaps are a port's capabilities: PortInfo's CapabilityMask, except that
// bit 26 means that GIDs are derived from IP addresses (enum
// ib_uverbs_query_port_cap_flags).
type PortCaps uint32

// IPBasedGIDs reports whether GIDs are derived from IP addresses.
func (c PortCaps) IPBasedGIDs() bool { return c&(1<<26) != 0 }

// Rate returns the link rate in the sysfs form, "100 Gb/sec (4X EDR)",
// or "" if the width or the speed is undefined.
func (a *PortAttr) Rate() string {
	if !a.ActiveWidth.Single() || !a.ActiveSpeed.Single() {
		return ""
	}
	lanes := a.ActiveWidth.Lanes()
	return fmt.Sprintf("%v Gb/sec (%dX %v)", float64(lanes)*a.ActiveSpeed.NominalGbps(), lanes, a.ActiveSpeed)
}
