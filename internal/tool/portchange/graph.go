package portchange

import (
	"errors"
	"maps"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A graph is a scanned fabric's links, and some links are taken as down.
type graph struct {
	fabric *fabric.Fabric
	root   *fabric.Node          // of the subnet manager; the local node if it is unknown
	down   map[*fabric.Port]bool // both ends of each link
}

func newGraph(f *fabric.Fabric, smLID ib.LID) *graph {
	g := &graph{fabric: f, root: f.Start, down: map[*fabric.Port]bool{}}
	if p := portWithLID(f, smLID); p != nil {
		g.root = p.Node
	}
	return g
}

// portWithLID returns the port with a LID, or nil.
func portWithLID(f *fabric.Fabric, lid ib.LID) *fabric.Port {
	if lid == 0 {
		return nil
	}
	for _, n := range f.Nodes {
		for _, p := range n.Ports {
			if p == nil || p.Info == nil || n.IsSwitch() && p.Number != 0 {
				continue
			}
			if first := p.Info.LID; first != 0 && lid >= first && int(lid) < int(first)+1<<p.Info.LMC {
				return p
			}
		}
	}
	return nil
}

// set records a port's link state.
func (g *graph) set(p *fabric.Port, down bool) {
	for _, end := range []*fabric.Port{p, p.Peer} {
		switch {
		case end == nil:
		case down:
			g.down[end] = true
		default:
			delete(g.down, end)
		}
	}
}

// without calls f with a port's link down.
func (g *graph) without(p *fabric.Port, f func()) {
	if g.down[p] {
		f()
		return
	}
	g.set(p, true)
	defer g.set(p, false)
	f()
}

// reached returns the nodes that the root reaches. Only switches forward packets.
func (g *graph) reached() map[*fabric.Node]bool {
	seen := map[*fabric.Node]bool{g.root: true}
	for queue := []*fabric.Node{g.root}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if n != g.root && !n.IsSwitch() {
			continue
		}
		for _, p := range n.Ports {
			if p != nil && p.Peer != nil && !g.down[p] && !seen[p.Peer.Node] {
				seen[p.Peer.Node] = true
				queue = append(queue, p.Peer.Node)
			}
		}
	}
	return seen
}

// cutOff returns the nodes that lose their only path if a port's link goes down, in fabric
// order.
func (g *graph) cutOff(p *fabric.Port) []*fabric.Node {
	if p.Peer == nil || g.down[p] {
		return nil
	}
	before := g.reached()
	var nodes []*fabric.Node
	g.without(p, func() {
		after := g.reached()
		for _, n := range g.fabric.Nodes {
			if before[n] && !after[n] {
				nodes = append(nodes, n)
			}
		}
	})
	return nodes
}

// clone returns a copy with links that change independently.
func (g *graph) clone() *graph {
	return &graph{fabric: g.fabric, root: g.root, down: maps.Clone(g.down)}
}

// aim finds the routes to a step's port and to its peer: if possible without the port's
// link, so that the change does not affect the requests. It reports whether the route to
// the port is such a route.
func (g *graph) aim(st *Step) (around bool, err error) {
	p := st.Port
	st.to, st.peerTo = umad.Target{}, nil
	var route mad.Route
	g.without(p, func() { route, around = g.route(p) })
	if !p.Node.IsSwitch() {
		around = false
	}
	if !around {
		var ok bool
		if route, ok = g.route(p); !ok {
			return false, errNoRoute
		}
	}
	st.to = umad.Target{Route: route}
	if p.Peer == nil {
		return around, nil
	}
	var peer mad.Route
	var ok bool
	g.without(p, func() { peer, ok = g.route(p.Peer) })
	if !ok {
		peer, ok = g.route(p.Peer)
	}
	if ok {
		st.peerTo = &umad.Target{Route: peer}
	}
	return around, nil
}

var errNoRoute = errors.New("no directed route leads to the port: its link is down, or only another port of its node is connected")

// route returns a shortest directed route from the local port to a port's agent, and false
// if there is none. Each port on an adapter has its own agent, which requests reach through
// that port.
func (g *graph) route(p *fabric.Port) (mad.Route, bool) {
	start := g.fabric.Start
	if p.Node == start && (start.IsSwitch() || p.Number == g.fabric.StartPort) {
		return mad.Local, true
	}
	last := p
	var hops []byte
	if !p.Node.IsSwitch() {
		if p.Peer == nil || g.down[p] {
			return mad.Route{}, false
		}
		last = p.Peer
		hops = append(hops, last.Number)
	}
	from := g.tree()
	for n := last.Node; n != start; {
		via := from[n]
		if via == nil {
			return mad.Route{}, false
		}
		hops = append(hops, via.Number)
		n = via.Node
	}
	if last.Node == start && !start.IsSwitch() && last.Number != g.fabric.StartPort {
		return mad.Route{}, false // directed routes leave an adapter through the local port only
	}
	if len(hops) > mad.MaxHops {
		return mad.Route{}, false
	}
	slices.Reverse(hops)
	return mad.RouteOf(hops...), true
}

// tree returns for each switch that directed routes reach the port before it on a shortest
// route.
func (g *graph) tree() map[*fabric.Node]*fabric.Port {
	start := g.fabric.Start
	from := map[*fabric.Node]*fabric.Port{}
	for queue := []*fabric.Node{start}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		for _, p := range n.Ports {
			if p == nil || p.Peer == nil || g.down[p] || n == start && !n.IsSwitch() && p.Number != g.fabric.StartPort {
				continue
			}
			next := p.Peer.Node
			if next != start && next.IsSwitch() && from[next] == nil {
				from[next] = p
				queue = append(queue, next)
			}
		}
	}
	return from
}
