package route

import (
	"slices"

	"github.com/ibkit/ibkit/ib"
)

// A MulticastTree is the distribution of a multicast LID's packets.
type MulticastTree struct {
	LID      ib.LID
	Switches int // with an entry
	Members  int // ports that an entry leads to

	// Loop is an output port that closes a loop; nil: there is no loop.
	Loop *Port

	// Apart are ports with an entry that packets from the other members do not reach.
	Apart []*Port

	// OneWay are output ports with a peer that does not forward the group's packets
	// back.
	OneWay []*Port

	// Dead are output ports in entries without a link.
	Dead []*Port

	// Joined is the member count according to subnet administration. Unreached are
	// members that no entry leads to, Cut members that only send and are on a switch
	// without an entry, and Strangers ports with an entry that are not members. They
	// are empty if the members are unknown.
	Joined                    int
	Unreached, Cut, Strangers []*Port
}

// checkMulticast checks all multicast LIDs' trees. A group's packets must reach each
// port that an entry leads to, from each other port, once. If the members are known,
// entries must lead to all of them, and to no other port. A single member needs no tree.
func checkMulticast(r *Routing) []MulticastTree {
	var trees []MulticastTree
	for _, lid := range r.sortedGroups() {
		c := &multicastCheck{lid: lid, tree: MulticastTree{LID: lid}, part: map[*Node]*Node{}}
		c.run(r)
		if m := r.Members[lid]; r.Members != nil {
			c.compare(m)
		}
		trees = append(trees, c.tree)
	}
	return trees
}

// A multicastCheck checks a LID's tree.
type multicastCheck struct {
	lid  ib.LID
	tree MulticastTree
	part map[*Node]*Node // union-find: switches that the group's packets connect
	ends []*Port         // the members in order
}

// has reports whether a switch forwards the group's packets through a port.
func (c *multicastCheck) has(p *Port) bool {
	mask, ok := p.Node.mask(c.lid)
	return ok && mask.Has(p.Number)
}

// root returns the representative for a switch's part.
func (c *multicastCheck) root(n *Node) *Node {
	for c.part[n] != nil {
		n = c.part[n]
	}
	return n
}

func (c *multicastCheck) run(r *Routing) {
	for _, n := range r.Nodes {
		mask, ok := n.mask(c.lid)
		if !ok {
			continue
		}
		c.tree.Switches++
		for i := range n.Ports {
			if p := &n.Ports[i]; mask.Has(p.Number) {
				c.output(p)
			}
		}
	}
	c.tree.Members = len(c.ends)
	c.findApart()
}

// output adds an output port for the group. Port 0 is the switch itself.
func (c *multicastCheck) output(p *Port) {
	peer := p.Peer
	switch {
	case p.Number == 0:
		c.ends = append(c.ends, p)
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

// findApart finds the members outside the tree part with the most members.
func (c *multicastCheck) findApart() {
	sizes := map[*Node]int{}
	var largest *Node
	rootOf := func(p *Port) *Node {
		sw, _ := attachment(p)
		return c.root(sw)
	}
	for _, e := range c.ends {
		root := rootOf(e)
		sizes[root]++
		if largest == nil || sizes[root] > sizes[largest] {
			largest = root
		}
	}
	for _, e := range c.ends {
		if rootOf(e) != largest {
			c.tree.Apart = append(c.tree.Apart, e)
		}
	}
}

// compare compares the tree with its groups' members; nil: there are none.
func (c *multicastCheck) compare(m *Members) {
	if m == nil {
		m = &Members{}
	}
	c.tree.Joined = m.Count()
	ends, joined := map[*Port]bool{}, map[*Port]bool{}
	for _, p := range c.ends {
		ends[p] = true
	}
	for _, p := range m.Receivers {
		if joined[p] = true; !ends[p] && m.Count() > 1 {
			c.tree.Unreached = append(c.tree.Unreached, p)
		}
	}
	for _, p := range m.Senders {
		joined[p] = true
		sw, _ := attachment(p)
		if _, ok := sw.mask(c.lid); !ok && len(m.Receivers) > 0 {
			c.tree.Cut = append(c.tree.Cut, p)
		}
	}
	for _, p := range c.ends {
		if !joined[p] && m.Unknown == 0 { // an unknown member may be another of the port's GUIDs
			c.tree.Strangers = append(c.tree.Strangers, p)
		}
	}
}

// Sound reports whether each member receives each packet once.
func (t *MulticastTree) Sound() bool { return len(t.defects()) == 0 }

// defects returns all findings' ports.
func (t *MulticastTree) defects() []*Port {
	ports := slices.Concat(t.Apart, t.OneWay, t.Dead, t.Unreached, t.Cut, t.Strangers)
	if t.Loop != nil {
		ports = append(ports, t.Loop)
	}
	return ports
}
