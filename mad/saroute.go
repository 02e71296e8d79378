package mad

import "github.com/ibkit/ibkit/ib"

// A LinearForwardingTableRecord is a block of a switch's forwarding table in subnet
// administration (InfiniBand Architecture, Volume 1, 15.2.5.6).
type LinearForwardingTableRecord struct {
	LID   ib.LID // switch LID
	Block uint16
	Table LinearForwardingTable
}

// Spec returns the AttrLinearForwardingTableRecord spec.
func (*LinearForwardingTableRecord) Spec() Spec { return saSpec(AttrLinearForwardingTableRecord, 72) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a LinearForwardingTableRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *LinearForwardingTableRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "LID", Decimal)
	Bits(c, &a.Block, 16, 16, "BlockNum", Decimal)
	nested(c, &a.Table, 64, "LinearForwardingTable")
}

// A MulticastForwardingTableRecord is a block of a switch's multicast forwarding table
// in subnet administration (15.2.5.8).
type MulticastForwardingTableRecord struct {
	LID      ib.LID // switch LID
	Position uint8  // 4 bits: which 16 ports
	Block    uint16 // 9 bits
	Table    MulticastForwardingTable
}

// Spec returns the AttrMulticastForwardingTableRecord spec.
func (*MulticastForwardingTableRecord) Spec() Spec {
	return saSpec(AttrMulticastForwardingTableRecord, 72)
}

// MarshalJSON writes the fields as an object; see the package comment.
func (a MulticastForwardingTableRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *MulticastForwardingTableRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "LID", Decimal)
	Bits(c, &a.Position, 16, 4, "Position", Decimal)
	Bits(c, &a.Block, 23, 9, "BlockNum", Decimal)
	nested(c, &a.Table, 64, "MulticastForwardingTable")
}

// A LinkRecord is a single link direction (15.2.5.13).
type LinkRecord struct {
	FromLID  ib.LID
	FromPort uint8
	ToPort   uint8
	ToLID    ib.LID
}

// Spec returns the AttrLinkRecord spec.
func (*LinkRecord) Spec() Spec { return saSpec(AttrLinkRecord, 8) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a LinkRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *LinkRecord) Layout(c *Codec) {
	Bits(c, &a.FromLID, 0, 16, "FromLID", Decimal)
	Bits(c, &a.FromPort, 16, 8, "FromPort", Decimal)
	Bits(c, &a.ToPort, 24, 8, "ToPort", Decimal)
	Bits(c, &a.ToLID, 32, 16, "ToLID", Decimal)
}

// A PathRecord is a path from one port to another with its properties (15.2.5.16).
type PathRecord struct {
	ServiceID        uint64
	DGID, SGID       ib.GID
	DLID, SLID       ib.LID
	RawTraffic       uint8  // 1: not the IBA transport
	FlowLabel        uint32 // 20 bits
	HopLimit         uint8
	TrafficClass     uint8
	Reversible       uint8 // 1: responses can use the same path
	NumbPath         uint8 // 7 bits; in a request, the maximum path count
	PKey             PKey
	QoSClass         uint16 // 12 bits
	SL               uint8  // 4 bits
	MTUSelector      Selector
	MTU              ib.MTU // 6 bits
	RateSelector     Selector
	Rate             ib.Rate // 6 bits
	LifeTimeSelector Selector
	LifeTime         uint8 // 6 bits; 4.096 µs << LifeTime
	Preference       uint8 // 0: the best
}

// Spec returns the AttrPathRecord spec.
func (*PathRecord) Spec() Spec { return saSpec(AttrPathRecord, 64) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PathRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PathRecord) Layout(c *Codec) {
	serviceID(c, &a.ServiceID, 0, "ServiceID")
	Array(c, a.DGID[:], 64, 8, "Dgid", asGID)
	Array(c, a.SGID[:], 192, 8, "SGID", asGID)
	Bits(c, &a.DLID, 320, 16, "Dlid", Decimal)
	Bits(c, &a.SLID, 336, 16, "Slid", Decimal)
	Bits(c, &a.RawTraffic, 352, 1, "RawTraffic", Decimal)
	Bits(c, &a.FlowLabel, 356, 20, "FlowLabel", Hex)
	Bits(c, &a.HopLimit, 376, 8, "HopLimit", Decimal)
	Bits(c, &a.TrafficClass, 384, 8, "Tclass", Hex)
	Bits(c, &a.Reversible, 392, 1, "Reversible", Decimal)
	Bits(c, &a.NumbPath, 393, 7, "NumbPath", Decimal)
	Bits(c, &a.PKey, 400, 16, "Pkey", Hex)
	Bits(c, &a.QoSClass, 416, 12, "QosClass", Decimal)
	Bits(c, &a.SL, 428, 4, "SL", Decimal)
	Bits(c, &a.MTUSelector, 432, 2, "MtuSelector", asSelector)
	Bits(c, &a.MTU, 434, 6, "Mtu", asMTU)
	Bits(c, &a.RateSelector, 440, 2, "RateSelector", asSelector)
	Bits(c, &a.Rate, 442, 6, "Rate", asRate)
	Bits(c, &a.LifeTimeSelector, 448, 2, "PacketLifeTimeSelector", asSelector)
	Bits(c, &a.LifeTime, 450, 6, "PacketLifeTime", Decimal)
	Bits(c, &a.Preference, 456, 8, "Preference", Decimal)
}
