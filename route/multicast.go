package route

import "github.com/ibkit/ibkit/ib"

// A MulticastTree is the distribution of the packets of one multicast LID.
type MulticastTree struct {
	LID      ib.LID
	Switches int // with an entry
	Members  int // end ports that an entry leads to

	// Loop is an output port that closes a loop; nil: there is no loop.
	Loop *Port

	// Apart are end ports that packets from the other members do not reach.
	Apart []*Port

	// OneWay are output ports whose peer does not forward packets of the group back.
	OneWay []*Port

	// Dead are output ports of entries without a link.
	Dead []*Port
}

// checkMulticast checks the trees of all multicast LIDs. Packets of a group must reach
// each end port that an entry leads to, from each other one, once.
func checkMulticast(r *Routing) []MulticastTree {
	var trees []MulticastTree
	for _, lid := range r.sortedGroups() {
		c := &multicastCheck{lid: lid, tree: MulticastTree{LID: lid}, part: map[*Node]*Node{}}
		c.run(r)
		trees = append(trees, c.tree)
	}
	return trees
}

// A multicastCheck checks the tree of one LID.
type multicastCheck struct {
	lid  ib.LID
	tree MulticastTree
	part map[*Node]*Node // union-find: switches that packets of the group connect
	ends []*Port         // the members in order
}

// has reports whether a switch forwards packets of the group through a port.
func (c *multicastCheck) has(p *Port) bool {
	if p.Node.Tables == nil {
		return false
	}
	mask, ok := p.Node.Tables.MFT[c.lid]
	return ok && mask.Has(p.Number)
}

// root returns the representative of the part of a switch.
func (c *multicastCheck) root(n *Node) *Node {
	for c.part[n] != nil {
		n = c.part[n]
	}
	return n
}

func (c *multicastCheck) run(r *Routing) {
	for _, n := range r.Nodes {
		if n.Tables == nil {
			continue
		}
		if _, ok := n.Tables.MFT[c.lid]; !ok {
			continue
		}
		c.tree.Switches++
		for i := 1; i < len(n.Ports); i++ {
			if p := &n.Ports[i]; c.has(p) {
				c.output(p)
			}
		}
	}
	c.tree.Members = len(c.ends)
	c.findApart()
}

// output adds an output port of the group.
func (c *multicastCheck) output(p *Port) {
	peer := p.Peer
	switch {
	case peer == nil:
		c.tree.Dead = append(c.tree.Dead, p)
	case !peer.Node.IsSwitch():
		c.ends = append(c.ends, peer)
	case !c.has(peer):
		c.tree.OneWay = append(c.tree.OneWay, p)
	case comparePorts(p, peer) < 0: // each link once
		a, b := c.root(p.Node), c.root(peer.Node)
		if a == b {
			if c.tree.Loop == nil {
				c.tree.Loop = p
			}
			return
		}
		c.part[a] = b
	}
}

// findApart finds the members outside of the part of the tree with the most members.
func (c *multicastCheck) findApart() {
	sizes := map[*Node]int{}
	var largest *Node
	for _, e := range c.ends {
		root := c.root(e.Peer.Node)
		sizes[root]++
		if largest == nil || sizes[root] > sizes[largest] {
			largest = root
		}
	}
	for _, e := range c.ends {
		if c.root(e.Peer.Node) != largest {
			c.tree.Apart = append(c.tree.Apart, e)
		}
	}
}

// Sound reports whether each member receives each packet once.
func (t *MulticastTree) Sound() bool {
	return t.Loop == nil && len(t.Apart) == 0 && len(t.Dead) == 0
}
