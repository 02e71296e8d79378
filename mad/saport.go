package mad

import "github.com/ibkit/ibkit/ib"

// A PortInfoRecord is subnet administration's PortInfo (InfiniBand Architecture,
// Volume 1, 15.2.5.3).
type PortInfoRecord struct {
	LID      ib.LID // of the port; for a switch's external ports, of port 0
	PortNum  uint8
	Options  uint8
	PortInfo PortInfo
}

// MatchCapMask is a modifier of requests for PortInfoRecords: a record matches if
// its CapMask contains all bits of the requested CapMask. Without the modifier
// both must be equal (15.2.5.3).
const MatchCapMask uint32 = 1 << 31

// ID returns AttrPortInfoRecord.
func (*PortInfoRecord) ID() AttrID { return AttrPortInfoRecord }

func (*PortInfoRecord) format() format { return format{ClassSA, 68} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortInfoRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PortInfoRecord) fields(c *codec) {
	bits(c, &a.LID, 0, 16, "EndportLID", decimal)
	bits(c, &a.PortNum, 16, 8, "PortNum", decimal)
	bits(c, &a.Options, 24, 8, "Options", hexa)
	nested(c, &a.PortInfo, 32, "PortInfo")
}

// A GUIDInfoRecord is one block of subnet administration's GUID table of a port
// (15.2.5.18).
type GUIDInfoRecord struct {
	LID   ib.LID
	Block uint8
	Table GUIDInfo
}

// ID returns AttrGUIDInfoRecord.
func (*GUIDInfoRecord) ID() AttrID { return AttrGUIDInfoRecord }

func (*GUIDInfoRecord) format() format { return format{ClassSA, 72} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a GUIDInfoRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *GUIDInfoRecord) fields(c *codec) {
	bits(c, &a.LID, 0, 16, "LID", decimal)
	bits(c, &a.Block, 16, 8, "BlockNum", decimal)
	reserved(c, 24, 8)
	reserved(c, 32, 32)
	nested(c, &a.Table, 64, "GUIDInfo")
}

// A PKeyTableRecord is one block of subnet administration's partition table of a
// port (15.2.5.11).
type PKeyTableRecord struct {
	LID   ib.LID
	Block uint16
	Port  uint8
	Table PKeyTable
}

// ID returns AttrPKeyTableRecord.
func (*PKeyTableRecord) ID() AttrID { return AttrPKeyTableRecord }

func (*PKeyTableRecord) format() format { return format{ClassSA, 72} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PKeyTableRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PKeyTableRecord) fields(c *codec) {
	bits(c, &a.LID, 0, 16, "LID", decimal)
	bits(c, &a.Block, 16, 16, "BlockNum", decimal)
	bits(c, &a.Port, 32, 8, "PortNum", decimal)
	nested(c, &a.Table, 64, "PkeyTable")
}

// A SLtoVLMappingTableRecord is subnet administration's mapping of service
// levels to lanes, for packets from one port of a switch to another (15.2.5.4).
type SLtoVLMappingTableRecord struct {
	LID     ib.LID
	InPort  uint8 // 0 on adapters
	OutPort uint8
	Table   SLtoVLMapping
}

// ID returns AttrSLtoVLMappingTableRecord.
func (*SLtoVLMappingTableRecord) ID() AttrID { return AttrSLtoVLMappingTableRecord }

func (*SLtoVLMappingTableRecord) format() format { return format{ClassSA, 16} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SLtoVLMappingTableRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *SLtoVLMappingTableRecord) fields(c *codec) {
	bits(c, &a.LID, 0, 16, "LID", decimal)
	bits(c, &a.InPort, 16, 8, "InPort", decimal)
	bits(c, &a.OutPort, 24, 8, "OutPort", decimal)
	nested(c, &a.Table, 64, "SLtoVLMapping")
}

// A VLArbitrationTableRecord is one block of subnet administration's table of
// arbitration between the lanes of a port (15.2.5.9).
type VLArbitrationTableRecord struct {
	LID   ib.LID
	Port  uint8
	Block uint8 // counted from 1, as in [VLArbitration]
	Table VLArbitration
}

// ID returns AttrVLArbitrationTableRecord.
func (*VLArbitrationTableRecord) ID() AttrID { return AttrVLArbitrationTableRecord }

func (*VLArbitrationTableRecord) format() format { return format{ClassSA, 72} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a VLArbitrationTableRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *VLArbitrationTableRecord) fields(c *codec) {
	bits(c, &a.LID, 0, 16, "LID", decimal)
	bits(c, &a.Port, 16, 8, "PortNum", decimal)
	bits(c, &a.Block, 24, 8, "BlockNum", decimal)
	nested(c, &a.Table, 64, "VLArbitration")
}
