package sim

import (
	"errors"
	"slices"

	"github.com/ibkit/ibkit/mad"
)

// Configure does what a subnet manager does once: it gives every port a LID,
// fills the switches' forwarding tables with shortest paths, and activates every
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
// nodes. It returns the ports by LID.
func (f *Fabric) assignLIDs() ([]*Port, error) {
	lids := []*Port{nil}
	for _, n := range f.Nodes {
		for i := range n.Ports {
			p := &n.Ports[i]
			if n.IsSwitch() != (i == 0) || !n.IsSwitch() && !p.up() {
				continue
			}
			if !mad.IsUnicastLID(uint16(min(len(lids), 0xffff))) {
				return nil, errors.New("configure fabric: more ports than there are LIDs")
			}
			p.Info.LID = uint16(len(lids))
			lids = append(lids, p)
		}
	}
	return lids, nil
}

// routeAll fills the forwarding tables: from each switch towards each LID by a
// port that leads closer to it. Of several, the LID picks one, which spreads the
// destinations over them.
func (f *Fabric) routeAll(lids []*Port) {
	graph := newGraph(f, len(lids))
	behind := graph.attach(lids)
	for to, ports := range behind {
		if len(ports) > 0 {
			graph.routeTo(to, ports)
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

// attach sorts the ports that have a LID by the switch that they hang off, for
// they are all reached by the same ways, and writes the last step to each.
func (g *graph) attach(lids []*Port) [][]*Port {
	behind := make([][]*Port, len(g.switches))
	for _, p := range lids[1:] {
		n, last := p.Node, uint8(0)
		if !n.IsSwitch() {
			if n, last = p.Peer.Node, p.Peer.Number; !n.IsSwitch() {
				continue // two adapters back to back need no table
			}
		}
		n.LFT[p.Info.LID] = last
		behind[n.index] = append(behind[n.index], p)
	}
	return behind
}

// routeTo fills the tables for the ports that hang off one switch, by a walk
// over all others that begins there.
func (g *graph) routeTo(to int, ports []*Port) {
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
			for k, p := range ports {
				lft[p.Info.LID] = g.closer[k%len(g.closer)]
			}
		}
	}
}
