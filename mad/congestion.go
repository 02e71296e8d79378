package mad

// Congestion control attributes (InfiniBand Architecture, Volume 1, A10.4.3). Other
// classes use the same numbers for other attributes.
const (
	AttrCongestionInfo              AttrID = 0x0011
	AttrCongestionKeyInfo           AttrID = 0x0012
	AttrCongestionLog               AttrID = 0x0013
	AttrSwitchCongestionSetting     AttrID = 0x0014
	AttrSwitchPortCongestionSetting AttrID = 0x0015
	AttrCACongestionSetting         AttrID = 0x0016
	AttrCongestionControlTable      AttrID = 0x0017
	AttrTimeStamp                   AttrID = 0x0018
)

var congestionAttributes = map[AttrID]attrKind{
	AttrClassPortInfo:               kind[ClassPortInfo]("ClassPortInfo"),
	AttrNotice:                      {name: "Notice"},
	AttrCongestionInfo:              kind[CongestionInfo]("CongestionInfo"),
	AttrCongestionKeyInfo:           kind[CongestionKeyInfo]("CongestionKeyInfo"),
	AttrCongestionLog:               kind[CongestionLog]("CongestionLog"),
	AttrSwitchCongestionSetting:     kind[SwitchCongestionSetting]("SwitchCongestionSetting"),
	AttrSwitchPortCongestionSetting: kind[SwitchPortCongestionSetting]("SwitchPortCongestionSetting"),
	AttrCACongestionSetting:         kind[CACongestionSetting]("CACongestionSetting"),
	AttrCongestionControlTable:      kind[CongestionControlTable]("CongestionControlTable"),
	AttrTimeStamp:                   kind[TimeStamp]("TimeStamp"),
}

// Congestion control attribute data lengths in bytes (A10.4.1). The log uses a larger
// range that begins earlier in the packet.
const (
	congestionDataSize = 192
	congestionLogSize  = 224
)

func congestionSpec(id AttrID) Spec { return Spec{ClassCC, id, congestionDataSize, 0} }

// CongestionCreditStarvation is the CongestionInfo.Info bit by which a switch reports
// support for credit starvation.
const CongestionCreditStarvation = 1

// A CongestionInfo describes the capabilities of a congestion control agent
// (A10.4.3.3).
type CongestionInfo struct {
	Info            uint16 // CongestionCreditStarvation
	ControlTableCap uint8  // 64-entry blocks in a channel adapter's congestion control table
}

