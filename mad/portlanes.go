package mad

// A PortXmitDataSL counts sent data by service level, in 4-byte units.
type PortXmitDataSL struct {
	PortSelection
	SL [16]uint32
}

// Spec returns the AttrPortXmitDataSL spec.
func (*PortXmitDataSL) Spec() Spec { return perfSpec(AttrPortXmitDataSL) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortXmitDataSL) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortXmitDataSL) Layout(c *Codec) {
	a.selection(c)
	Array(c, a.SL[:], 32, 32, "XmtDataSL", Lines)
}

// A PortRcvDataSL counts received data by service level, in 4-byte units.
type PortRcvDataSL struct {
	PortSelection
	SL [16]uint32
}

// Spec returns the AttrPortRcvDataSL spec.
func (*PortRcvDataSL) Spec() Spec { return perfSpec(AttrPortRcvDataSL) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortRcvDataSL) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortRcvDataSL) Layout(c *Codec) {
	a.selection(c)
	Array(c, a.SL[:], 32, 32, "RcvDataSL", Lines)
}

// A PortVLOpPackets counts packets received with an operation code by virtual lane.
type PortVLOpPackets struct {
	PortSelection
	VL [16]uint16
}

// Spec returns the AttrPortVLOpPackets spec.
func (*PortVLOpPackets) Spec() Spec { return perfSpec(AttrPortVLOpPackets) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortVLOpPackets) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortVLOpPackets) Layout(c *Codec) {
	a.selection(c)
	Array(c, a.VL[:], 32, 16, "PortVLOpPackets", Lines)
}

// A PortVLOpData counts data received with an operation code by virtual
// lane, in 4-byte units.
type PortVLOpData struct {
	PortSelection
	VL [16]uint32
}

// Spec returns the AttrPortVLOpData spec.
func (*PortVLOpData) Spec() Spec { return perfSpec(AttrPortVLOpData) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortVLOpData) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortVLOpData) Layout(c *Codec) {
	a.selection(c)
	Array(c, a.VL[:], 32, 32, "PortVLOpData", Lines)
}

// A PortVLXmitFlowCtlUpdateErrors counts flow control errors by virtual lane, up
// to 3.
type PortVLXmitFlowCtlUpdateErrors struct {
	PortSelection
	VL [16]uint8
}

// Spec returns the AttrPortVLXmitFlowCtlUpdateErrors spec.
func (*PortVLXmitFlowCtlUpdateErrors) Spec() Spec { return perfSpec(AttrPortVLXmitFlowCtlUpdateErrors) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortVLXmitFlowCtlUpdateErrors) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortVLXmitFlowCtlUpdateErrors) Layout(c *Codec) {
	a.selection(c)
	Array(c, a.VL[:], 32, 2, "PortVLXmitFlowCtlUpdateErrors", Lines)
}

// A PortVLXmitWaitCounters counts the ticks in which data on each virtual lane waited
// and could not be sent.
type PortVLXmitWaitCounters struct {
	PortSelection
	VL [16]uint16
}

// Spec returns the AttrPortVLXmitWaitCounters spec.
func (*PortVLXmitWaitCounters) Spec() Spec { return perfSpec(AttrPortVLXmitWaitCounters) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortVLXmitWaitCounters) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortVLXmitWaitCounters) Layout(c *Codec) {
	a.selection(c)
	Array(c, a.VL[:], 32, 16, "PortVLXmitWait", Lines)
}

// A SwPortVLCongestion counts packets that a switch discarded by virtual
// lane because of congestion.
type SwPortVLCongestion struct {
	PortSelection
	VL [16]uint16
}

// Spec returns the AttrSwPortVLCongestion spec.
func (*SwPortVLCongestion) Spec() Spec { return perfSpec(AttrSwPortVLCongestion) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwPortVLCongestion) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *SwPortVLCongestion) Layout(c *Codec) {
	a.selection(c)
	Array(c, a.VL[:], 32, 16, "SWPortVLCongestion", Lines)
}

// A PortSLRcvFECN counts received forward congestion marks by service level.
type PortSLRcvFECN struct {
	PortSelection
	SL [16]uint32
}

// Spec returns the AttrPortSLRcvFECN spec.
func (*PortSLRcvFECN) Spec() Spec { return perfSpec(AttrPortSLRcvFECN) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortSLRcvFECN) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortSLRcvFECN) Layout(c *Codec) {
	a.selection(c)
	Array(c, a.SL[:], 32, 32, "PortSLRcvFECN", Lines)
}

// A PortSLRcvBECN counts received backward congestion marks by service level.
type PortSLRcvBECN struct {
	PortSelection
	SL [16]uint32
}

// Spec returns the AttrPortSLRcvBECN spec.
func (*PortSLRcvBECN) Spec() Spec { return perfSpec(AttrPortSLRcvBECN) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortSLRcvBECN) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortSLRcvBECN) Layout(c *Codec) {
	a.selection(c)
	Array(c, a.SL[:], 32, 32, "PortSLRcvBECN", Lines)
}

// A PortVLXmitTimeCong is the time for which each virtual lane was congested; lane
// 15 is never congested.
type PortVLXmitTimeCong struct {
	PortSelection
	VL [15]uint32
}

// Spec returns the AttrPortVLXmitTimeCong spec.
func (*PortVLXmitTimeCong) Spec() Spec { return perfSpec(AttrPortVLXmitTimeCong) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortVLXmitTimeCong) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortVLXmitTimeCong) Layout(c *Codec) {
	a.selection(c)
	Array(c, a.VL[:], 32, 32, "PortVLXmitTimeCong", Lines)
}
