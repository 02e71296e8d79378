package mad

import "github.com/ibkit/ibkit/ib"

// An InformInfo subscribes to traps (InfiniBand Architecture, Volume 1,
// 13.4.8.3).
type InformInfo struct {
	GID          ib.GID // GID of the port that sends the traps; zero: see LIDBegin
	LIDBegin     ib.LID // first sender LID; 0xffff: all
	LIDEnd       ib.LID // last sender LID; 0: only LIDBegin
	Generic      uint8  // 1: specification traps, 0: vendor traps
	Subscribe    uint8  // 0: end the subscription
	Type         uint16 // 0xffff: all
	TrapNumber   uint16 // for a generic trap, else the device ID; 0xffff: all
	QPN          uint32 // 24 bits; notice destination
	RespTime     uint8  // 5 bits; 4.096 µs << RespTime
	ProducerType uint32 // 24 bits; for a generic trap the node type, else the vendor ID
}

// Spec returns the InformInfo spec in subnet administration.
func (*InformInfo) Spec() Spec { return saSpec(attrInformInfo, 36) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a InformInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *InformInfo) Layout(c *Codec) {
	Array(c, a.GID[:], 0, 8, "GID", asGID)
	Bits(c, &a.LIDBegin, 128, 16, "LIDRangeBegin", Decimal)
	Bits(c, &a.LIDEnd, 144, 16, "LIDRangeEnd", Decimal)
	Bits(c, &a.Generic, 176, 8, "IsGeneric", Decimal)
	Bits(c, &a.Subscribe, 184, 8, "Subscribe", Decimal)
	Bits(c, &a.Type, 192, 16, "Type", Hex)
	Bits(c, &a.TrapNumber, 208, 16, "TrapNumber", Decimal)
	Bits(c, &a.QPN, 224, 24, "QPN", Hex)
	Bits(c, &a.RespTime, 251, 5, "RespTimeValue", Decimal)
	Bits(c, &a.ProducerType, 264, 24, "ProducerType", Hex)
}

// An InformInfoRecord is a subscription in subnet administration (15.2.5.12).
type InformInfoRecord struct {
	SubscriberGID ib.GID
	Enum          uint16 // distinguishes a port's subscriptions
	InformInfo    InformInfo
}

// Spec returns the AttrInformInfoRecord spec.
func (*InformInfoRecord) Spec() Spec { return saSpec(AttrInformInfoRecord, 60) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a InformInfoRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *InformInfoRecord) Layout(c *Codec) {
	Array(c, a.SubscriberGID[:], 0, 8, "SubscriberGID", asGID)
	Bits(c, &a.Enum, 128, 16, "Enum", Decimal)
	nested(c, &a.InformInfo, 192, "InformInfo")
}
