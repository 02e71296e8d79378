package mad

import "github.com/ibkit/ibkit/ib"

// A SwitchInfo describes a switch's forwarding (InfiniBand Architecture,
// Volume 1, 14.2.5.4).
type SwitchInfo struct {
	LinearFDBCap                   uint16 // entries in the linear forwarding table
	RandomFDBCap                   uint16
	MulticastFDBCap                uint16
	LinearFDBTop                   ib.LID // highest LID in use in the linear forwarding table
	DefaultPort                    uint8
	DefaultMulticastPrimaryPort    uint8
	DefaultMulticastNotPrimaryPort uint8
	LifeTimeValue                  uint8 // 5 bits; packets live 4.096 µs << LifeTimeValue in the switch
	PortStateChange                uint8 // 1: a port has changed its state since this was last cleared
	OptimizedSLtoVL                uint8
	LIDsPerPort                    uint16
	PartitionEnforcementCap        uint16 // entries in an external port's P_Key table
	InboundEnforcement             uint8
	OutboundEnforcement            uint8
	FilterRawInbound               uint8
	FilterRawOutbound              uint8
	EnhancedPort0                  uint8
	MulticastFDBTop                ib.LID
}

// Spec returns the AttrSwitchInfo spec.
func (*SwitchInfo) Spec() Spec { return smpSpec(AttrSwitchInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwitchInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// UnmarshalJSON parses MarshalJSON output. Errors begin with the invalid member's name.
func (a *SwitchInfo) UnmarshalJSON(b []byte) error { return unmarshalJSON(a, b) }

// Layout declares the fields.
func (a *SwitchInfo) Layout(c *Codec) {
	Bits(c, &a.LinearFDBCap, 0, 16, "LinearFdbCap", Decimal)
	Bits(c, &a.RandomFDBCap, 16, 16, "RandomFdbCap", Decimal)
	Bits(c, &a.MulticastFDBCap, 32, 16, "McastFdbCap", Decimal)
	Bits(c, &a.LinearFDBTop, 48, 16, "LinearFdbTop", Decimal)
	Bits(c, &a.DefaultPort, 64, 8, "DefPort", Decimal)
	Bits(c, &a.DefaultMulticastPrimaryPort, 72, 8, "DefMcastPrimPort", Decimal)
	Bits(c, &a.DefaultMulticastNotPrimaryPort, 80, 8, "DefMcastNotPrimPort", Decimal)
	Bits(c, &a.LifeTimeValue, 88, 5, "LifeTime", Decimal)
	Bits(c, &a.PortStateChange, 93, 1, "StateChange", Decimal)
	Bits(c, &a.OptimizedSLtoVL, 94, 2, "OptSLtoVLMapping", Decimal)
	Bits(c, &a.LIDsPerPort, 96, 16, "LidsPerPort", Decimal)
	Bits(c, &a.PartitionEnforcementCap, 112, 16, "PartEnforceCap", Decimal)
	Bits(c, &a.InboundEnforcement, 128, 1, "InboundPartEnf", Decimal)
	Bits(c, &a.OutboundEnforcement, 129, 1, "OutboundPartEnf", Decimal)
	Bits(c, &a.FilterRawInbound, 130, 1, "FilterRawInbound", Decimal)
	Bits(c, &a.FilterRawOutbound, 131, 1, "FilterRawOutbound", Decimal)
	Bits(c, &a.EnhancedPort0, 132, 1, "EnhancedPort0", Decimal)
	Bits(c, &a.MulticastFDBTop, 144, 16, "MulticastFDBTop", Hex)
}
