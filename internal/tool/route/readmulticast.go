package route

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Positions of the parts of the modifier of a MulticastForwardingTable (InfiniBand
// Architecture, Volume 1, 14.2.5.12).
const (
	mftGroupShift = 28 // group of 16 ports
	mftBlockMask  = 0x1ff
	mftPorts      = 16 // ports of a group
)

// multicastGroups returns the number of groups of 16 ports.
func (n *Node) multicastGroups() uint32 { return uint32(len(n.Ports)+mftPorts-1) / mftPorts }

// multicastBlocks returns the number of blocks of the multicast table in use, times the
// groups of ports.
func (n *Node) multicastBlocks() uint32 {
	lids := uint32(n.Tables.MulticastCap)
	// A top of 0 is unknown; the LID before the first one is an empty table.
	if top := n.Tables.MulticastTop; top >= ib.MinMulticastLID-1 {
		lids = min(lids, uint32(top)-uint32(ib.MinMulticastLID)+1)
	}
	lids = min(lids, uint32(ib.MaxMulticastLID-ib.MinMulticastLID)+1)
	return (lids + mftBlock - 1) / mftBlock * n.multicastGroups()
}

// multicastModifier returns the modifier of the block with an index: all groups of
// ports of a block follow each other.
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
