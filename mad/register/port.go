package register

import "github.com/ibkit/ibkit/mad"

// A PortNumber translates a switch's local port into the InfiniBand port number.
type PortNumber struct {
	LocalPort LocalPort
	Port      uint16 // 10 bits; 0: no InfiniBand port
	Split     uint8
}

// Part returns the register's number and index.
func (r *PortNumber) Part() Part { return Part{IDPLIB, r.LocalPort} }

// Spec returns the register's spec.
func (*PortNumber) Spec() mad.Spec { return spec(0x10) }

// MarshalJSON writes the fields as an object; see package mad.
func (r PortNumber) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *PortNumber) Layout(c *mad.Codec) {
	r.LocalPort.layout(c)
	bits(c, &r.Port, 0x00, 0, 10, "IbPort")
	bits(c, &r.Split, 0x04, 0, 4, "SplitNum")
}

// A LaneMapping has the module and the module's lanes that a port uses.
type LaneMapping struct {
	LocalPort LocalPort
	Width     uint8 // lanes
	Lanes     [8]ModuleLane
}

// A ModuleLane is a lane's place in the modules.
type ModuleLane struct {
	Module, Slot, Tx, Rx uint8
}

// Part returns the register's number and index.
func (r *LaneMapping) Part() Part { return Part{IDPMLP, r.LocalPort} }

// Spec returns the register's spec.
func (*LaneMapping) Spec() mad.Spec { return spec(0x40) }

// MarshalJSON writes the fields as an object; see package mad.
func (r LaneMapping) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *LaneMapping) Layout(c *mad.Codec) {
	r.LocalPort.layout(c)
	bits(c, &r.Width, 0x00, 0, 8, "Width")
	for i := range r.Lanes {
		l := &r.Lanes[i]
		bits(c, &l.Module, 0x04+4*i, 0, 8, moduleNames[i])
		bits(c, &l.Slot, 0x04+4*i, 8, 4, slotNames[i])
		bits(c, &l.Tx, 0x04+4*i, 16, 4, txLaneNames[i])
		bits(c, &l.Rx, 0x04+4*i, 24, 4, rxLaneNames[i])
	}
}

var (
	moduleNames = perLane("Module_")
	slotNames   = perLane("SlotIndex_")
	txLaneNames = perLane("TxLane_")
	rxLaneNames = perLane("RxLane_")
)

// A PortStatus has a port's states.
type PortStatus struct {
	LocalPort LocalPort
	Oper      uint8 // 1 up, 2 down
	Admin     uint8 // 1 up, 2 down by configuration
	Physical  uint8 // as in PortInfo
	Logical   uint8 // as in PortInfo
}

// Part returns the register's number and index.
func (r *PortStatus) Part() Part { return Part{IDPAOS, r.LocalPort} }

// Spec returns the register's spec.
func (*PortStatus) Spec() mad.Spec { return spec(0x10) }

// MarshalJSON writes the fields as an object; see package mad.
func (r PortStatus) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *PortStatus) Layout(c *mad.Codec) {
	r.LocalPort.layout(c)
	bits(c, &r.Oper, 0x00, 0, 4, "OperStatus")
	bits(c, &r.Admin, 0x00, 8, 4, "AdminStatus")
	bits(c, &r.Physical, 0x04, 4, 4, "PhysicalStateStatus")
	bits(c, &r.Logical, 0x04, 16, 3, "LogicalStateStatus")
}

// LinkRates are a port's speeds and widths as bit sets: 1 SDR to 0x100 XDR, and 1 1X, 2 2X,
// 4 4X.
type LinkRates struct {
	LocalPort LocalPort
	Protocol  uint8 // 1: InfiniBand, 4: Ethernet

	Rate                           uint16 // in use, 100 Mb/s
	SpeedSupported, WidthSupported uint16
	SpeedEnabled, WidthEnabled     uint16
	SpeedActive, WidthActive       uint16
	LaneRate                       uint32 // in use, 20 bits
}

// NewLinkRates returns the request for an InfiniBand port's rates.
func NewLinkRates(p LocalPort) *LinkRates { return &LinkRates{LocalPort: p, Protocol: 1} }

// Part returns the register's number and index.
func (r *LinkRates) Part() Part {
	return Part{IDPTYS, [2]uint16{uint16(r.LocalPort), uint16(r.Protocol)}}
}

// Spec returns the register's spec.
func (*LinkRates) Spec() mad.Spec { return spec(0x44) }

// MarshalJSON writes the fields as an object; see package mad.
func (r LinkRates) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *LinkRates) Layout(c *mad.Codec) {
	r.LocalPort.layout(c)
	bits(c, &r.Protocol, 0x00, 0, 3, "ProtoMask")
	bits(c, &r.Rate, 0x04, 0, 16, "DataRateOper")
	bits(c, &r.SpeedSupported, 0x10, 0, 16, "IbProtoCapability")
	bits(c, &r.WidthSupported, 0x10, 16, 16, "IbLinkWidthCapability")
	bits(c, &r.SpeedEnabled, 0x1c, 0, 16, "IbProtoAdmin")
	bits(c, &r.WidthEnabled, 0x1c, 16, 16, "IbLinkWidthAdmin")
	bits(c, &r.SpeedActive, 0x28, 0, 16, "IbProtoOper")
	bits(c, &r.WidthActive, 0x28, 16, 16, "IbLinkWidthOper")
	bits(c, &r.LaneRate, 0x2c, 4, 20, "LaneRateOper")
}

// ActiveFEC is a port's forward error correction as a bit set of [FEC] values.
type ActiveFEC struct {
	LocalPort LocalPort
	Mask      uint32 // 24 bits
}

// Part returns the register's number and index.
func (r *ActiveFEC) Part() Part { return Part{IDPPLM, r.LocalPort} }

// Spec returns the register's spec.
func (*ActiveFEC) Spec() mad.Spec { return spec(0x78) }

// MarshalJSON writes the fields as an object; see package mad.
func (r ActiveFEC) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *ActiveFEC) Layout(c *mad.Codec) {
	r.LocalPort.layout(c)
	bits(c, &r.Mask, 0x0c, 0, 24, "FecModeActive")
}

// A ModuleStatus has a connector's state.
type ModuleStatus struct {
	Module uint8
	Slot   uint8
	Oper   uint8 // 1 plugged and enabled, 2 unplugged, 3 error, 4 disabled
	Admin  uint8
	Error  uint8 // for Oper 3
}

// Part returns the register's number and index.
func (r *ModuleStatus) Part() Part { return Part{IDPMAOS, [2]uint8{r.Module, r.Slot}} }

// Spec returns the register's spec.
func (*ModuleStatus) Spec() mad.Spec { return spec(0x10) }

// MarshalJSON writes the fields as an object; see package mad.
func (r ModuleStatus) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *ModuleStatus) Layout(c *mad.Codec) {
	bits(c, &r.Oper, 0x00, 0, 4, "OperStatus")
	bits(c, &r.Admin, 0x00, 8, 4, "AdminStatus")
	bits(c, &r.Module, 0x00, 16, 8, "Module")
	bits(c, &r.Slot, 0x00, 24, 4, "SlotIndex")
	bits(c, &r.Error, 0x04, 8, 5, "ErrorType")
}
