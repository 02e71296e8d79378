package sim

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Trap is a notice that an agent sends to the subnet manager.
type Trap struct {
	To       *Port // destination
	From, At ib.LID
	MAD      mad.Packet
}

// Traps returns the traps that have reached the subnet manager since the last call.
func (f *Fabric) Traps() []Trap {
	var traps []Trap
	for _, n := range f.changed {
		n.changed = false
		from := &n.Ports[0]
		lid := from.Info.SMLID
		if from.Info.LID == 0 || lid == 0 {
			continue // no subnet manager yet
		}
		d, ok := f.routeLID(from, lid, true)
		if !ok || n.Silent || d.node.Silent {
			continue
		}
		traps = append(traps, Trap{To: d.Port(), From: from.Info.LID, At: lid, MAD: linkStateTrap(from.Info.LID)})
	}
	f.changed = f.changed[:0]
	return traps
}

// notice records a change of a switch's link, unless a subnet manager made the change
// (InfiniBand Architecture, Volume 1, 14.2.5.4 and 14.3.4).
func (p *Port) notice() {
	n := p.Node
	f := n.fabric
	if !f.inUse || !n.IsSwitch() || f.setting == p {
		return
	}
	n.Switch.PortStateChange = 1
	if !n.changed {
		n.changed = true
		f.changed = append(f.changed, n)
	}
}

// linkStateTrap returns trap 128: the state of a link of a switch has changed.
func linkStateTrap(lid ib.LID) (p mad.Packet) {
	const (
		genericUrgent = 1<<7 | 1
		fromSwitch    = 2
		linkState     = 128
	)
	p.PutSMP(mad.SMPRequest{TID: uint64(lid), Method: mad.MethodTrap, Attr: mad.AttrNotice})
	notice := p.Data()
	notice[0] = genericUrgent
	notice[3] = fromSwitch // 24 bits
	binary.BigEndian.PutUint16(notice[4:], linkState)
	binary.BigEndian.PutUint16(notice[6:], uint16(lid))
	binary.BigEndian.PutUint16(notice[10:], uint16(lid)) // the switch with the change
	return p
}
