package netfile

// resolve finds each port's peer and checks that the lines for both ends agree. A link
// with only a single valid end is removed.
func (n *reader) resolve() {
	for _, node := range n.nodes {
		for number := 1; number <= node.NumPorts; number++ {
			p := node.Ports[number]
			if p == nil || p.remote == "" {
				continue
			}
			if err := n.findPeer(p); err != nil {
				p.Peer = nil
				n.rejectLink(p, err)
			}
		}
	}
	var oneSided []*Port
	for _, node := range n.nodes {
		for _, p := range node.Linked() {
			if to := p.Peer.Peer; to != p {
				oneSided = append(oneSided, p)
				n.rejectLink(p, p.otherPeer(p.Peer.String(), p.Peer))
			}
		}
	}
	for _, p := range oneSided {
		p.Peer = nil
	}
}

// otherPeer returns the error for a port that is linked to a port with another peer.
func (p *Port) otherPeer(to string, peer *Port) error {
	if peer.Peer == nil {
		return p.At.LineErrorf("%s is linked to %s, which has no valid link (%s)", p, to, peer.At.Location())
	}
	return p.At.LineErrorf("%s is linked to %s, which is linked to %s (%s)", p, to, peer.Peer, peer.At.Location())
}

// findPeer finds a port's peer. A port with an alias has no line that names the peer.
func (n *reader) findPeer(p *Port) error {
	if to := n.aliases[p.remote]; to != nil {
		if to.Peer != nil {
			return p.At.LineErrorf("%s is linked to %s, which is linked to %s (%s)", p, to.alias, to.Peer, to.Peer.At.Location())
		}
		p.Peer, to.Peer = to, p
		return nil
	}
	node := n.byID[p.remote]
	if node == nil {
		return p.At.LineErrorf("%s is linked to node %q, which is not in the file", p, p.remote)
	}
	if p.remoteNumber > node.NumPorts {
		return p.At.LineErrorf("%s is linked to port %d of node %q, which has %d ports", p, p.remoteNumber, p.remote, node.NumPorts)
	}
	p.Peer = node.Ports[p.remoteNumber]
	switch {
	case p.Peer == nil || p.Peer.remote == "":
		return p.At.LineErrorf("%s is linked to %q[%d], which has no line for the link", p, p.remote, p.remoteNumber)
	case p.Peer == p:
		return p.At.LineErrorf("%s is linked to itself", p)
	}
	return nil
}
