package route

import "github.com/ibkit/ibkit/ib"

// parts returns the routing's parts without a connection, each as a routing: they are subnets
// with LIDs of their own, stored in a file. End nodes do not forward packets, so a node with
// ports in two parts is in both. Nodes without a link are in the first part.
func (r *Routing) parts() []*Routing {
	part := map[*Node]int{} // of switches
	count := 0
	for _, n := range r.Nodes {
		if n.IsSwitch() && isLinked(n) && part[n] == 0 {
			count++
			mark(n, part, count)
		}
	}
	if count < 2 {
		return []*Routing{r}
	}
	parts := make([]*Routing, count)
	for i := range parts {
		p := *r
		p.Nodes, p.Failures, p.Members, p.within = nil, nil, nil, map[*Node]bool{}
		parts[i] = &p
	}
	for _, n := range r.Nodes {
		for i := range partsOf(n, part) {
			parts[i].Nodes = append(parts[i].Nodes, n)
			parts[i].within[n] = true
		}
	}
	for _, f := range r.Failures {
		for i, p := range parts {
			if f.Node == nil && i == 0 || p.within[f.Node] {
				p.Failures = append(p.Failures, f)
			}
		}
	}
	if r.Members != nil {
		for i, p := range parts {
			p.takeMembers(r.Members, i == 0)
		}
	}
	return parts
}

func isLinked(n *Node) bool {
	for i := range n.Ports {
		if n.Ports[i].Peer != nil {
			return true
		}
	}
	return false
}

// mark gives all switches that links connect with a switch its number.
func mark(n *Node, part map[*Node]int, number int) {
	part[n] = number
	for queue := []*Node{n}; len(queue) > 0; queue = queue[1:] {
		for i := range queue[0].Ports {
			peer := queue[0].Ports[i].Peer
			if peer != nil && peer.Node.IsSwitch() && part[peer.Node] == 0 {
				part[peer.Node] = number
				queue = append(queue, peer.Node)
			}
		}
	}
}

// partsOf returns the indexes of a node's parts.
func partsOf(n *Node, part map[*Node]int) map[int]bool {
	in := map[int]bool{}
	if number := part[n]; number > 0 {
		in[number-1] = true
	}
	for i := range n.Ports {
		if peer := n.Ports[i].Peer; peer != nil && part[peer.Node] > 0 {
			in[part[peer.Node]-1] = true
		}
	}
	if len(in) == 0 {
		in[0] = true
	}
	return in
}

// takeMembers takes the members in a part. The first part has the members that are not ports in
// the routing.
func (r *Routing) takeMembers(all map[ib.LID]*Members, first bool) {
	r.Members = map[ib.LID]*Members{}
	inside := func(ports []*Port) (in []*Port) {
		for _, p := range ports {
			if r.contains(p) {
				in = append(in, p)
			}
		}
		return in
	}
	for lid, m := range all {
		own := &Members{Receivers: inside(m.Receivers), Senders: inside(m.Senders)}
		if first {
			own.Unknown = m.Unknown
		}
		if own.Count() > 0 {
			r.Members[lid] = own
		}
	}
}

// contains reports whether a node's port is in the part.
func (r *Routing) contains(p *Port) bool {
	return r.within == nil || r.within[p.Node] && (p.Peer == nil || r.within[p.Peer.Node])
}
