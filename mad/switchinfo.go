package mad

import "github.com/ibkit/ibkit/ib"

// A SwitchInfo describes a switch's forwarding (InfiniBand Architecture,
// Volume 1, 14.2.5.4).
type SwitchInfo struct {
	LinearFDBCap                   uint16 // entries of the linear forwarding table
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

// ID returns AttrSwitchInfo.
func (*SwitchInfo) ID() AttrID { return AttrSwitchInfo }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwitchInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// UnmarshalJSON parses the output of MarshalJSON. Errors begin with the name of the
// invalid member.
func (a *SwitchInfo) UnmarshalJSON(b []byte) error { return unmarshalJSON(a, b) }

func (a *SwitchInfo) fields(c *codec) {
	bits(c, &a.LinearFDBCap, 0, 16, "LinearFdbCap", decimal)
	bits(c, &a.RandomFDBCap, 16, 16, "RandomFdbCap", decimal)
	bits(c, &a.MulticastFDBCap, 32, 16, "McastFdbCap", decimal)
	bits(c, &a.LinearFDBTop, 48, 16, "LinearFdbTop", decimal)
	bits(c, &a.DefaultPort, 64, 8, "DefPort", decimal)
	bits(c, &a.DefaultMulticastPrimaryPort, 72, 8, "DefMcastPrimPort", decimal)
	bits(c, &a.DefaultMulticastNotPrimaryPort, 80, 8, "DefMcastNotPrimPort", decimal)
	bits(c, &a.LifeTimeValue, 88, 5, "LifeTime", decimal)
	bits(c, &a.PortStateChange, 93, 1, "StateChange", decimal)
	bits(c, &a.OptimizedSLtoVL, 94, 2, "OptSLtoVLMapping", decimal)
	bits(c, &a.LIDsPerPort, 96, 16, "LidsPerPort", decimal)
	bits(c, &a.PartitionEnforcementCap, 112, 16, "PartEnforceCap", decimal)
	bits(c, &a.InboundEnforcement, 128, 1, "InboundPartEnf", decimal)
	bits(c, &a.OutboundEnforcement, 129, 1, "OutboundPartEnf", decimal)
	bits(c, &a.FilterRawInbound, 130, 1, "FilterRawInbound", decimal)
	bits(c, &a.FilterRawOutbound, 131, 1, "FilterRawOutbound", decimal)
	bits(c, &a.EnhancedPort0, 132, 1, "EnhancedPort0", decimal)
	bits(c, &a.MulticastFDBTop, 144, 16, "MulticastFDBTop", hexa)
}
