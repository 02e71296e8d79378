package sim

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
)

// lastLID is the highest unicast LID (InfiniBand Architecture, Volume 1, 4.1.3).
const lastLID = 0xbfff

// planLIDs returns the ports by LID, for all switches and linked ports on other nodes.
// Ports without a LID get the next free LIDs in node order.
func (f *Fabric) planLIDs() ([]*Port, error) {
	var fresh, settled []*Port
	wanted := 0
	for _, n := range f.Nodes {
		for i := range n.Ports {
			p := &n.Ports[i]
			switch {
			case n.IsSwitch() != (i == 0) || !n.IsSwitch() && !p.up():
			case p.Info.LID == 0:
				fresh = append(fresh, p)
				wanted++
			default:
				settled = append(settled, p)
				wanted += 1 << p.Info.LMC
			}
		}
	}
	if wanted > lastLID {
		return nil, fmt.Errorf("configure fabric: too many end ports: %d LIDs needed, %d available", wanted, lastLID)
	}
	lids := make([]*Port, lastLID+1)
	top := 0
	for _, p := range settled {
		for lid := int(p.Info.LID); lid < int(p.Info.LID)+1<<p.Info.LMC; lid++ {
			if lid > lastLID || !ib.LID(lid).IsUnicast() {
				return nil, fmt.Errorf("configure fabric: %s has LID %d, which is not a unicast LID", p, lid)
			}
			if lids[lid] != nil {
				return nil, fmt.Errorf("configure fabric: %s and %s both have LID %d", lids[lid], p, lid)
			}
			lids[lid] = p
			top = max(top, lid)
		}
	}
	next := 1
	for _, p := range fresh {
		for lids[next] != nil {
			next++
		}
		lids[next] = p
		top = max(top, next)
	}
	return lids[:top+1], nil
}
