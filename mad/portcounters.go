package mad

// PortCounters are each port's counters (InfiniBand Architecture, Volume 1, 16.1.3.5).
// A counter at its field's largest value stays there until it is set to 0.
//
// libibmad (rdma-core 65) prints VL15Dropped in place of QP1Dropped because its
// table uses another convention for that field's offset. The offset here is from
// ib_port_counters_t in iba_types.h.
type PortCounters struct {
	PortSelection
	CounterSelect2 uint8 // continues CounterSelect: PortXmitWait, QP1Dropped

	SymbolErrors           uint16 // minor link errors on any lane
	LinkErrorRecovery      uint8  // successful retrainings
	LinkDowned             uint8  // failed retrainings
	RcvErrors              uint16 // packets with an error
	RcvRemotePhysErrors    uint16 // packets marked bad by an earlier hop
	RcvSwitchRelayErrors   uint16 // packets that a switch could not forward
	XmitDiscards           uint16 // packets that could not be sent: link down or congested
	XmitConstraintErrors   uint8
	RcvConstraintErrors    uint8
	LocalLinkIntegrity     uint8 // 4 bits; times that PortInfo.LocalPhysErrors was exceeded
	ExcessiveBufferOverrun uint8 // 4 bits; times that PortInfo.OverrunErrors was exceeded
	QP1Dropped             uint16
	VL15Dropped            uint16 // management packets dropped for lack of buffers
	XmitData               uint32 // 4-byte units, without link headers
	RcvData                uint32 // 4-byte units
	XmitPkts               uint32
	RcvPkts                uint32
	XmitWait               uint32 // ticks in which data waited and could not be sent
}

// Spec returns the AttrPortCounters spec.
func (*PortCounters) Spec() Spec { return perfSpec(AttrPortCounters) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortCounters) Layout(c *Codec) {
	a.selection(c)
	Bits(c, &a.SymbolErrors, 32, 16, "SymbolErrorCounter", Decimal)
	Bits(c, &a.LinkErrorRecovery, 48, 8, "LinkErrorRecoveryCounter", Decimal)
	Bits(c, &a.LinkDowned, 56, 8, "LinkDownedCounter", Decimal)
	Bits(c, &a.RcvErrors, 64, 16, "PortRcvErrors", Decimal)
	Bits(c, &a.RcvRemotePhysErrors, 80, 16, "PortRcvRemotePhysicalErrors", Decimal)
	Bits(c, &a.RcvSwitchRelayErrors, 96, 16, "PortRcvSwitchRelayErrors", Decimal)
	Bits(c, &a.XmitDiscards, 112, 16, "PortXmitDiscards", Decimal)
	Bits(c, &a.XmitConstraintErrors, 128, 8, "PortXmitConstraintErrors", Decimal)
	Bits(c, &a.RcvConstraintErrors, 136, 8, "PortRcvConstraintErrors", Decimal)
	Bits(c, &a.CounterSelect2, 144, 8, "CounterSelect2", Hex)
	Bits(c, &a.LocalLinkIntegrity, 152, 4, "LocalLinkIntegrityErrors", Decimal)
	Bits(c, &a.ExcessiveBufferOverrun, 156, 4, "ExcessiveBufferOverrunErrors", Decimal)
	Bits(c, &a.QP1Dropped, 160, 16, "QP1Dropped", Decimal)
	Bits(c, &a.VL15Dropped, 176, 16, "VL15Dropped", Decimal)
	Bits(c, &a.XmitData, 192, 32, "PortXmitData", Decimal)
	Bits(c, &a.RcvData, 224, 32, "PortRcvData", Decimal)
	Bits(c, &a.XmitPkts, 256, 32, "PortXmitPkts", Decimal)
	Bits(c, &a.RcvPkts, 288, 32, "PortRcvPkts", Decimal)
	Bits(c, &a.XmitWait, 320, 32, "PortXmitWait", Decimal)
}
