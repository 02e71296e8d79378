package sim

import (
	"errors"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Configure does what a subnet manager does once: it gives every port a LID that
// has none, fills the switches' forwarding tables as f.Manager says, and activates
// every link that is up. The subnet manager is said to run at the first channel
// adapter that has a link. After an error the fabric is as it was.
func (f *Fabric) Configure() error {
	sm := f.firstAdapter()
	if sm == nil {
		return errors.New("configure fabric: no channel adapter with a link, where the subnet manager could run")
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

// resume is Configure for a fabric that was configured elsewhere: where all
// ports have LIDs already, it only finds routes.
func (f *Fabric) resume() error {
	lids, err := f.planLIDs()
	if err != nil {
		return err
	}
	for _, p := range lids {
		if p != nil && p.Info.LID == 0 {
			return f.Configure()
		}
	}
	return f.routeAll(lids)
}

// firstAdapter returns the first port of a channel adapter that is up; nil where
// there is none.
func (f *Fabric) firstAdapter() *Port {
	for _, n := range f.Nodes {
		if n.Info.NodeType == mad.NodeTypeCA && n.firstPort().up() {
			return n.firstPort()
		}
	}
	return nil
}