// Spec returns the AttrCongestionInfo spec.
func (*CongestionInfo) Spec() Spec { return congestionSpec(AttrCongestionInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a CongestionInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *CongestionInfo) Layout(c *Codec) {
	Bits(c, &a.Info, 0, 16, "CongestionInfo", Hex)
	Bits(c, &a.ControlTableCap, 16, 8, "ControlTableCap", Decimal)
}

// A CongestionKeyInfo is a port's CC_Key and its protection (A10.4.3.4).
type CongestionKeyInfo struct {
	Key         Key
	ProtectBit  uint8  // 1 bit; 1: Get returns the key only to requesters that have it
	LeasePeriod uint16 // seconds until ProtectBit is cleared after a violation; 0: never
	Violations  uint16 // requests with a wrong key
}

// Spec returns the AttrCongestionKeyInfo spec.
func (*CongestionKeyInfo) Spec() Spec { return congestionSpec(AttrCongestionKeyInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a CongestionKeyInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *CongestionKeyInfo) Layout(c *Codec) {
	Bits(c, &a.Key, 0, 64, "CC_Key", Secret)
	Bits(c, &a.ProtectBit, 64, 1, "CC_KeyProtectBit", Decimal)
	Bits(c, &a.LeasePeriod, 80, 16, "CC_KeyLeasePeriod", Decimal)
	Bits(c, &a.Violations, 96, 16, "CC_KeyViolations", Decimal)
}

// A PortMask selects switch ports. The last bit in the last byte is port 0.
type PortMask [32]uint8

// Has reports whether the mask selects a port.
func (m *PortMask) Has(port uint8) bool { return m[31-port/8]>>(port%8)&1 != 0 }

// Add selects a port.
func (m *PortMask) Add(port uint8) { m[31-port/8] |= 1 << (port % 8) }

// Ports returns the selected ports in ascending order; it is not nil.
func (m *PortMask) Ports() []uint16 {
	ports := []uint16{}
	for port := range uint16(256) {
		if m.Has(uint8(port)) {
			ports = append(ports, port)
		}
	}
	return ports
}

// A SwitchCongestionSetting configures packet marking in a switch (A10.4.3.6). In a
// Set, ControlMap selects the fields that change.
type SwitchCongestionSetting struct {
	ControlMap    uint32
	VictimMask    PortMask // ports that mark packets as congestion victims, too
	CreditMask    PortMask // ports that apply credit starvation
	Threshold     uint8    // 4 bits; 0: no marking, 15: most aggressive
	PacketSize    uint8    // in 64-byte units; smaller packets are not marked
	CSThreshold   uint8    // 4 bits; credit starvation threshold
	CSReturnDelay uint16   // shift (2 bits) and multiplier (14 bits)
	MarkingRate   uint16   // mean packet count between marked packets
}

// Bits in SwitchCongestionSetting.ControlMap.
const (
	CongestionSetVictimMask  = 1 << iota // VictimMask
	CongestionSetCreditMask              // CreditMask
	CongestionSetThreshold               // Threshold and PacketSize
	CongestionSetStarvation              // CSThreshold and CSReturnDelay
	CongestionSetMarkingRate             // MarkingRate
)

// Spec returns the AttrSwitchCongestionSetting spec.
func (*SwitchCongestionSetting) Spec() Spec { return congestionSpec(AttrSwitchCongestionSetting) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwitchCongestionSetting) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *SwitchCongestionSetting) Layout(c *Codec) {
	Bits(c, &a.ControlMap, 0, 32, "Control_Map", Hex)
	Array(c, a.VictimMask[:], 32, 8, "Victim_Mask", Bytes)
	Array(c, a.CreditMask[:], 288, 8, "Credit_Mask", Bytes)
	Bits(c, &a.Threshold, 544, 4, "Threshold", Hex)
	Bits(c, &a.PacketSize, 552, 8, "Packet_Size", Decimal)
	Bits(c, &a.CSThreshold, 560, 4, "CS_Threshold", Hex)
	Bits(c, &a.CSReturnDelay, 576, 16, "CS_ReturnDelay", Hex)
	Bits(c, &a.MarkingRate, 592, 16, "Marking_Rate", Decimal)
}

// A SwitchPortCongestionSetting is a block of settings for single switch ports
// (A10.4.3.7). The modifier is the block number.
type SwitchPortCongestionSetting struct {
	Ports [32]PortCongestionSetting
}

// A PortCongestionSetting is the setting for a switch port.
type PortCongestionSetting struct {
	Valid       uint8  `json:"valid"`        // 1 bit; 0: the switch's setting applies
	ControlType uint8  `json:"control_type"` // 1 bit; 0: congestion control, 1: credit starvation
	Threshold   uint8  `json:"threshold"`    // 4 bits
	PacketSize  uint8  `json:"packet_size"`  // ControlType 0: in 64-byte units
	Parameter   uint16 `json:"cong_parm"`    // ControlType 0: marking rate; 1: return delay
}

// Spec returns the AttrSwitchPortCongestionSetting spec.
func (*SwitchPortCongestionSetting) Spec() Spec {
	return congestionSpec(AttrSwitchPortCongestionSetting)
}

// MarshalJSON writes {"ports": [{"valid": 1, ...}, ...]}.
func (a SwitchPortCongestionSetting) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *SwitchPortCongestionSetting) marshal(c *Codec) {
	c.value(struct {
		Ports []PortCongestionSetting `json:"ports"`
	}{a.Ports[:]})
}

// Layout declares the fields.
func (a *SwitchPortCongestionSetting) Layout(c *Codec) {
	for i := range a.Ports {
		a.Ports[i].fields(c, i*32)
	}
}

func (s *PortCongestionSetting) fields(c *Codec, at int) {
	Bits(c, &s.Valid, at, 1, "Valid", Decimal)
	Bits(c, &s.ControlType, at+1, 1, "Control_Type", Decimal)
	Bits(c, &s.Threshold, at+4, 4, "Threshold", Hex)
	Bits(c, &s.PacketSize, at+8, 8, "Packet_Size", Decimal)
	Bits(c, &s.Parameter, at+16, 16, "Cong_Parm_Marking_Rate", Decimal)
}

// dump writes a paragraph per port, as ibccquery does.
func (a *SwitchPortCongestionSetting) dump(c *Codec) {
	for i := range a.Ports {
		c.show("Port", uint64(i), 0, Decimal)
		a.Ports[i].fields(c, 0)
		c.blank()
	}
}

// A CACongestionSetting configures how a channel adapter's port reacts to congestion
// (A10.4.3.8). In a Set, ControlMap selects the service levels with changed entries.
type CACongestionSetting struct {
	PortControl uint16 // bit 0: 0: per queue pair, 1: per service level
	ControlMap  uint16
	SLs         [16]SLCongestionSetting
}

