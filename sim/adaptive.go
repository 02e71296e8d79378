package sim

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// maxARGroups is the maximum number of port groups in a switch.
const maxARGroups = 1024

// noGroup marks a LID without adaptive routing.
const noGroup = 0xffff

// adaptiveRouting are a switch's adaptive routing tables.
type adaptiveRouting struct {
	groups []mad.PortMask
	byLID  []uint16 // group for each LID, or noGroup
	known  map[mad.PortMask]uint16
}

// SetAdaptiveRouting turns adaptive routing on or off for switches. The switches need
// vendor agents. The group for a LID has the ports that the subnet manager considers
// equally good; a LID with a single port is routed by the forwarding table.
func (f *Fabric) SetAdaptiveRouting(on bool, switches ...*Node) error {
	for _, n := range switches {
		if !n.hasAdaptiveRouting() {
			return fmt.Errorf("turn on adaptive routing: %q is not a switch with a vendor agent", n.ID)
		}
		n.vendor.adaptive = nil
		if on {
			n.vendor.adaptive = &adaptiveRouting{}
		}
	}
	lids, err := f.knownLIDs()
	if err != nil {
		return err
	}
	g := newGraph(f)
	newRouter, _, err := g.routers(f, lids)
	if err != nil {
		return err
	}
	g.adapt(lids, newRouter)
	return nil
}

// adapt fills the tables in switches that have adaptive routing.
func (g *graph) adapt(lids []*Port, newRouter func() router) {
	behind := make([][]int, len(g.switches))
	for lid, p := range lids {
		if p == nil {
			continue
		}
		if n, _ := nextTo(p); n != nil {
			behind[n.index] = append(behind[n.index], lid)
		}
	}
	adaptive := false
	for _, n := range g.switches {
		if n.vendor != nil && n.vendor.adaptive != nil {
			adaptive = true
			n.vendor.adaptive.reset(len(lids))
		}
	}
	if !adaptive {
		return
	}
	r := newRouter()
	for to, lids := range behind {
		if len(lids) == 0 {
			continue
		}
		r.routeTo(to, func(from int, links []hop) {
			if v := g.switches[from].vendor; v != nil && v.adaptive != nil {
				v.adaptive.set(lids, links)
			}
		})
	}
}

// reset removes all groups.
func (r *adaptiveRouting) reset(lids int) {
	*r = adaptiveRouting{byLID: make([]uint16, lids), known: map[mad.PortMask]uint16{}}
	for i := range r.byLID {
		r.byLID[i] = noGroup
	}
}

// set enters a port group for LIDs. LIDs with a single port, and LIDs beyond the maximum
// number of groups, have no group.
func (r *adaptiveRouting) set(lids []int, links []hop) {
	if len(links) < 2 {
		return
	}
	var mask mad.PortMask
	for _, h := range links {
		mask.Add(h.port)
	}
	group, ok := r.known[mask]
	if !ok {
		if len(r.groups) == maxARGroups {
			return
		}
		group = uint16(len(r.groups))
		r.groups = append(r.groups, mask)
		r.known[mask] = group
	}
	for _, lid := range lids {
		r.byLID[lid] = group
	}
}
