package mad

import "github.com/ibkit/ibkit/ib"

// A LinearForwardingTableRecord is one block of subnet administration's
// forwarding table of a switch (InfiniBand Architecture, Volume 1, 15.2.5.6).
type LinearForwardingTableRecord struct {
	LID   ib.LID // of the switch
	Block uint16
	Table LinearForwardingTable
}

// ID returns AttrLinearForwardingTableRecord.
func (*LinearForwardingTableRecord) ID() AttrID { return AttrLinearForwardingTableRecord }

func (*LinearForwardingTableRecord) format() format { return format{ClassSA, 72} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a LinearForwardingTableRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *LinearForwardingTableRecord) fields(c *codec) {
	bits(c, &a.LID, 0, 16, "LID", decimal)
	bits(c, &a.Block, 16, 16, "BlockNum", decimal)
	nested(c, &a.Table, 64, "LinearForwardingTable")
}

// A MulticastForwardingTableRecord is one block of subnet administration's
// multicast forwarding table of a switch (15.2.5.8).
type MulticastForwardingTableRecord struct {
	LID      ib.LID // of the switch
	Position uint8  // 4 bits: which 16 ports
	Block    uint16 // 9 bits
	Table    MulticastForwardingTable
}

// ID returns AttrMulticastForwardingTableRecord.
func (*MulticastForwardingTableRecord) ID() AttrID { return AttrMulticastForwardingTableRecord }

func (*MulticastForwardingTableRecord) format() format { return format{ClassSA, 72} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a MulticastForwardingTableRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *MulticastForwardingTableRecord) fields(c *codec) {
	bits(c, &a.LID, 0, 16, "LID", decimal)
	bits(c, &a.Position, 16, 4, "Position", decimal)
	bits(c, &a.Block, 23, 9, "BlockNum", decimal)
	nested(c, &a.Table, 64, "MulticastForwardingTable")
}

// A LinkRecord is one direction of a link (15.2.5.13).
type LinkRecord struct {
	FromLID  ib.LID
	FromPort uint8
	ToPort   uint8
	ToLID    ib.LID
}

// ID returns AttrLinkRecord.
func (*LinkRecord) ID() AttrID { return AttrLinkRecord }

func (*LinkRecord) format() format { return format{ClassSA, 8} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a LinkRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *LinkRecord) fields(c *codec) {
	bits(c, &a.FromLID, 0, 16, "FromLID", decimal)
	bits(c, &a.FromPort, 16, 8, "FromPort", decimal)
	bits(c, &a.ToPort, 24, 8, "ToPort", decimal)
	bits(c, &a.ToLID, 32, 16, "ToLID", decimal)
}

// A PathRecord is a path from one port to another with its properties (15.2.5.16).
type PathRecord struct {
	ServiceID        uint64
	DGID, SGID       ib.GID
	DLID, SLID       ib.LID
	RawTraffic       uint8  // 1: not of the IBA transport
	FlowLabel        uint32 // 20 bits
	HopLimit         uint8
	TrafficClass     uint8
	Reversible       uint8 // 1: responses can use the same path
	NumbPath         uint8 // 7 bits; in a request, the maximum number of paths
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

// ID returns AttrPathRecord.
func (*PathRecord) ID() AttrID { return AttrPathRecord }

func (*PathRecord) format() format { return format{ClassSA, 64} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PathRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PathRecord) fields(c *codec) {
	serviceID(c, &a.ServiceID, 0, "ServiceID")
	array(c, a.DGID[:], 64, 8, "Dgid", asGID)
	array(c, a.SGID[:], 192, 8, "SGID", asGID)
	bits(c, &a.DLID, 320, 16, "Dlid", decimal)
	bits(c, &a.SLID, 336, 16, "Slid", decimal)
	bits(c, &a.RawTraffic, 352, 1, "RawTraffic", decimal)
	bits(c, &a.FlowLabel, 356, 20, "FlowLabel", hexa)
	bits(c, &a.HopLimit, 376, 8, "HopLimit", decimal)
	bits(c, &a.TrafficClass, 384, 8, "Tclass", hexa)
	bits(c, &a.Reversible, 392, 1, "Reversible", decimal)
	bits(c, &a.NumbPath, 393, 7, "NumbPath", decimal)
	bits(c, &a.PKey, 400, 16, "Pkey", hexa)
	bits(c, &a.QoSClass, 416, 12, "QosClass", decimal)
	bits(c, &a.SL, 428, 4, "SL", decimal)
	bits(c, &a.MTUSelector, 432, 2, "MtuSelector", asSelector)
	bits(c, &a.MTU, 434, 6, "Mtu", asMTU)
	bits(c, &a.RateSelector, 440, 2, "RateSelector", asSelector)
	bits(c, &a.Rate, 442, 6, "Rate", asRate)
	bits(c, &a.LifeTimeSelector, 448, 2, "PacketLifeTimeSelector", asSelector)
	bits(c, &a.LifeTime, 450, 6, "PacketLifeTime", decimal)
	bits(c, &a.Preference, 456, 8, "Preference", decimal)
}
