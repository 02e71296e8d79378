package sim

import "github.com/ibkit/ibkit/ib"

// routeGroups brings the multicast forwarding tables up to date with the groups in the
// fabric's own subnet manager. They are computed when a table is read, not at each
// group change.
func (f *Fabric) routeGroups() {
	if f.master == nil {
		return
	}
	var ports map[ib.GID]*Port
	for _, g := range f.multicast() {
		if g.routed || g.common.MLID > lastRoutedMLID {
			continue
		}
		if ports == nil {
			ports = map[ib.GID]*Port{}
			for p := range f.endPorts() {
				ports[p.gid()] = p
			}
		}
		f.unroute(g)
		f.routeGroup(g, ports)
		g.routed = true
	}
}

// unroute removes a group from all forwarding tables.
func (f *Fabric) unroute(g *group) {
	for _, n := range f.Nodes {
		delete(n.mft, g.common.MLID)
	}
}

// routeGroup fills in a tree: the shortest paths from the first member's switch to all
// members' switches.
func (f *Fabric) routeGroup(g *group, ports map[ib.GID]*Port) {
	var root *Node
	var towards map[*Node]*Port
	for i := range g.members {
		p := ports[g.members[i].PortGID]
		if p == nil {
			continue
		}
		n, last := nextTo(p)
		switch {
		case n == nil:
			continue
		case root == nil:
			root = n
			towards = spanningTree(root)
		case n != root && towards[n] == nil:
			continue
		}
		n.routeMLID(g.common.MLID).Add(last)
		for n != root {
			up := towards[n]
			n.routeMLID(g.common.MLID).Add(up.Number)
			up.Peer.Node.routeMLID(g.common.MLID).Add(up.Peer.Number)
			n = up.Peer.Node
		}
	}
}

// spanningTree returns, for each switch with a path to the root, the port that leads
// to the root.
func spanningTree(root *Node) map[*Node]*Port {
	towards := map[*Node]*Port{}
	for queue := []*Node{root}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		for i := range n.Ports {
			p := &n.Ports[i]
			if !p.up() || !p.Peer.Node.IsSwitch() {
				continue
			}
			if next := p.Peer.Node; next != root && towards[next] == nil {
				towards[next] = p.Peer
				queue = append(queue, next)
			}
		}
	}
	return towards
}
