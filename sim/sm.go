package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/mad"
)

// Configure does what a subnet manager does once: it gives every port a LID that
// has none, fills the switches' forwarding tables with shortest paths, and activates every
// link that is up. The subnet manager is said to run at the first channel
// adapter that has a link.
func (f *Fabric) Configure() error {
	sm := f.firstAdapter()
	if sm == nil {
		return errors.New("configure fabric: no channel adapter with a link, where the subnet manager could run")
	}
	lids, err := f.assignLIDs()
	if err != nil {
		return err
	}
	for _, n := range f.Nodes {
		for i := range n.Ports {
			p := &n.Ports[i]
			if p.Info.LID != 0 {
				p.Info.SMLID = sm.Info.LID
			}
			if p.up() {
				p.Info.State = mad.PortActive
			}
		}
	}
	sm.Info.CapMask |= mad.CapSM
	f.routeAll(lids)
	return nil
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

// assignLIDs numbers switches and linked adapter ports in the order of the
// nodes, but for those that have LIDs already. It returns the ports by LID.
func (f *Fabric) assignLIDs() ([]*Port, error) {
	lids := make([]*Port, 1, len(f.Nodes)+1)
	var fresh []*Port
	for _, n := range f.Nodes {
		for i := range n.Ports {
			p := &n.Ports[i]
			switch {
			case n.IsSwitch() != (i == 0) || !n.IsSwitch() && !p.up():
			case p.Info.LID == 0:
				fresh = append(fresh, p)
			default:
				var err error
				if lids, err = takeLIDs(lids, p); err != nil {
					return nil, err
				}
			}
		}
	}
	next := 1
	for _, p := range fresh {
		for next < len(lids) && lids[next] != nil {
			next++
		}
		p.Info.LID, p.Info.LMC = uint16(min(next, 0xffff)), 0
		var err error
		if lids, err = takeLIDs(lids, p); err != nil {
			return nil, err
		}
	}
	return lids, nil
}

// takeLIDs enters a port at its LIDs.
func takeLIDs(lids []*Port, p *Port) ([]*Port, error) {
	for lid := int(p.Info.LID); lid < int(p.Info.LID)+1<<p.Info.LMC; lid++ {
		if lid > 0xffff || !mad.IsUnicastLID(uint16(lid)) {
			return nil, errors.New("configure fabric: more ports than there are LIDs")
		}
		for len(lids) <= lid {
			lids = append(lids, nil)
		}
		if lids[lid] != nil {
			return nil, fmt.Errorf("configure fabric: %s and %s both have LID %d", lids[lid], p, lid)
		}
		lids[lid] = p
	}
	return lids, nil
}

// routeAll fills the forwarding tables: from each switch towards each LID by a
// port that leads closer to it. Of several, the LID picks one, which spreads the
// destinations over them.
func (f *Fabric) routeAll(lids []*Port) {
	graph := newGraph(f, len(lids))
	behind := graph.attach(lids)
	for to, lids := range behind {
		if len(lids) > 0 {
			graph.routeTo(to, lids)
		}
	}
}

// A graph has the switches of a fabric by number and the links between them.
type graph struct {
	switches []*Node
	links    [][]hop // by switch

	distance []int // to the switch that is being routed to; -1: not reached
	queue    []int
	closer   []uint8
}

// hop is a link to another switch.
type hop struct {
	port uint8
	to   int
}

// newGraph numbers the switches, whose forwarding tables it empties.
func newGraph(f *Fabric, lids int) *graph {
	g := &graph{}
	for _, n := range f.Nodes {
		if n.IsSwitch() {
			n.index = len(g.switches)
			g.switches = append(g.switches, n)
			n.LFT = slices.Repeat([]uint8{noRoute}, lids)
			n.Switch.LinearFDBTop = uint16(lids - 1)
		}
	}
	g.links = make([][]hop, len(g.switches))
	g.distance = make([]int, len(g.switches))
	for i, n := range g.switches {
		for k := range n.Ports {
			if p := &n.Ports[k]; p.up() && p.Peer.Node.IsSwitch() {
				g.links[i] = append(g.links[i], hop{p.Number, p.Peer.Node.index})
			}
		}
	}
	return g
}

// attach sorts the LIDs by the switch that their ports hang off, for they are
// all reached by the same ways, and writes the last step to each.
func (g *graph) attach(lids []*Port) [][]int {
	behind := make([][]int, len(g.switches))
	for lid, p := range lids {
		if p == nil {
			continue
		}
		n, last := p.Node, uint8(0)
		if !n.IsSwitch() {
			if n, last = p.Peer.Node, p.Peer.Number; !n.IsSwitch() {
				continue // two adapters back to back need no table
			}
		}
		n.LFT[lid] = last
		behind[n.index] = append(behind[n.index], lid)
	}
	return behind
}

// routeTo fills the tables for the LIDs that are behind one switch, by a walk
// over all others that begins there.
func (g *graph) routeTo(to int, lids []int) {
	for i := range g.distance {
		g.distance[i] = -1
	}
	g.distance[to] = 0
	g.queue = append(g.queue[:0], to)
	for i := 0; i < len(g.queue); i++ {
		n := g.queue[i]
		g.closer = g.closer[:0]
		for _, h := range g.links[n] {
			switch {
			case g.distance[h.to] < 0:
				g.distance[h.to] = g.distance[n] + 1
				g.queue = append(g.queue, h.to)
			case g.distance[h.to] < g.distance[n]:
				g.closer = append(g.closer, h.port)
			}
		}
		if len(g.closer) > 0 {
			lft := g.switches[n].LFT
			for k, lid := range lids {
				lft[lid] = g.closer[k%len(g.closer)]
			}
		}
	}
}
