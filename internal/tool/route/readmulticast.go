package route

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Positions of the parts in a MulticastForwardingTable modifier (InfiniBand
// Architecture, Volume 1, 14.2.5.12).
const (
	mftGroupShift = 28 // 16-port group
	mftBlockMask  = 0x1ff
	mftPorts      = 16 // a group's ports
)

// multicastGroups returns the number of 16-port groups.
func (n *Node) multicastGroups() uint32 { return uint32(len(n.Ports)+mftPorts-1) / mftPorts }

// multicastBlocks returns the number of multicast table blocks in use, times the port
// groups.
func (n *Node) multicastBlocks() uint32 {
	lids := uint32(n.Tables.MulticastCap)
	// A top of 0 is unknown; the LID before the first LID is an empty table.
	if top := n.Tables.MulticastTop; top >= ib.MinMulticastLID-1 {
		lids = min(lids, uint32(top)-uint32(ib.MinMulticastLID)+1)
	}
	lids = min(lids, uint32(ib.MaxMulticastLID-ib.MinMulticastLID)+1)
	return (lids + mftBlock - 1) / mftBlock * n.multicastGroups()
}

// multicastModifier returns the modifier for the block with an index: all port groups
// in a block follow each other.
func (n *Node) multicastModifier(index uint32) uint32 {
	groups := n.multicastGroups()
	return index%groups<<mftGroupShift | index/groups&mftBlockMask
}

// storeMulticast enters a block into the multicast table.
func (n *Node) storeMulticast(modifier uint32, block *mad.MulticastForwardingTable) {
	first := ib.MinMulticastLID + ib.LID(modifier&mftBlockMask)*mftBlock
	for i, mask := range block.Masks {
		if mask == 0 {
			continue
		}
		if n.Tables.MFT == nil {
			n.Tables.MFT = map[ib.LID]mad.PortMask{}
		}
		ports := n.Tables.MFT[first+ib.LID(i)]
		for bit := range mftPorts {
			if mask>>bit&1 != 0 {
				ports.Add(uint8(modifier>>mftGroupShift*mftPorts + uint32(bit)))
			}
		}
		n.Tables.MFT[first+ib.LID(i)] = ports
	}
}
