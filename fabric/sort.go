package fabric

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// finish brings a fabric whose nodes and links are known into its final form:
// nodes in the order that Fabric.Nodes promises, each with a shortest route,
// chassis grouped, failures sorted, look-up tables made.
func (f *Fabric) finish() {
	f.sortNodes()
	f.groupSystems()
	f.sortFailures()
	slices.SortStableFunc(f.Conflicts, func(a, b Conflict) int {
		return cmp.Or(cmp.Compare(a.GUID, b.GUID), cmp.Compare(a.Port, b.Port), cmp.Compare(a.Detail, b.Detail))
	})
	f.index()
}

// sortNodes walks the links breadth first from the start and puts the nodes
// into the order of that walk, so that neither their order nor their routes
// depend on the order in which replies arrived.
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
		visit(f.Start, f.Start.Route)
	}
	for i := 0; i < len(order); i++ {
		n := order[i]
		if n.Info.NodeType != mad.NodeTypeSwitch && n != f.Start {
			continue // no route leads through a channel adapter
		}
		for _, p := range n.Ports {
			if p == nil || p.Peer == nil || !p.linkable() || seen[p.Peer.Node] || n.Route.Hops() == mad.MaxHops {
				continue
			}
			switch {
			case n.Info.NodeType == mad.NodeTypeSwitch:
				visit(p.Peer.Node, n.Route.Append(p.Number))
			case p.Number != f.StartPort:
				// Of an adapter, only the port that the scan went out by leads on.
			case n.Route != "":
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
		return cmp.Or(cmp.Compare(a.GUID, b.GUID), cmp.Compare(a.Route, b.Route))
	})
	f.Nodes = append(order, rest...)
}

// sortFailures puts the failures into the order of the nodes that they are
// about. The route of a failure says how the packet went, which may differ
// between two scans of one fabric.
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
			cmp.Compare(a.Route, b.Route),
		)
	})
}
