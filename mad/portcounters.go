package mad

// PortCounters are the counters of each port (InfiniBand Architecture, Volume 1,
// 16.1.3.5). A counter at the largest value of its field stays there until it is
// set to 0.
//
// libibmad (rdma-core 65) prints VL15Dropped in place of QP1Dropped because its
// table uses another convention for the offset of that field. The offset here is
// from ib_port_counters_t of iba_types.h.
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
	XmitData               uint32 // units of 4 bytes, without link headers
	RcvData                uint32 // units of 4 bytes
	XmitPkts               uint32
	RcvPkts                uint32
	XmitWait               uint32 // ticks in which data waited and could not be sent
}

// ID returns AttrPortCounters.
func (*PortCounters) ID() AttrID { return AttrPortCounters }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortCounters) fields(c *codec) {
	a.selection(c)
	bits(c, &a.SymbolErrors, 32, 16, "SymbolErrorCounter", decimal)
	bits(c, &a.LinkErrorRecovery, 48, 8, "LinkErrorRecoveryCounter", decimal)
	bits(c, &a.LinkDowned, 56, 8, "LinkDownedCounter", decimal)
	bits(c, &a.RcvErrors, 64, 16, "PortRcvErrors", decimal)
	bits(c, &a.RcvRemotePhysErrors, 80, 16, "PortRcvRemotePhysicalErrors", decimal)
	bits(c, &a.RcvSwitchRelayErrors, 96, 16, "PortRcvSwitchRelayErrors", decimal)
	bits(c, &a.XmitDiscards, 112, 16, "PortXmitDiscards", decimal)
	bits(c, &a.XmitConstraintErrors, 128, 8, "PortXmitConstraintErrors", decimal)
	bits(c, &a.RcvConstraintErrors, 136, 8, "PortRcvConstraintErrors", decimal)
	bits(c, &a.CounterSelect2, 144, 8, "CounterSelect2", hexa)
	bits(c, &a.LocalLinkIntegrity, 152, 4, "LocalLinkIntegrityErrors", decimal)
	bits(c, &a.ExcessiveBufferOverrun, 156, 4, "ExcessiveBufferOverrunErrors", decimal)
	bits(c, &a.QP1Dropped, 160, 16, "QP1Dropped", decimal)
	bits(c, &a.VL15Dropped, 176, 16, "VL15Dropped", decimal)
	bits(c, &a.XmitData, 192, 32, "PortXmitData", decimal)
	bits(c, &a.RcvData, 224, 32, "PortRcvData", decimal)
	bits(c, &a.XmitPkts, 256, 32, "PortXmitPkts", decimal)
	bits(c, &a.RcvPkts, 288, 32, "PortRcvPkts", decimal)
	bits(c, &a.XmitWait, 320, 32, "PortXmitWait", decimal)
}
