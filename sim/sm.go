package sim

import (
	"errors"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Configure does a subnet manager's work once: it assigns LIDs to ports without one, fills
// the forwarding tables according to f.Manager, and activates all links that are up. The SM
// LID is the LID of the first channel adapter with a link. The fabric does not change if
// there is an error.
func (f *Fabric) Configure() error {
	lids, err := f.planLIDs()
	if err != nil {
		return err
	}
	return f.configure(lids)
}

// configure configures the ports in lids, which are indexed by their LIDs.
func (f *Fabric) configure(lids []*Port) error {
	sm := f.firstAdapter()
	if sm == nil {
		return errors.New("configure fabric: no channel adapter with a link for the subnet manager")
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
			if p.up() && p.Management().Info.LID != 0 && p.Peer.Management().Info.LID != 0 {
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

// reconfigure is Configure for a fabric with LIDs from an earlier scan: if some port has a
// LID, ports without one are left out, as opensm leaves out a node with GUID 0.
func (f *Fabric) reconfigure() error {
	lids, err := f.knownLIDs()
	if err != nil {
		return err
	}
	if sm := f.firstAdapter(); len(lids) == 0 || sm == nil || sm.Info.LID == 0 {
		return f.Configure()
	}
	return f.configure(lids)
}

// resume is reconfigure for a fabric that also has port states: it only computes routes.
func (f *Fabric) resume() error {
	lids, err := f.knownLIDs()
	if err != nil {
		return err
	}
	if len(lids) == 0 {
		return f.Configure()
	}
	return f.routeAll(lids)
}

// knownLIDs returns the ports that have a LID, by LID.
func (f *Fabric) knownLIDs() ([]*Port, error) {
	lids, err := f.planLIDs()
	if err != nil {
		return nil, err
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
	return lids[:top+1], nil
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
