package fabric

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// finish completes a fabric with known nodes and links: it sorts nodes and
// failures, finds shortest routes, groups chassis and fills the lookup tables.
func (f *Fabric) finish() {
	f.sortNodes()
	f.groupSystems()
	f.sortFailures()
	slices.SortStableFunc(f.Conflicts, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.GUID, b.GUID), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Detail, b.Detail))
	})
	f.index()
}

// sortNodes sorts the nodes in the order of a breadth-first walk from the start, so
// that neither their order nor their routes depend on the reply order.
func (f *Fabric) sortNodes() {
	seen := make(map[*Node]bool, len(f.Nodes))
	order := make([]*Node, 0, len(f.Nodes))
	visit := func(n *Node, route mad.Route) {
		seen[n] = true
		n.Route = route
		f.MaxHops = max(f.MaxHops, route.Hops())
		order = append(order, n)
	}
	if f.Start != nil {
		if f.Start.Route.IsNone() {
			f.Start.Route = mad.Local
		}
		visit(f.Start, f.Start.Route)
	}
	for i := 0; i < len(order); i++ {
		n := order[i]
		if !n.IsSwitch() && n != f.Start {
			continue // directed routes do not pass through channel adapters
		}
		for _, p := range n.Ports {
			if p == nil || p.Peer == nil || !p.linkable() || seen[p.Peer.Node] || n.Route.Hops() == mad.MaxHops {
				continue
			}
			switch {
			case n.IsSwitch():
				visit(p.Peer.Node, n.Route.Append(p.Number))
			case p.Number != f.StartPort:
				// Routes leave an adapter only through the scan's port.
			case n.Route.Hops() > 0:
				visit(p.Peer.Node, n.Route.Parent())
			default:
				visit(p.Peer.Node, n.Route.Append(p.Number))
			}
		}
	}
	rest := make([]*Node, 0)
	for _, n := range f.Nodes {
		if !seen[n] {
			rest = append(rest, n)
			f.MaxHops = max(f.MaxHops, n.Route.Hops())
		}
	}
	slices.SortStableFunc(rest, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(a.GUID, b.GUID), a.Route.Compare(b.Route))
	})
	f.Nodes = append(order, rest...)
}

// sortFailures sorts the failures by node. A failure's route is the last criterion
// because it may differ between two scans in the same fabric.
func (f *Fabric) sortFailures() {
	place := make(map[ib.GUID]int, len(f.Nodes))
	for i := len(f.Nodes) - 1; i >= 0; i-- {
		place[f.Nodes[i].GUID] = i
	}
	slices.SortStableFunc(f.Failures, func(a, b Failure) int {
		return cmp.Or(
			cmp.Compare(place[a.NodeGUID], place[b.NodeGUID]),
			cmp.Compare(a.Port, b.Port),
			cmp.Compare(a.Attr, b.Attr),
			cmp.Compare(a.Modifier, b.Modifier),
			a.Route.Compare(b.Route),
		)
	})
}
