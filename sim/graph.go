package sim

import (
	"slices"

	"github.com/ibkit/ibkit/ib"
)

// routeAll fills the forwarding tables for lids, the ports by LID. If several switch ports
// are on shortest paths, a [balancer] spreads the destinations over the ports.
func (f *Fabric) routeAll(lids []*Port) error {
	g := newGraph(f)
	newRouter, plan, err := g.routers(f, lids)
	if err != nil {
		return err
	}
	tables := make([][]uint8, len(g.switches))
	for i := range tables {
		tables[i] = slices.Repeat([]uint8{noRoute}, len(lids))
	}
	newBalancer(tables, lids).routeAll(newRouter(), g.attach(tables, lids))
	if err := plan.check(g, tables, lids); err != nil {
		return err
	}
	for i, n := range g.switches {
		n.LFT, n.Switch.LinearFDBTop = tables[i], ib.LID(len(lids)-1)
	}
	g.adapt(lids, newRouter)
	return nil
}

// routers returns a function that makes routers with the manager's algorithm, and the
// up/down routing plan.
func (g *graph) routers(f *Fabric, lids []*Port) (func() router, *upDownPlan, error) {
	if f.Manager.Routing != UpDown {
		return func() router { return newMinHop(g) }, nil, nil
	}
	plan, err := g.planUpDown(f, lids)
	return func() router { return newUpDown(plan) }, plan, err
}

// A graph numbers the switches in a fabric and holds the links between them.
type graph struct {
	switches []*Node
	links    [][]hop // by switch number
}

// A hop is a link to another switch.
type hop struct {
	port uint8
	to   int32
}

// newGraph numbers the switches in a fabric.
func newGraph(f *Fabric) *graph {
	g := &graph{}
	for _, n := range f.Nodes {
		if n.IsSwitch() {
			n.index = len(g.switches)
			g.switches = append(g.switches, n)
		}
	}
	g.links = make([][]hop, len(g.switches))
	for i, n := range g.switches {
		for k := range n.Ports {
			if p := &n.Ports[k]; p.up() && p.Peer.Node.IsSwitch() && p.Peer.Node != n {
				g.links[i] = append(g.links[i], hop{p.Number, int32(p.Peer.Node.index)})
			}
		}
	}
	return g
}

// nextTo returns the switch next to a port and the switch port that leads to it: 0 for
// the switch itself. It returns nil for an adapter that is not connected to a switch.
func nextTo(p *Port) (*Node, uint8) {
	if p.Node.IsSwitch() {
		return p.Node, 0
	}
	if !p.up() || !p.Peer.Node.IsSwitch() {
		return nil, 0
	}
	return p.Peer.Node, p.Peer.Number
}

// attach groups the LIDs by the switch next to their ports, since they share their
// routes to that switch, and enters the last hop to each LID.
func (g *graph) attach(tables [][]uint8, lids []*Port) [][]int {
	behind := make([][]int, len(g.switches))
	for lid, p := range lids {
		if p == nil {
			continue
		}
		if n, last := nextTo(p); n != nil {
			tables[n.index][lid] = last
			behind[n.index] = append(behind[n.index], lid)
		}
	}
	return behind
}

// A router computes routes. It keeps buffers between destinations and must be used by a
// single goroutine only.
type router interface {
	// routeTo calls choose for each switch with a path to the destination switch, with the
	// links that are equally good. They lead to the destination or to switches from earlier
	// calls. choose must not keep the links.
	routeTo(to int, choose func(from int, links []hop))
}
