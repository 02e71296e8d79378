package sim

import (
	"errors"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Configure does the work of a subnet manager once: it assigns LIDs to ports without
// one, fills the forwarding tables according to f.Manager, and activates all links that
// are up. The SM LID is that of the first channel adapter with a link. The fabric does
// not change if there is an error.
func (f *Fabric) Configure() error {
	sm := f.firstAdapter()
	if sm == nil {
		return errors.New("configure fabric: no channel adapter with a link for the subnet manager")
	}
	lids, err := f.planLIDs()
	if err != nil {
		return err
	}
	if err := f.routeAll(lids); err != nil {
		return err
	}
	for lid, p := range lids {
		if p != nil && p.Info.LID == 0 {
			p.Info.LID, p.Info.LMC = ib.LID(lid), 0
		}
	}
	for _, n := range f.Nodes {
		for i := range n.Ports {
			p := &n.Ports[i]
			if p.Info.LID != 0 {
				p.Info.SMLID = sm.Info.LID
			}
			if p.up() {
				p.Info.State = ib.PortActive
			}
		}
	}
	sm.Info.CapMask |= mad.CapSM
	for _, g := range f.admin.groups {
		g.routed = false
	}
	return nil
}

// resume is Configure for a fabric that was configured before: if some port has a LID, it
// only computes routes to the ports with LIDs. A subnet manager may have left out ports,
// as opensm does for a node with GUID 0.
func (f *Fabric) resume() error {
	lids, err := f.planLIDs()
	if err != nil {
		return err
	}
	top := -1
	for lid, p := range lids {
		switch {
		case p == nil:
		case p.Info.LID == 0:
			lids[lid] = nil
		default:
			top = lid
		}
	}
	if top < 0 {
		return f.Configure()
	}
	return f.routeAll(lids[:top+1])
}

// firstAdapter returns the first channel adapter port that is up, nil if all are down.
func (f *Fabric) firstAdapter() *Port {
	for _, n := range f.Nodes {
		if n.Info.NodeType == mad.NodeTypeCA && n.firstPort().up() {
			return n.firstPort()
		}
	}
	return nil
}
