package mad

import "github.com/ibkit/ibkit/ib"

// A PortInfoRecord is subnet administration's PortInfo (InfiniBand Architecture,
// Volume 1, 15.2.5.3).
type PortInfoRecord struct {
	LID      ib.LID // port LID; for a switch's external ports, port 0's LID
	PortNum  uint8
	Options  uint8
	PortInfo PortInfo
}

// MatchCapMask is a modifier in requests for PortInfoRecords: a record matches if its
// CapMask contains all bits in the requested CapMask. Without the modifier both must be
// equal (15.2.5.3).
const MatchCapMask uint32 = 1 << 31

// Spec returns the AttrPortInfoRecord spec.
func (*PortInfoRecord) Spec() Spec { return saSpec(AttrPortInfoRecord, 68) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortInfoRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortInfoRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "EndportLID", Decimal)
	Bits(c, &a.PortNum, 16, 8, "PortNum", Decimal)
	Bits(c, &a.Options, 24, 8, "Options", Hex)
	nested(c, &a.PortInfo, 32, "PortInfo")
}

// A GUIDInfoRecord is a block of a port's GUID table in subnet administration
// (15.2.5.18).
type GUIDInfoRecord struct {
	LID   ib.LID
	Block uint8
	Table GUIDInfo
}

// Spec returns the AttrGUIDInfoRecord spec.
func (*GUIDInfoRecord) Spec() Spec { return saSpec(AttrGUIDInfoRecord, 72) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a GUIDInfoRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *GUIDInfoRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "LID", Decimal)
	Bits(c, &a.Block, 16, 8, "BlockNum", Decimal)
	reserved(c, 24, 8)
	reserved(c, 32, 32)
	nested(c, &a.Table, 64, "GUIDInfo")
}

// A PKeyTableRecord is a block of a port's partition table in subnet administration
// (15.2.5.11).
type PKeyTableRecord struct {
	LID   ib.LID
	Block uint16
	Port  uint8
	Table PKeyTable
}

// Spec returns the AttrPKeyTableRecord spec.
func (*PKeyTableRecord) Spec() Spec { return saSpec(AttrPKeyTableRecord, 72) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PKeyTableRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PKeyTableRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "LID", Decimal)
	Bits(c, &a.Block, 16, 16, "BlockNum", Decimal)
	Bits(c, &a.Port, 32, 8, "PortNum", Decimal)
	nested(c, &a.Table, 64, "PkeyTable")
}

// A SLtoVLMappingTableRecord is subnet administration's mapping from service levels to
// lanes, for packets from one switch port to another (15.2.5.4).
type SLtoVLMappingTableRecord struct {
	LID     ib.LID
	InPort  uint8 // 0 on adapters
	OutPort uint8
	Table   SLtoVLMapping
}

// Spec returns the AttrSLtoVLMappingTableRecord spec.
func (*SLtoVLMappingTableRecord) Spec() Spec { return saSpec(AttrSLtoVLMappingTableRecord, 16) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SLtoVLMappingTableRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *SLtoVLMappingTableRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "LID", Decimal)
	Bits(c, &a.InPort, 16, 8, "InPort", Decimal)
	Bits(c, &a.OutPort, 24, 8, "OutPort", Decimal)
	nested(c, &a.Table, 64, "SLtoVLMapping")
}

// A VLArbitrationTableRecord is a block of subnet administration's arbitration table
// for a port's lanes (15.2.5.9).
type VLArbitrationTableRecord struct {
	LID   ib.LID
	Port  uint8
	Block uint8 // counted from 1, as in [VLArbitration]
	Table VLArbitration
}

// Spec returns the AttrVLArbitrationTableRecord spec.
func (*VLArbitrationTableRecord) Spec() Spec { return saSpec(AttrVLArbitrationTableRecord, 72) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a VLArbitrationTableRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *VLArbitrationTableRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "LID", Decimal)
	Bits(c, &a.Port, 16, 8, "PortNum", Decimal)
	Bits(c, &a.Block, 24, 8, "BlockNum", Decimal)
	nested(c, &a.Table, 64, "VLArbitration")
}
