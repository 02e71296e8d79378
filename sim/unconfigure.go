package sim

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Unconfigure restores the state after power-on: ports have no LIDs, switches have no
// routes, and links that are up are in state Initialize.
func (f *Fabric) Unconfigure() {
	for _, n := range f.Nodes {
		n.LFT, n.mft, n.Switch.LinearFDBTop = nil, nil, 0
		for i := range n.Ports {
			info := &n.Ports[i].Info
			info.LID, info.LMC, info.SMLID, info.SMSL = 0, 0, 0, 0
			info.CapMask &^= mad.CapSM
			if n.Ports[i].up() {
				info.State = ib.PortInit
			}
		}
	}
}