// An SLCongestionSetting is the setting for a service level. CCTI is the index into the
// congestion control table.
type SLCongestionSetting struct {
	Timer            uint16 `json:"ccti_timer"` // after this time, in units of 1.024 µs, CCTI is decremented
	Increase         uint8  `json:"ccti_increase"`
	TriggerThreshold uint8  `json:"trigger_threshold"` // CCTI at which an event is logged
	Min              uint8  `json:"ccti_min"`
}

// Spec returns the AttrCACongestionSetting spec.
func (*CACongestionSetting) Spec() Spec { return congestionSpec(AttrCACongestionSetting) }

// MarshalJSON writes {"port_control": 0, "control_map": 0, "sls": [...]}.
func (a CACongestionSetting) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *CACongestionSetting) marshal(c *Codec) {
	c.value(struct {
		PortControl uint16                `json:"port_control"`
		ControlMap  uint16                `json:"control_map"`
		SLs         []SLCongestionSetting `json:"sls"`
	}{a.PortControl, a.ControlMap, a.SLs[:]})
}

// Layout declares the fields.
func (a *CACongestionSetting) Layout(c *Codec) {
	a.header(c)
	for i := range a.SLs {
		a.SLs[i].fields(c, 32+i*64)
	}
}

func (a *CACongestionSetting) header(c *Codec) {
	Bits(c, &a.PortControl, 0, 16, "Port_Control", Hex)
	Bits(c, &a.ControlMap, 16, 16, "Control_Map", Hex)
}

func (s *SLCongestionSetting) fields(c *Codec, at int) {
	Bits(c, &s.Timer, at, 16, "CCTI_Timer", Decimal)
	Bits(c, &s.Increase, at+16, 8, "CCTI_Increase", Decimal)
	Bits(c, &s.TriggerThreshold, at+24, 8, "Trigger_Threshold", Decimal)
	Bits(c, &s.Min, at+32, 8, "CCTI_Min", Decimal)
}

// dump writes a paragraph per service level, as ibccquery does.
func (a *CACongestionSetting) dump(c *Codec) {
	a.header(c)
	c.blank()
	for i := range a.SLs {
		c.show("SL", uint64(i), 0, Decimal)
		a.SLs[i].fields(c, 0)
		c.blank()
	}
}

// A CongestionControlTable is a block of injection rate delays for a channel adapter's
// port (A10.4.3.9). The modifier is the block number.
type CongestionControlTable struct {
	Limit   uint16 // highest valid index in the whole table
	Entries [64]CongestionControlEntry
}

// A CongestionControlEntry is a delay.
type CongestionControlEntry struct {
	Shift      uint8  `json:"shift"`      // 2 bits
	Multiplier uint16 `json:"multiplier"` // 14 bits
}

// Spec returns the AttrCongestionControlTable spec.
func (*CongestionControlTable) Spec() Spec { return congestionSpec(AttrCongestionControlTable) }

// MarshalJSON writes {"ccti_limit": 63, "entries": [...]}.
func (a CongestionControlTable) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *CongestionControlTable) marshal(c *Codec) {
	c.value(struct {
		Limit   uint16                   `json:"ccti_limit"`
		Entries []CongestionControlEntry `json:"entries"`
	}{a.Limit, a.Entries[:]})
}

// Layout declares the fields.
func (a *CongestionControlTable) Layout(c *Codec) {
	a.header(c)
	for i := range a.Entries {
		a.Entries[i].fields(c, 32+i*16)
	}
}

func (a *CongestionControlTable) header(c *Codec) {
	Bits(c, &a.Limit, 0, 16, "CCTI_Limit", Decimal)
}

func (e *CongestionControlEntry) fields(c *Codec, at int) {
	Bits(c, &e.Shift, at, 2, "CCT_Shift", Decimal)
	Bits(c, &e.Multiplier, at+2, 14, "CCT_Multiplier", Decimal)
}

// dump writes a paragraph per entry up to Limit, as ibccquery does. A limit of 0 means
// that the table is not in use.
func (a *CongestionControlTable) dump(c *Codec) {
	a.header(c)
	c.blank()
	if a.Limit == 0 {
		return
	}
	for i := range a.Entries[:min(len(a.Entries), int(a.Limit)+1)] {
		c.show("Entry", uint64(i), 0, Decimal)
		a.Entries[i].fields(c, 0)
		c.blank()
	}
}

// A TimeStamp is a node's free-running clock (A10.4.3.10).
type TimeStamp struct {
	Time uint32 // in units of 1.024 µs
}

// Spec returns the AttrTimeStamp spec.
func (*TimeStamp) Spec() Spec { return congestionSpec(AttrTimeStamp) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a TimeStamp) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *TimeStamp) Layout(c *Codec) { Bits(c, &a.Time, 0, 32, "Timestamp", Decimal) }
