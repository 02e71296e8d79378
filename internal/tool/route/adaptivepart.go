package route

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/ib"
)

// An AdaptiveFault is a group port at which packets can end, though the path by the
// forwarding tables arrives: a dead end, or a loop's beginning.
type AdaptiveFault struct {
	Cause  Cause // InLoop, DeadEnd …
	Switch *Node
	Port   uint8
	LIDs   int // destinations
	LID    ib.LID
	To     *Port
}

// An adaptivePart follows all ports in the adaptive routing groups to each of a worker's
// destinations.
type adaptivePart struct {
	graph  *graph
	deps   *dependencies
	faults map[faultKey]*AdaptiveFault

	state []visitState // by switch
}

// A visitState is a search's progress at a switch.
type visitState uint8

const (
	unvisited visitState = iota
	onPath               // the search has not left the switch
	visited
)

// newAdaptivePart returns nil if no switch's groups are known.
func newAdaptivePart(g *graph, deps *dependencies) *adaptivePart {
	if !slices.ContainsFunc(g.switches, func(n *Node) bool { return n.Adaptive != nil && n.Adaptive.Unconfirmed == "" }) {
		return nil
	}
	return &adaptivePart{graph: g, deps: deps, faults: map[faultKey]*AdaptiveFault{}, state: make([]visitState, len(g.switches))}
}

// each calls visit with a switch's output ports for a LID.
func (p *adaptivePart) each(s int32, lid ib.LID, static uint8, visit func(port uint8)) {
	group := p.graph.switches[s].Adaptive.Group(lid)
	if group == nil {
		visit(static)
		return
	}
	for port := range p.graph.radix[s] {
		if group.Has(uint8(port)) {
			visit(uint8(port))
		}
	}
}

// destination follows all groups' ports to a LID. The tree has the paths by the
// forwarding tables.
func (p *adaptivePart) destination(lid ib.LID, t *tree) {
	clear(p.state)
	for s := range p.graph.switches {
		if t.own[s] > 0 && p.state[s] == unvisited {
			p.search(int32(s), lid, t)
		}
	}
}

// search visits the switches that packets from a switch can reach. A path has at most as
// many switches as the fabric, so they bound the recursion depth.
func (p *adaptivePart) search(s int32, lid ib.LID, t *tree) {
	g := p.graph
	p.state[s] = onPath
	p.each(s, lid, t.out[s], func(port uint8) {
		if port == t.out[s] && t.next[s] < 0 {
			return // arrived, or a forwarding table fault
		}
		c := g.base[s] + int32(port)
		n := g.to[c]
		switch {
		case n < 0 && t.dest >= 0 && g.end[c] == t.dest:
		case n < 0 && g.switches[s].Ports[port].Peer == nil:
			p.fault(DeadEnd, s, port, lid)
		case n < 0:
			p.fault(WrongEnd, s, port, lid)
		case p.state[n] == onPath:
			p.fault(InLoop, s, port, lid)
			p.depend(c, n, lid, t)
		default:
			p.depend(c, n, lid, t)
			if port != t.out[s] && t.next[n] < arrived && g.switches[n].Adaptive.Group(lid) == nil {
				p.fault(Cause(-1-t.next[n]), s, port, lid)
			}
			if p.state[n] == unvisited {
				p.search(n, lid, t)
			}
		}
	})
	p.state[s] = visited
}

// depend adds an output port's dependencies on all ports of the next switch.
func (p *adaptivePart) depend(channel, n int32, lid ib.LID, t *tree) {
	g := p.graph
	p.each(n, lid, t.out[n], func(port uint8) {
		if int32(port) < g.radix[n] && port > 0 && g.to[g.base[n]+int32(port)] >= 0 {
			p.deps.add(channel, g.base[n], port)
		}
	})
}

// fault counts a destination to which packets can end at a port.
func (p *adaptivePart) fault(c Cause, s int32, port uint8, lid ib.LID) {
	k := faultKey{c, s, port}
	f := p.faults[k]
	if f == nil {
		f = &AdaptiveFault{Cause: c, Switch: p.graph.switches[s], Port: port, LID: lid}
		p.faults[k] = f
	}
	f.LIDs++
	f.LID = min(f.LID, lid)
}

// addTo adds the faults to the faults of the analysis.
func (p *adaptivePart) addTo(a *Analysis) {
	for _, f := range p.faults {
		i := slices.IndexFunc(a.AdaptiveFaults, func(o AdaptiveFault) bool {
			return o.Cause == f.Cause && o.Switch == f.Switch && o.Port == f.Port
		})
		if i < 0 {
			a.AdaptiveFaults = append(a.AdaptiveFaults, *f)
			continue
		}
		o := &a.AdaptiveFaults[i]
		o.LIDs += f.LIDs
		o.LID = min(o.LID, f.LID)
	}
}

// finishAdaptive sorts the faults, the worst first, and completes them.
func (a *Analysis) finishAdaptive(g *graph) {
	for i := range a.AdaptiveFaults {
		a.AdaptiveFaults[i].To = g.portOfLID(a.AdaptiveFaults[i].LID)
	}
	slices.SortFunc(a.AdaptiveFaults, func(x, y AdaptiveFault) int {
		return cmp.Or(cmp.Compare(y.LIDs, x.LIDs), cmp.Compare(x.Cause, y.Cause), cmp.Compare(x.Switch.GUID, y.Switch.GUID), cmp.Compare(x.Port, y.Port))
	})
}
