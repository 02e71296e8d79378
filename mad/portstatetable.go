package mad

import "github.com/ibkit/ibkit/ib"

// A SwitchPortStateTable contains the states of 128 ports of a switch. Bit 0 of the
// modifier selects the ports from 0 or from 128 on. A switch has the table if
// Cap2SwitchPortStateTable is set at port 0.
type SwitchPortStateTable struct {
	States [128]ib.PortState
}

// ID returns AttrSwitchPortStateTable.
func (*SwitchPortStateTable) ID() AttrID { return AttrSwitchPortStateTable }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwitchPortStateTable) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *SwitchPortStateTable) fields(c *codec) {
	array(c, a.States[:], 0, 4, "PortState", lines)
}
