package mad

// PortRcvErrorDetails counts RcvErrors by cause (InfiniBand Architecture, Volume
// 1, 16.1.4.4).
type PortRcvErrorDetails struct {
	PortSelection
	LocalPhysicalErrors uint16
	MalformedPktErrors  uint16
	BufferOverrunErrors uint16
	DLIDMappingErrors   uint16 // switches: no such destination
	VLMappingErrors     uint16 // switches: no lane for the service level
	LoopingErrors       uint16 // switches: output port equal to the input port
}

// Spec returns the AttrPortRcvErrorDetails spec.
func (*PortRcvErrorDetails) Spec() Spec { return perfSpec(AttrPortRcvErrorDetails) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortRcvErrorDetails) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortRcvErrorDetails) Layout(c *Codec) {
	a.selection(c)
	Bits(c, &a.LocalPhysicalErrors, 32, 16, "PortLocalPhysicalErrors", Decimal)
	Bits(c, &a.MalformedPktErrors, 48, 16, "PortMalformedPktErrors", Decimal)
	Bits(c, &a.BufferOverrunErrors, 64, 16, "PortBufferOverrunErrors", Decimal)
	Bits(c, &a.DLIDMappingErrors, 80, 16, "PortDLIDMappingErrors", Decimal)
	Bits(c, &a.VLMappingErrors, 96, 16, "PortVLMappingErrors", Decimal)
	Bits(c, &a.LoopingErrors, 112, 16, "PortLoopingErrors", Decimal)
}

// PortXmitDiscardDetails counts XmitDiscards by cause (16.1.4.5).
type PortXmitDiscardDetails struct {
	PortSelection
	InactiveDiscards           uint16 // the link was down
	NeighborMTUDiscards        uint16 // longer than NeighborMTU
	SwLifetimeLimitDiscards    uint16 // too long in the switch
	SwHOQLifetimeLimitDiscards uint16 // too long at the queue's head
}

// Spec returns the AttrPortXmitDiscardDetails spec.
func (*PortXmitDiscardDetails) Spec() Spec { return perfSpec(AttrPortXmitDiscardDetails) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortXmitDiscardDetails) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortXmitDiscardDetails) Layout(c *Codec) {
	a.selection(c)
	Bits(c, &a.InactiveDiscards, 32, 16, "PortInactiveDiscards", Decimal)
	Bits(c, &a.NeighborMTUDiscards, 48, 16, "PortNeighborMTUDiscards", Decimal)
	Bits(c, &a.SwLifetimeLimitDiscards, 64, 16, "PortSwLifetimeLimitDiscards", Decimal)
	Bits(c, &a.SwHOQLifetimeLimitDiscards, 80, 16, "PortSwHOQLifetimeLimitDiscards", Decimal)
}

// PortOpRcvCounters counts packets and data received with an operation code that
// the agent selects (16.1.4.6).
type PortOpRcvCounters struct {
	PortSelection
	Pkts uint32
	Data uint32 // 4-byte units
}

// Spec returns the AttrPortOpRcvCounters spec.
func (*PortOpRcvCounters) Spec() Spec { return perfSpec(AttrPortOpRcvCounters) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortOpRcvCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortOpRcvCounters) Layout(c *Codec) {
	a.selection(c)
	Bits(c, &a.Pkts, 32, 32, "PortOpRcvPkts", Decimal)
	Bits(c, &a.Data, 64, 32, "PortOpRcvData", Decimal)
}

// PortFlowCtlCounters counts link-level flow control packets (16.1.4.7).
type PortFlowCtlCounters struct {
	PortSelection
	XmitPkts uint32
	RcvPkts  uint32
}

// Spec returns the AttrPortFlowCtlCounters spec.
func (*PortFlowCtlCounters) Spec() Spec { return perfSpec(AttrPortFlowCtlCounters) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortFlowCtlCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortFlowCtlCounters) Layout(c *Codec) {
	a.selection(c)
	Bits(c, &a.XmitPkts, 32, 32, "PortXmitFlowPkts", Decimal)
	Bits(c, &a.RcvPkts, 64, 32, "PortRcvFlowPkts", Decimal)
}

// A PortRcvConCtrl counts received congestion marks (A10.5.1).
type PortRcvConCtrl struct {
	PortSelection
	FECN uint32 // forward: marked on the packet's path
	BECN uint32 // backward: reported by its receiver
}

// Spec returns the AttrPortRcvConCtrl spec.
func (*PortRcvConCtrl) Spec() Spec { return perfSpec(AttrPortRcvConCtrl) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortRcvConCtrl) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortRcvConCtrl) Layout(c *Codec) {
	a.selection(c)
	Bits(c, &a.FECN, 32, 32, "PortPktRcvFECN", Decimal)
	Bits(c, &a.BECN, 64, 32, "PortPktRcvBECN", Decimal)
}

// A PortXmitConCtrl is the time for which a port was congested (A10.5.4).
type PortXmitConCtrl struct {
	PortSelection
	TimeCong uint32
}

// Spec returns the AttrPortXmitConCtrl spec.
func (*PortXmitConCtrl) Spec() Spec { return perfSpec(AttrPortXmitConCtrl) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortXmitConCtrl) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortXmitConCtrl) Layout(c *Codec) {
	a.selection(c)
	Bits(c, &a.TimeCong, 32, 32, "PortXmitTimeCong", Decimal)
}
