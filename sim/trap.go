package sim

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Trap is a notice that an agent sends to the subnet manager by itself.
type Trap struct {
	To       *Port // where it ends
	From, At ib.LID
	MAD      mad.Packet
}

// Traps returns the traps that agents have sent since it was called last and
// that got to where the subnet manager is.
func (f *Fabric) Traps() []Trap {
	var traps []Trap
	for _, n := range f.noticed {
		n.noticed = false
		from := &n.Ports[0]
		lid := from.Info.SMLID
		if from.Info.LID == 0 || lid == 0 {
			continue // nobody to be told yet
		}
		d, ok := f.routeLID(from, lid, true)
		if !ok || n.Silent || d.node.Silent {
			continue
		}
		traps = append(traps, Trap{To: d.Port(), From: from.Info.LID, At: lid, MAD: linkStateTrap(from.Info.LID)})
	}
	f.noticed = f.noticed[:0]
	return traps
}

// notice records that the state of a link at a switch has changed, but for
// changes that a subnet manager made itself (InfiniBand Architecture, Volume 1,
// 14.2.5.4 and 14.3.4).
func (p *Port) notice() {
	n := p.Node
	f := n.fabric
	if !f.inUse || !n.IsSwitch() || f.setting == p {
		return
	}
	n.Switch.PortStateChange = 1
	if !n.noticed {
		n.noticed = true
		f.noticed = append(f.noticed, n)
	}
}

// linkStateTrap returns trap 128, by which a switch says that the state of at
// least one of its links has changed.
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
	binary.BigEndian.PutUint16(notice[10:], uint16(lid)) // the switch whose links it is about
	return p
}
