package mad

import "github.com/ibkit/ibkit/ib"

// A PortInfo describes a port: its addresses, its link and its capabilities
// (InfiniBand Architecture, Volume 1, 14.2.5.6). The modifier is the port number;
// for a channel adapter, 0 is the port through which the request arrives.
//
// While State is PortDown, only State and PhysState are valid (C14-24.2.1).
type PortInfo struct {
	MKey                     Key
	GIDPrefix                uint64
	LID                      ib.LID // base LID; 0 on a switch's external ports
	SMLID                    ib.LID
	CapMask                  PortCapMask // on a switch, only port 0's counts
	DiagCode                 uint16
	MKeyLeasePeriod          uint16 // seconds
	LocalPort                uint8  // port through which the request arrived
	LinkWidthEnabled         ib.LinkWidth
	LinkWidthSupported       ib.LinkWidth
	LinkWidthActive          ib.LinkWidth
	LinkSpeedSupported       LinkSpeed
	State                    ib.PortState
	PhysState                ib.PhysState
	LinkDownDefault          LinkDownDefault
	MKeyProtect              uint8
	LMC                      uint8 // the port has 1<<LMC LIDs
	LinkSpeedActive          LinkSpeed
	LinkSpeedEnabled         LinkSpeed
	NeighborMTU              ib.MTU
	SMSL                     uint8
	VLCap                    ib.VLCap
	InitType                 uint8
	VLHighLimit              uint8
	VLArbHighCap             uint8 // entries
	VLArbLowCap              uint8 // entries
	InitReply                uint8
	MTUCap                   ib.MTU
	VLStallCount             uint8
	HOQLife                  uint8 // 4.096 µs << HOQLife; no limit from 20 on
	OperVLs                  ib.VLCap
	PartEnforceInbound       uint8
	PartEnforceOutbound      uint8
	FilterRawInbound         uint8
	FilterRawOutbound        uint8
	MKeyViolations           uint16
	PKeyViolations           uint16
	QKeyViolations           uint16
	GUIDCap                  uint8 // entries in the port's GUID table
	ClientReregister         uint8
	McastPKeyTrapSuppression uint8
	SubnetTimeout            uint8 // 4.096 µs << SubnetTimeout
	RespTimeValue            uint8 // 4.096 µs << RespTimeValue
	LocalPhysErrors          uint8 // threshold
	OverrunErrors            uint8 // threshold
	MaxCreditHint            uint16
	LinkRoundTripLatency     uint32 // 24 bits
	CapMask2                 PortCapMask2
	LinkSpeedExtActive       LinkSpeedExt
	LinkSpeedExtSupported    LinkSpeedExt
	LinkSpeedExtEnabled      LinkSpeedExt
	LinkSpeedExt2Active      LinkSpeedExt2
	LinkSpeedExt2Supported   LinkSpeedExt2
	LinkSpeedExt2Enabled     LinkSpeedExt2
}

