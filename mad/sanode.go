package mad

import "github.com/ibkit/ibkit/ib"

// A NodeRecord is subnet administration's NodeInfo and description for a node, by any
// of its ports with a LID (InfiniBand Architecture, Volume 1, 15.2.5.2).
type NodeRecord struct {
	LID         ib.LID
	NodeInfo    NodeInfo
	Description NodeDescription
}

// Spec returns the AttrNodeRecord spec.
func (*NodeRecord) Spec() Spec { return saSpec(AttrNodeRecord, 108) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a NodeRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *NodeRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "LID", Decimal)
	nested(c, &a.NodeInfo, 32, "NodeInfo")
	nested(c, &a.Description, 352, "NodeDescription")
}

// A SwitchInfoRecord is subnet administration's SwitchInfo (15.2.5.5).
type SwitchInfoRecord struct {
	LID        ib.LID
	SwitchInfo SwitchInfo
}

// Spec returns the AttrSwitchInfoRecord spec.
func (*SwitchInfoRecord) Spec() Spec { return saSpec(AttrSwitchInfoRecord, 24) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwitchInfoRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *SwitchInfoRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "LID", Decimal)
	nested(c, &a.SwitchInfo, 32, "SwitchInfo")
}

// A SMInfoRecord is subnet administration's SMInfo (15.2.5.10).
type SMInfoRecord struct {
	LID    ib.LID
	SMInfo SMInfo
}

// Spec returns the AttrSMInfoRecord spec.
func (*SMInfoRecord) Spec() Spec { return saSpec(AttrSMInfoRecord, 28) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SMInfoRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *SMInfoRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "LID", Decimal)
	nested(c, &a.SMInfo, 32, "SMInfo")
}
