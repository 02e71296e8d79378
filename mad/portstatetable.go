package mad

import "github.com/ibkit/ibkit/ib"

// A SwitchPortStateTable contains the states of 128 switch ports. Modifier bit 0
// selects the ports from 0 or from 128 on. A switch has the table if
// Cap2SwitchPortStateTable is set at port 0.
type SwitchPortStateTable struct {
	States [128]ib.PortState
}

// Spec returns the AttrSwitchPortStateTable spec.
func (*SwitchPortStateTable) Spec() Spec { return smpSpec(AttrSwitchPortStateTable) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwitchPortStateTable) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *SwitchPortStateTable) Layout(c *Codec) {
	Array(c, a.States[:], 0, 4, "PortState", Lines)
}
