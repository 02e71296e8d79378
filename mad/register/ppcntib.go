package register

import "github.com/ibkit/ibkit/mad"

// LongCounters are a port's performance counters in 64 bits, as in performance management.
type LongCounters struct {
	CounterIndex
	Values [22]uint64 // in the order of [LongCounterNames]
}

// LongCounterNames are the field names of [LongCounters].
var LongCounterNames = [22]string{
	"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors", "PortRcvRemotePhysicalErrors",
	"PortRcvSwitchRelayErrors", "PortXmitDiscards", "PortXmitConstraintErrors", "PortRcvConstraintErrors",
	"LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors", "Vl_15Dropped", "PortXmitData", "PortRcvData",
	"PortXmitPkts", "PortRcvPkts", "PortXmitWait", "Qp1Dropped", "PortUnicastXmitPkts", "PortMulticastXmitPkts",
	"PortUnicastRcvPkts", "PortMulticastRcvPkts",
}

// NewLongCounters returns the request for a port's counters.
func NewLongCounters(p LocalPort) *LongCounters {
	return &LongCounters{CounterIndex: CounterIndex{p, groupLong}}
}

// MarshalJSON writes the fields as an object; see package mad.
func (r LongCounters) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *LongCounters) Layout(c *mad.Codec) {
	r.layout(c)
	for i, name := range LongCounterNames {
		count(c, &r.Values[i], 0x08+8*i, name)
	}
}

// ShortCounters are a port's performance counters in the widths of the specification, which
// stop at their highest value.
type ShortCounters struct {
	CounterIndex
	LinkDowned, LinkErrorRecovery                  uint8
	SymbolErrors                                   uint16
	RcvRemotePhysicalErrors, RcvErrors             uint16
	XmitDiscards, RcvSwitchRelayErrors             uint16
	BufferOverrunErrors, LinkIntegrityErrors       uint8 // 4 bits
	RcvConstraintErrors, XmitConstraintErrors      uint8
	VL15Dropped, QP1Dropped                        uint16
	XmitData, RcvData, XmitPkts, RcvPkts, XmitWait uint32
}

// NewShortCounters returns the request for a port's counters.
func NewShortCounters(p LocalPort) *ShortCounters {
	return &ShortCounters{CounterIndex: CounterIndex{p, groupShort}}
}

// MarshalJSON writes the fields as an object; see package mad.
func (r ShortCounters) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *ShortCounters) Layout(c *mad.Codec) {
	r.layout(c)
	bits(c, &r.LinkDowned, 0x08, 0, 8, "LinkDownedCounter")
	bits(c, &r.LinkErrorRecovery, 0x08, 8, 8, "LinkErrorRecoveryCounter")
	bits(c, &r.SymbolErrors, 0x08, 16, 16, "SymbolErrorCounter")
	bits(c, &r.RcvRemotePhysicalErrors, 0x0c, 0, 16, "PortRcvRemotePhysicalErrors")
	bits(c, &r.RcvErrors, 0x0c, 16, 16, "PortRcvErrors")
	bits(c, &r.XmitDiscards, 0x10, 0, 16, "PortXmitDiscards")
	bits(c, &r.RcvSwitchRelayErrors, 0x10, 16, 16, "PortRcvSwitchRelayErrors")
	bits(c, &r.BufferOverrunErrors, 0x14, 0, 4, "ExcessiveBufferOverrunErrors")
	bits(c, &r.LinkIntegrityErrors, 0x14, 4, 4, "LocalLinkIntegrityErrors")
	bits(c, &r.RcvConstraintErrors, 0x14, 16, 8, "PortRcvConstraintErrors")
	bits(c, &r.XmitConstraintErrors, 0x14, 24, 8, "PortXmitConstraintErrors")
	bits(c, &r.VL15Dropped, 0x18, 0, 16, "Vl_15Dropped")
	bits(c, &r.QP1Dropped, 0x18, 16, 16, "Qp1Dropped")
	bits(c, &r.XmitData, 0x1c, 0, 32, "PortXmitData")
	bits(c, &r.RcvData, 0x20, 0, 32, "PortRcvData")
	bits(c, &r.XmitPkts, 0x24, 0, 32, "PortXmitPkts")
	bits(c, &r.RcvPkts, 0x28, 0, 32, "PortRcvPkts")
	bits(c, &r.XmitWait, 0x2c, 0, 32, "PortXmitWait")
}

// PacketCounters are a port's packets and the reasons for bad and discarded packets.
type PacketCounters struct {
	CounterIndex
	Values [14]uint64 // in the order of the register tables
}

// packetCounterNames are the field names of PacketCounters.
var packetCounterNames = [14]string{
	"TimeSinceLastClear", "PortUnicastXmitPkts", "PortUnicastRcvPkts", "SyncHeaderErrorCounter", "PortLocalPhysicalErrors",
	"PortMalformedPacketErrors", "PortBufferOverrunErrors", "PortDlidMappingErrors", "PortVlMappingErrors",
	"PortLoopingErrors", "PortInactiveDiscards", "PortNeighborMtuDiscards", "PortLluRxIcrcError", "PortTxParityError",
}

// NewPacketCounters returns the request for a port's counters.
func NewPacketCounters(p LocalPort) *PacketCounters {
	return &PacketCounters{CounterIndex: CounterIndex{p, groupPackets}}
}

// MarshalJSON writes the fields as an object; see package mad.
func (r PacketCounters) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *PacketCounters) Layout(c *mad.Codec) {
	r.layout(c)
	for i, name := range packetCounterNames {
		count(c, &r.Values[i], 0x08+8*i, name)
	}
}

// DieCounters are the counters of a link between the dies of a device. The register tables of
// mstflint 4.21 declare them as internal, later tables do not have them.
type DieCounters struct {
	CounterIndex
	TimeSinceLastClear                   uint64    // milliseconds
	CorrectedBlocks, UncorrectableBlocks [8]uint64 // per lane
	LinkDowns                            uint32
}

// NewDieCounters returns the request for a port's counters.
func NewDieCounters(p LocalPort) *DieCounters {
	return &DieCounters{CounterIndex: CounterIndex{p, groupDies}}
}

// MarshalJSON writes the fields as an object; see package mad.
func (r DieCounters) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *DieCounters) Layout(c *mad.Codec) {
	r.layout(c)
	count(c, &r.TimeSinceLastClear, 0x08, "TimeSinceLastClear")
	for i := range r.CorrectedBlocks {
		count(c, &r.CorrectedBlocks[i], 0x10+8*i, correctedNames[i])
		count(c, &r.UncorrectableBlocks[i], 0x50+8*i, uncorrectableNames[i])
	}
	bits(c, &r.LinkDowns, 0x90, 0, 32, "LinkDownEvents")
}

var correctedNames, uncorrectableNames = perLane("FcFecCorrectedBlocksLane"), perLane("FcFecUncorrectableBlocksLane")
