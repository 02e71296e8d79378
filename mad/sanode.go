package mad

import "github.com/ibkit/ibkit/ib"

// A NodeRecord is subnet administration's NodeInfo and description of a node, by
// one of its ports with a LID (InfiniBand Architecture, Volume 1, 15.2.5.2).
type NodeRecord struct {
	LID         ib.LID
	NodeInfo    NodeInfo
	Description NodeDescription
}

// ID returns AttrNodeRecord.
func (*NodeRecord) ID() AttrID { return AttrNodeRecord }

func (*NodeRecord) format() format { return format{ClassSA, 108} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a NodeRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *NodeRecord) fields(c *codec) {
	bits(c, &a.LID, 0, 16, "LID", decimal)
	nested(c, &a.NodeInfo, 32, "NodeInfo")
	nested(c, &a.Description, 352, "NodeDescription")
}

// A SwitchInfoRecord is subnet administration's SwitchInfo (15.2.5.5).
type SwitchInfoRecord struct {
	LID        ib.LID
	SwitchInfo SwitchInfo
}

// ID returns AttrSwitchInfoRecord.
func (*SwitchInfoRecord) ID() AttrID { return AttrSwitchInfoRecord }

func (*SwitchInfoRecord) format() format { return format{ClassSA, 24} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwitchInfoRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *SwitchInfoRecord) fields(c *codec) {
	bits(c, &a.LID, 0, 16, "LID", decimal)
	nested(c, &a.SwitchInfo, 32, "SwitchInfo")
}

// A SMInfoRecord is subnet administration's SMInfo (15.2.5.10).
type SMInfoRecord struct {
	LID    ib.LID
	SMInfo SMInfo
}

// ID returns AttrSMInfoRecord.
func (*SMInfoRecord) ID() AttrID { return AttrSMInfoRecord }

func (*SMInfoRecord) format() format { return format{ClassSA, 28} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SMInfoRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *SMInfoRecord) fields(c *codec) {
	bits(c, &a.LID, 0, 16, "LID", decimal)
	nested(c, &a.SMInfo, 32, "SMInfo")
}
