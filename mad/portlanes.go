package mad

// A PortXmitDataSL counts sent data by service level, in units of 4 bytes.
type PortXmitDataSL struct {
	PortSelection
	SL [16]uint32
}

// ID returns AttrPortXmitDataSL.
func (*PortXmitDataSL) ID() AttrID { return AttrPortXmitDataSL }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortXmitDataSL) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortXmitDataSL) fields(c *codec) {
	a.selection(c)
	array(c, a.SL[:], 32, 32, "XmtDataSL", lines)
}

// A PortRcvDataSL counts received data by service level, in units of 4 bytes.
type PortRcvDataSL struct {
	PortSelection
	SL [16]uint32
}

// ID returns AttrPortRcvDataSL.
func (*PortRcvDataSL) ID() AttrID { return AttrPortRcvDataSL }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortRcvDataSL) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortRcvDataSL) fields(c *codec) {
	a.selection(c)
	array(c, a.SL[:], 32, 32, "RcvDataSL", lines)
}

// A PortVLOpPackets counts packets received with one operation code by virtual
// lane.
type PortVLOpPackets struct {
	PortSelection
	VL [16]uint16
}

// ID returns AttrPortVLOpPackets.
func (*PortVLOpPackets) ID() AttrID { return AttrPortVLOpPackets }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortVLOpPackets) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortVLOpPackets) fields(c *codec) {
	a.selection(c)
	array(c, a.VL[:], 32, 16, "PortVLOpPackets", lines)
}

// A PortVLOpData counts data received with one operation code by virtual lane, in
// units of 4 bytes.
type PortVLOpData struct {
	PortSelection
	VL [16]uint32
}

// ID returns AttrPortVLOpData.
func (*PortVLOpData) ID() AttrID { return AttrPortVLOpData }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortVLOpData) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortVLOpData) fields(c *codec) {
	a.selection(c)
	array(c, a.VL[:], 32, 32, "PortVLOpData", lines)
}

// A PortVLXmitFlowCtlUpdateErrors counts flow control errors by virtual lane, up
// to 3.
type PortVLXmitFlowCtlUpdateErrors struct {
	PortSelection
	VL [16]uint8
}

// ID returns AttrPortVLXmitFlowCtlUpdateErrors.
func (*PortVLXmitFlowCtlUpdateErrors) ID() AttrID { return AttrPortVLXmitFlowCtlUpdateErrors }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortVLXmitFlowCtlUpdateErrors) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortVLXmitFlowCtlUpdateErrors) fields(c *codec) {
	a.selection(c)
	array(c, a.VL[:], 32, 2, "PortVLXmitFlowCtlUpdateErrors", lines)
}

// A PortVLXmitWaitCounters counts the ticks in which data of each virtual lane
// waited and could not be sent.
type PortVLXmitWaitCounters struct {
	PortSelection
	VL [16]uint16
}

// ID returns AttrPortVLXmitWaitCounters.
func (*PortVLXmitWaitCounters) ID() AttrID { return AttrPortVLXmitWaitCounters }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortVLXmitWaitCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortVLXmitWaitCounters) fields(c *codec) {
	a.selection(c)
	array(c, a.VL[:], 32, 16, "PortVLXmitWait", lines)
}

// A SwPortVLCongestion counts packets that a switch discarded by virtual
// lane because of congestion.
type SwPortVLCongestion struct {
	PortSelection
	VL [16]uint16
}

// ID returns AttrSwPortVLCongestion.
func (*SwPortVLCongestion) ID() AttrID { return AttrSwPortVLCongestion }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwPortVLCongestion) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *SwPortVLCongestion) fields(c *codec) {
	a.selection(c)
	array(c, a.VL[:], 32, 16, "SWPortVLCongestion", lines)
}

// A PortSLRcvFECN counts received marks of forward congestion by service
// level.
type PortSLRcvFECN struct {
	PortSelection
	SL [16]uint32
}

// ID returns AttrPortSLRcvFECN.
func (*PortSLRcvFECN) ID() AttrID { return AttrPortSLRcvFECN }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortSLRcvFECN) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortSLRcvFECN) fields(c *codec) {
	a.selection(c)
	array(c, a.SL[:], 32, 32, "PortSLRcvFECN", lines)
}

// A PortSLRcvBECN counts received marks of backward congestion by service
// level.
type PortSLRcvBECN struct {
	PortSelection
	SL [16]uint32
}

// ID returns AttrPortSLRcvBECN.
func (*PortSLRcvBECN) ID() AttrID { return AttrPortSLRcvBECN }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortSLRcvBECN) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortSLRcvBECN) fields(c *codec) {
	a.selection(c)
	array(c, a.SL[:], 32, 32, "PortSLRcvBECN", lines)
}

// A PortVLXmitTimeCong is the time for which each virtual lane was congested; lane
// 15 is never congested.
type PortVLXmitTimeCong struct {
	PortSelection
	VL [15]uint32
}

// ID returns AttrPortVLXmitTimeCong.
func (*PortVLXmitTimeCong) ID() AttrID { return AttrPortVLXmitTimeCong }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortVLXmitTimeCong) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortVLXmitTimeCong) fields(c *codec) {
	a.selection(c)
	array(c, a.VL[:], 32, 32, "PortVLXmitTimeCong", lines)
}
