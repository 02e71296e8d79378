package mad

import "github.com/ibkit/ibkit/ib"

// An InformInfo subscribes to traps (InfiniBand Architecture, Volume 1,
// 13.4.8.3).
type InformInfo struct {
	GID          ib.GID // of the port that sends the traps; zero: see LIDBegin
	LIDBegin     ib.LID // first LID of the senders; 0xffff: all
	LIDEnd       ib.LID // last LID of the senders; 0: only LIDBegin
	Generic      uint8  // 1: traps of the specification, 0: of a vendor
	Subscribe    uint8  // 0: end the subscription
	Type         uint16 // 0xffff: all
	TrapNumber   uint16 // of a generic trap, else the device ID; 0xffff: all
	QPN          uint32 // 24 bits; destination of the notices
	RespTime     uint8  // 5 bits; 4.096 µs << RespTime
	ProducerType uint32 // 24 bits; of a generic trap the type of node, else the vendor ID
}

// ID returns the number of InformInfo in all classes.
func (*InformInfo) ID() AttrID { return attrInformInfo }

func (*InformInfo) format() format { return format{ClassSA, 36} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a InformInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *InformInfo) fields(c *codec) {
	array(c, a.GID[:], 0, 8, "GID", asGID)
	bits(c, &a.LIDBegin, 128, 16, "LIDRangeBegin", decimal)
	bits(c, &a.LIDEnd, 144, 16, "LIDRangeEnd", decimal)
	bits(c, &a.Generic, 176, 8, "IsGeneric", decimal)
	bits(c, &a.Subscribe, 184, 8, "Subscribe", decimal)
	bits(c, &a.Type, 192, 16, "Type", hexa)
	bits(c, &a.TrapNumber, 208, 16, "TrapNumber", decimal)
	bits(c, &a.QPN, 224, 24, "QPN", hexa)
	bits(c, &a.RespTime, 251, 5, "RespTimeValue", decimal)
	bits(c, &a.ProducerType, 264, 24, "ProducerType", hexa)
}

// An InformInfoRecord is a subscription in subnet administration (15.2.5.12).
type InformInfoRecord struct {
	SubscriberGID ib.GID
	Enum          uint16 // distinguishes the subscriptions of one port
	InformInfo    InformInfo
}

// ID returns AttrInformInfoRecord.
func (*InformInfoRecord) ID() AttrID { return AttrInformInfoRecord }

func (*InformInfoRecord) format() format { return format{ClassSA, 60} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a InformInfoRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *InformInfoRecord) fields(c *codec) {
	array(c, a.SubscriberGID[:], 0, 8, "SubscriberGID", asGID)
	bits(c, &a.Enum, 128, 16, "Enum", decimal)
	nested(c, &a.InformInfo, 192, "InformInfo")
}
