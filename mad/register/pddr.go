package register

import "github.com/ibkit/ibkit/mad"

// Pages of PDDR.
const (
	pageOperation = 0
	pageTrouble   = 1
	pageModule    = 3
	pageLinkDown  = 6
	pageFlags     = 9
)

// A PageIndex selects a port's page in PDDR.
type PageIndex struct {
	LocalPort LocalPort
	Page      uint8
}

// layout declares the first 8 bytes, except for the unit of power in [Module].
func (i *PageIndex) layout(c *mad.Codec) {
	i.LocalPort.layout(c)
	bits(c, &i.Page, 4, 0, 8, "PageSelect")
}

// Part returns the page.
func (i PageIndex) Part() Part { return Part{IDPDDR, i} }

// Spec returns the spec of the register's first block, which has all fields.
func (PageIndex) Spec() mad.Spec { return spec(BlockSize) }

// A LinkState is a port's state in the physical layer.
type LinkState struct {
	PageIndex
	Protocol    uint8 // bit set: 1 InfiniBand, 4 Ethernet, 8 NVLink
	Negotiation uint8
	State       PhyState
	Speed       uint16 // bit set: 1 SDR to 0x100 XDR
	Width       uint16 // bit set: 1 1X, 2 2X, 4 4X
	Loopback    uint16 // bit set, 0: none
	FECRequest  uint16 // bit set of FEC values
	FEC         FEC
}

// NewLinkState returns the request for a port's state.
func NewLinkState(p LocalPort) *LinkState { return &LinkState{PageIndex: PageIndex{p, pageOperation}} }

// MarshalJSON writes the fields as an object; see package mad.
func (r LinkState) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *LinkState) Layout(c *mad.Codec) {
	r.layout(c)
	bits(c, &r.Negotiation, 0x08, 16, 4, "NegModeActive")
	bits(c, &r.Protocol, 0x08, 20, 4, "ProtoActive")
	bits(c, &r.State, 0x0c, 24, 8, "PhyMngrFsmState")
	bits(c, &r.Width, 0x1c, 16, 16, "LinkWidthActive")
	bits(c, &r.Speed, 0x1c, 0, 16, "LinkSpeedActive")
	bits(c, &r.Loopback, 0x20, 0, 12, "LoopbackMode")
	bits(c, &r.FECRequest, 0x24, 0, 16, "FecModeRequest")
	bits(c, &r.FEC, 0x24, 16, 16, "FecModeActive")
}

// A Trouble is the reason why a port's link is down, as the firmware sees it.
type Trouble struct {
	PageIndex
	Group   uint16 // 0: the physical layer's monitor
	Opcode  TroubleCode
	Message [BlockSize - 0x14]uint8 // text, which may be longer
}

// NewTrouble returns the request for a port's reason.
func NewTrouble(p LocalPort) *Trouble { return &Trouble{PageIndex: PageIndex{p, pageTrouble}} }

// MarshalJSON writes the fields as an object; see package mad.
func (r Trouble) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *Trouble) Layout(c *mad.Codec) {
	r.layout(c)
	bits(c, &r.Group, 0x08, 0, 16, "GroupOpcode")
	bits(c, &r.Opcode, 0x0c, 0, 16, "MonitorOpcode")
	text(c, r.Message[:], 0x14, "StatusMessage")
}

// A LinkDown is the cause of the last time that a port's link went down.
type LinkDown struct {
	PageIndex
	Blame  Blame
	Intent uint8 // 4 bits
	Local  DownReason
	Remote DownReason
	End    DownReason // for both ends

	SymbolAlarms, RawAlarms, EffectiveAlarms uint16 // BER alarms before the link went down
}

// NewLinkDown returns the request for a port's last cause.
func NewLinkDown(p LocalPort) *LinkDown { return &LinkDown{PageIndex: PageIndex{p, pageLinkDown}} }

// MarshalJSON writes the fields as an object; see package mad.
func (r LinkDown) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *LinkDown) Layout(c *mad.Codec) {
	r.layout(c)
	bits(c, &r.Blame, 0x08, 0, 4, "DownBlame")
	bits(c, &r.Intent, 0x08, 4, 4, "DownIntent")
	bits(c, &r.Local, 0x0c, 0, 8, "LocalReasonOpcode")
	bits(c, &r.Remote, 0x10, 0, 8, "RemoteReasonOpcode")
	bits(c, &r.End, 0x14, 0, 8, "E2eReasonOpcode")
	bits(c, &r.SymbolAlarms, 0x18, 0, 16, "NumOfSymbolBerAlarms")
	bits(c, &r.RawAlarms, 0x20, 0, 16, "NumOfRawBerAlarms")
	bits(c, &r.EffectiveAlarms, 0x20, 16, 16, "NumOfEffBerAlarms")
}

// ModuleFlags are a module's latched alarms, each since it was last read. The lane masks
// have lane 0 in bit 0.
type ModuleFlags struct {
	PageIndex
	ModuleFault, DataPathFault uint8 // firmware faults
	Temperature, Voltage       uint8 // 4 bits: high alarm, low alarm, high warning, low warning
	TxFault, TxLOS, TxLOL      uint8 // lane masks; LOS: loss of signal, LOL: loss of lock
	TxEQFault                  uint8
	RxLOS, RxLOL               uint8
	TxPowerHigh, TxPowerLow    uint8 // alarms
	BiasHigh, BiasLow          uint8
	RxPowerHigh, RxPowerLow    uint8
}

// NewModuleFlags returns the request for the alarms of a port's module.
func NewModuleFlags(p LocalPort) *ModuleFlags {
	return &ModuleFlags{PageIndex: PageIndex{p, pageFlags}}
}

// MarshalJSON writes the fields as an object; see package mad.
func (r ModuleFlags) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *ModuleFlags) Layout(c *mad.Codec) {
	r.layout(c)
	bits(c, &r.DataPathFault, 0x08, 22, 1, "DpFwFault")
	bits(c, &r.ModuleFault, 0x08, 23, 1, "ModFwFault")
	bits(c, &r.Voltage, 0x08, 24, 4, "VccFlags")
	bits(c, &r.Temperature, 0x08, 28, 4, "TempFlags")
	bits(c, &r.TxEQFault, 0x0c, 0, 8, "TxAdEqFault")
	bits(c, &r.TxLOL, 0x0c, 8, 8, "TxCdrLol")
	bits(c, &r.TxLOS, 0x0c, 16, 8, "TxLos")
	bits(c, &r.TxFault, 0x0c, 24, 8, "TxFault")
	bits(c, &r.TxPowerLow, 0x10, 16, 8, "TxPowerLoAl")
	bits(c, &r.TxPowerHigh, 0x10, 24, 8, "TxPowerHiAl")
	bits(c, &r.BiasLow, 0x14, 16, 8, "TxBiasLoAl")
	bits(c, &r.BiasHigh, 0x14, 24, 8, "TxBiasHiAl")
	bits(c, &r.RxLOL, 0x18, 16, 8, "RxCdrLol")
	bits(c, &r.RxLOS, 0x18, 24, 8, "RxLos")
	bits(c, &r.RxPowerLow, 0x1c, 16, 8, "RxPowerLoAl")
	bits(c, &r.RxPowerHigh, 0x1c, 24, 8, "RxPowerHiAl")
}
