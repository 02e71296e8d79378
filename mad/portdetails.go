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

// ID returns AttrPortRcvErrorDetails.
func (*PortRcvErrorDetails) ID() AttrID { return AttrPortRcvErrorDetails }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortRcvErrorDetails) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortRcvErrorDetails) fields(c *codec) {
	a.selection(c)
	bits(c, &a.LocalPhysicalErrors, 32, 16, "PortLocalPhysicalErrors", decimal)
	bits(c, &a.MalformedPktErrors, 48, 16, "PortMalformedPktErrors", decimal)
	bits(c, &a.BufferOverrunErrors, 64, 16, "PortBufferOverrunErrors", decimal)
	bits(c, &a.DLIDMappingErrors, 80, 16, "PortDLIDMappingErrors", decimal)
	bits(c, &a.VLMappingErrors, 96, 16, "PortVLMappingErrors", decimal)
	bits(c, &a.LoopingErrors, 112, 16, "PortLoopingErrors", decimal)
}

// PortXmitDiscardDetails counts XmitDiscards by cause (16.1.4.5).
type PortXmitDiscardDetails struct {
	PortSelection
	InactiveDiscards           uint16 // the link was down
	NeighborMTUDiscards        uint16 // longer than NeighborMTU
	SwLifetimeLimitDiscards    uint16 // too long in the switch
	SwHOQLifetimeLimitDiscards uint16 // too long at the head of the queue
}

// ID returns AttrPortXmitDiscardDetails.
func (*PortXmitDiscardDetails) ID() AttrID { return AttrPortXmitDiscardDetails }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortXmitDiscardDetails) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortXmitDiscardDetails) fields(c *codec) {
	a.selection(c)
	bits(c, &a.InactiveDiscards, 32, 16, "PortInactiveDiscards", decimal)
	bits(c, &a.NeighborMTUDiscards, 48, 16, "PortNeighborMTUDiscards", decimal)
	bits(c, &a.SwLifetimeLimitDiscards, 64, 16, "PortSwLifetimeLimitDiscards", decimal)
	bits(c, &a.SwHOQLifetimeLimitDiscards, 80, 16, "PortSwHOQLifetimeLimitDiscards", decimal)
}

// PortOpRcvCounters counts packets and data received with an operation code that
// the agent selects (16.1.4.6).
type PortOpRcvCounters struct {
	PortSelection
	Pkts uint32
	Data uint32 // units of 4 bytes
}

// ID returns AttrPortOpRcvCounters.
func (*PortOpRcvCounters) ID() AttrID { return AttrPortOpRcvCounters }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortOpRcvCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortOpRcvCounters) fields(c *codec) {
	a.selection(c)
	bits(c, &a.Pkts, 32, 32, "PortOpRcvPkts", decimal)
	bits(c, &a.Data, 64, 32, "PortOpRcvData", decimal)
}

// PortFlowCtlCounters counts packets of link-level flow control (16.1.4.7).
type PortFlowCtlCounters struct {
	PortSelection
	XmitPkts uint32
	RcvPkts  uint32
}

// ID returns AttrPortFlowCtlCounters.
func (*PortFlowCtlCounters) ID() AttrID { return AttrPortFlowCtlCounters }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortFlowCtlCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortFlowCtlCounters) fields(c *codec) {
	a.selection(c)
	bits(c, &a.XmitPkts, 32, 32, "PortXmitFlowPkts", decimal)
	bits(c, &a.RcvPkts, 64, 32, "PortRcvFlowPkts", decimal)
}

// A PortRcvConCtrl counts received marks of congestion (A10.5.1).
type PortRcvConCtrl struct {
	PortSelection
	FECN uint32 // forward: marked on the path of the packet
	BECN uint32 // backward: reported by its receiver
}

// ID returns AttrPortRcvConCtrl.
func (*PortRcvConCtrl) ID() AttrID { return AttrPortRcvConCtrl }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortRcvConCtrl) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortRcvConCtrl) fields(c *codec) {
	a.selection(c)
	bits(c, &a.FECN, 32, 32, "PortPktRcvFECN", decimal)
	bits(c, &a.BECN, 64, 32, "PortPktRcvBECN", decimal)
}

// A PortXmitConCtrl is the time for which a port was congested (A10.5.4).
type PortXmitConCtrl struct {
	PortSelection
	TimeCong uint32
}

// ID returns AttrPortXmitConCtrl.
func (*PortXmitConCtrl) ID() AttrID { return AttrPortXmitConCtrl }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortXmitConCtrl) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortXmitConCtrl) fields(c *codec) {
	a.selection(c)
	bits(c, &a.TimeCong, 32, 32, "PortXmitTimeCong", decimal)
}
