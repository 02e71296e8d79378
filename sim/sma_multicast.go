package sim

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

const (
	mftBlock       = 32    // multicast LIDs in one MulticastForwardingTable packet
	mftGroup       = 16    // ports in one mask
	multicastCap   = 0x400 // multicast LIDs per switch
	mftBlockMask   = 0x1ff // modifier bits
	mftGroupShift  = 28    // of the modifier
	lastRoutedMLID = firstMLID + multicastCap - 1
)

// mftBlock returns a block from a switch's multicast forwarding table: for 32 multicast
// LIDs, masks for the 16 ports in a group.
func (n *Node) mftBlock(block, group int) (t mad.MulticastForwardingTable) {
	for i := range t.Masks {
		if ports := n.mft[ib.LID(firstMLID+block*mftBlock+i)]; ports != nil {
			low := len(ports) - 1 - 2*group
			t.Masks[i] = uint16(ports[low-1])<<8 | uint16(ports[low])
		}
	}
	return t
}

func (n *Node) setMFTBlock(block, group int, t *mad.MulticastForwardingTable) {
	for i, mask := range t.Masks {
		mlid := ib.LID(firstMLID + block*mftBlock + i)
		ports := n.mft[mlid]
		if ports == nil {
			if mask == 0 {
				continue
			}
			ports = n.routeMLID(mlid)
		}
		low := len(ports) - 1 - 2*group
		ports[low-1], ports[low] = uint8(mask>>8), uint8(mask)
	}
}

// routeMLID returns the ports by which a switch forwards a multicast LID, which may be
// changed.
func (n *Node) routeMLID(mlid ib.LID) *mad.PortMask {
	if n.mft == nil {
		n.mft = map[ib.LID]*mad.PortMask{}
	}
	if n.mft[mlid] == nil {
		n.mft[mlid] = new(mad.PortMask)
	}
	return n.mft[mlid]
}

// mftPosition returns the block and the port group that a modifier selects. It reports
// false if the switch has no such block or ports.
func (n *Node) mftPosition(modifier uint32) (block, group int, ok bool) {
	block, group = int(modifier&mftBlockMask), int(modifier>>mftGroupShift)
	return block, group, block < int(n.Switch.MulticastFDBCap)/mftBlock && group <= int(n.Info.NumPorts)/mftGroup
}

func getMFT(f *Fabric, d destination, p *mad.Packet) mad.Status {
	if !d.node.IsSwitch() {
		return mad.StatusBadMethodAttr
	}
	block, group, ok := d.node.mftPosition(p.Modifier())
	if !ok {
		return mad.StatusBadValue
	}
	f.routeGroups()
	t := d.node.mftBlock(block, group)
	return encode(p, &t)
}

func setMFT(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	var t mad.MulticastForwardingTable
	if !d.node.IsSwitch() || p.Decode(&t) != nil {
		return mad.StatusBadMethodAttr
	}
	block, group, ok := d.node.mftPosition(p.Modifier())
	if !ok {
		return mad.StatusBadValue
	}
	d.node.setMFTBlock(block, group, &t)
	return 0
}
