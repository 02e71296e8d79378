package fabric

// A Lack is a node in another fabric that a scan did not find.
type Lack struct {
	Node *Node // in the other fabric

	// End is the scan's port at which the path to the node ends, according to the other
	// fabric's links. It is nil if it is unknown.
	End *Port
}

// Lacks returns the nodes in another fabric, an earlier scan or the subnet administration
// records, that f does not have, in the other fabric's order, and only the first node with a
// GUID. It returns nil if f is blind, or if the scan ended before it had reached all nodes.
func (f *Fabric) Lacks(other *Fabric) []Lack {
	if f.blind != nil || f.Unfinished() {
		return nil
	}
	var lacks []Lack
	for _, n := range other.Nodes {
		if f.NodeByGUID(n.GUID) == nil && other.NodeByGUID(n.GUID) == n {
			lacks = append(lacks, Lack{Node: n})
		}
	}
	if lacks == nil {
		return nil
	}
	ends := f.pathEnds(other)
	for i := range lacks {
		lacks[i].End = ends[lacks[i].Node]
	}
	return lacks
}

// pathEnds returns the ports of f behind which the missing nodes of another fabric are.
func (f *Fabric) pathEnds(other *Fabric) map[*Node]*Port {
	ends := map[*Node]*Port{}
	var reached []*Node
	spread := func(n *Node, end func(*Port) *Port) {
		for _, p := range n.Ports {
			if p == nil || p.Peer == nil {
				continue
			}
			if next := p.Peer.Node; ends[next] == nil && f.NodeByGUID(next.GUID) == nil {
				if e := end(p); e != nil {
					ends[next] = e
					reached = append(reached, next)
				}
			}
		}
	}
	for _, n := range other.Nodes {
		if here := f.NodeByGUID(n.GUID); here != nil {
			spread(n, func(p *Port) *Port { return here.PortAt(p.Number) })
		}
	}
	for i := 0; i < len(reached); i++ {
		end := ends[reached[i]]
		spread(reached[i], func(*Port) *Port { return end })
	}
	return ends
}
