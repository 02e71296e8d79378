package route

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/ib"
)

// An InactiveLink is a link that carries no data, because the port at either end is not
// active, and that paths cross.
type InactiveLink struct {
	Port  *Port  // switch port
	Paths uint64 // in both directions
}

// inactive reports whether a port carries no data. A port with unknown state counts as
// active.
func (p *Port) inactive() bool { return p.State != 0 && p.State != ib.PortActive }

// Inactive returns the end of a port's link that carries no data: the port, or its peer. It is
// nil if both ends are active, or their states unknown.
func (p *Port) Inactive() *Port {
	switch {
	case p.inactive():
		return p
	case p.Peer != nil && p.Peer.inactive():
		return p.Peer
	}
	return nil
}

// hasStates reports whether the state of a link is known.
func (r *Routing) hasStates() bool {
	return slices.ContainsFunc(r.Nodes, func(n *Node) bool {
		return slices.ContainsFunc(n.Ports, func(p Port) bool { return p.Peer != nil && p.State != 0 })
	})
}

// findInactive lists the paths' inactive links, links with the most paths first.
func (a *Analysis) findInactive(g *graph, load []uint64) {
	for s, n := range g.switches {
		for number := range g.radix[s] {
			c := g.base[s] + number
			p := &n.Ports[number]
			if p.Peer == nil || p.Inactive() == nil {
				continue
			}
			l := InactiveLink{Port: p, Paths: load[c]}
			switch {
			case g.end[c] >= 0: // from the end port to all LIDs but its own
				l.Paths += uint64(max(a.Destinations-1<<p.Peer.LMC, 0))
			case g.to[c] < 0 || comparePorts(p, p.Peer) > 0: // each link between switches once
				continue
			default:
				l.Paths += load[g.base[g.to[c]]+int32(p.Peer.Number)]
			}
			if l.Paths > 0 {
				a.Inactive = append(a.Inactive, l)
			}
		}
	}
	a.sortInactive()
}

// sortInactive sorts the links with the most paths to the front.
func (a *Analysis) sortInactive() {
	slices.SortStableFunc(a.Inactive, func(x, y InactiveLink) int { return cmp.Compare(y.Paths, x.Paths) })
}