// Spec returns the AttrPortInfo spec.
func (*PortInfo) Spec() Spec { return smpSpec(AttrPortInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// UnmarshalJSON parses MarshalJSON output. Errors begin with the invalid member's name.
func (a *PortInfo) UnmarshalJSON(b []byte) error { return unmarshalJSON(a, b) }

// Layout declares the fields.
func (a *PortInfo) Layout(c *Codec) {
	Bits(c, &a.MKey, 0, 64, "Mkey", Secret)
	Bits(c, &a.GIDPrefix, 64, 64, "GidPrefix", HexString)
	Bits(c, &a.LID, 128, 16, "Lid", Decimal)
	Bits(c, &a.SMLID, 144, 16, "SMLid", Decimal)
	Bits(c, &a.CapMask, 160, 32, "CapMask", asPortCapMask)
	Bits(c, &a.DiagCode, 192, 16, "DiagCode", Hex)
	Bits(c, &a.MKeyLeasePeriod, 208, 16, "MkeyLeasePeriod", Decimal)
	Bits(c, &a.LocalPort, 224, 8, "LocalPort", Decimal)
	Bits(c, &a.LinkWidthEnabled, 232, 8, "LinkWidthEnabled", asLinkWidthEnabled)
	Bits(c, &a.LinkWidthSupported, 240, 8, "LinkWidthSupported", asLinkWidthSupported)
	Bits(c, &a.LinkWidthActive, 248, 8, "LinkWidthActive", asLinkWidth)
	Bits(c, &a.LinkSpeedSupported, 256, 4, "LinkSpeedSupported", asLinkSpeeds)
	Bits(c, &a.State, 260, 4, "LinkState", asPortState)
	Bits(c, &a.PhysState, 264, 4, "PhysLinkState", asPhysState)
	Bits(c, &a.LinkDownDefault, 268, 4, "LinkDownDefState", asLinkDownDefault)
	Bits(c, &a.MKeyProtect, 272, 2, "ProtectBits", Decimal)
	Bits(c, &a.LMC, 277, 3, "LMC", Decimal)
	Bits(c, &a.LinkSpeedActive, 280, 4, "LinkSpeedActive", asLinkSpeedActive)
	Bits(c, &a.LinkSpeedEnabled, 284, 4, "LinkSpeedEnabled", asLinkSpeeds)
	Bits(c, &a.NeighborMTU, 288, 4, "NeighborMTU", asMTU)
	Bits(c, &a.SMSL, 292, 4, "SMSL", Decimal)
	Bits(c, &a.VLCap, 296, 4, "VLCap", asVLCap)
	Bits(c, &a.InitType, 300, 4, "InitType", Hex)
	Bits(c, &a.VLHighLimit, 304, 8, "VLHighLimit", Decimal)
	Bits(c, &a.VLArbHighCap, 312, 8, "VLArbHighCap", Decimal)
	Bits(c, &a.VLArbLowCap, 320, 8, "VLArbLowCap", Decimal)
	Bits(c, &a.InitReply, 328, 4, "InitReply", Hex)
	Bits(c, &a.MTUCap, 332, 4, "MtuCap", asMTU)
	Bits(c, &a.VLStallCount, 336, 3, "VLStallCount", Decimal)
	Bits(c, &a.HOQLife, 339, 5, "HoqLife", Decimal)
	Bits(c, &a.OperVLs, 344, 4, "OperVLs", asOperVLs)
	Bits(c, &a.PartEnforceInbound, 348, 1, "PartEnforceInb", Decimal)
	Bits(c, &a.PartEnforceOutbound, 349, 1, "PartEnforceOutb", Decimal)
	Bits(c, &a.FilterRawInbound, 350, 1, "FilterRawInb", Decimal)
	Bits(c, &a.FilterRawOutbound, 351, 1, "FilterRawOutb", Decimal)
	Bits(c, &a.MKeyViolations, 352, 16, "MkeyViolations", Decimal)
	Bits(c, &a.PKeyViolations, 368, 16, "PkeyViolations", Decimal)
	Bits(c, &a.QKeyViolations, 384, 16, "QkeyViolations", Decimal)
	Bits(c, &a.GUIDCap, 400, 8, "GuidCap", Decimal)
	Bits(c, &a.ClientReregister, 408, 1, "ClientReregister", Decimal)
	Bits(c, &a.McastPKeyTrapSuppression, 409, 2, "McastPkeyTrapSuppressionEnabled", Decimal)
	Bits(c, &a.SubnetTimeout, 411, 5, "SubnetTimeout", Decimal)
	Bits(c, &a.RespTimeValue, 419, 5, "RespTimeVal", Decimal)
	Bits(c, &a.LocalPhysErrors, 424, 4, "LocalPhysErr", Decimal)
	Bits(c, &a.OverrunErrors, 428, 4, "OverrunErr", Decimal)
	Bits(c, &a.MaxCreditHint, 432, 16, "MaxCreditHint", Decimal)
	Bits(c, &a.LinkRoundTripLatency, 456, 24, "RoundTrip", Decimal)
	Bits(c, &a.CapMask2, 480, 16, "CapabilityMask2", asPortCapMask2)
	Bits(c, &a.LinkSpeedExtActive, 496, 4, "LinkSpeedExtActive", asLinkSpeedExtActive)
	Bits(c, &a.LinkSpeedExtSupported, 500, 4, "LinkSpeedExtSupported", asLinkSpeedsExt)
	Bits(c, &a.LinkSpeedExtEnabled, 507, 5, "LinkSpeedExtEnabled", asLinkSpeedExtEnabled)
	Bits(c, &a.LinkSpeedExt2Active, 449, 2, "LinkSpeedExtActive2", asLinkSpeedExt2Active)
	Bits(c, &a.LinkSpeedExt2Supported, 451, 2, "LinkSpeedExtSupported2", asLinkSpeedsExt2)
	Bits(c, &a.LinkSpeedExt2Enabled, 453, 3, "LinkSpeedExtEnabled2", asLinkSpeedsExt2)
}
