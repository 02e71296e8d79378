package sim

import "github.com/ibkit/ibkit/ib"

// splitParameter selects switches with connectors that are split for cables to two hosts:
// each connector is two 2-lane ports with consecutive numbers. A cable that uses a whole
// connector has all four lanes on the first port; the second port stays down.
var splitParameter = Parameter{"split", "1", "2: two ports per connector of a switch with hosts; hosts have 2X"}

// split returns the number of ports per connector.
func (p *params) split(l LinkSpec) int {
	n := p.number("split", 1, 2)
	if n == 2 && or(l.Width, ib.Width4X) != ib.Width4X {
		p.fail("split=2: only 4X ports can be split")
	}
	return n
}

// addEdge adds a switch for hosts. Each connector has split ports.
func (b *builder) addEdge(connectors, split int, format string, args ...any) *Node {
	if split == 1 {
		return b.addSwitch(connectors, format, args...)
	}
	whole := b.link
	b.link.Width = ib.Width2X
	n := b.addSwitch(connectors*split, format, args...)
	b.link = whole
	b.splits[n] = true
	if n != nil {
		n.split = true
	}
	return n
}

// whole returns the first port of a split switch's free connector.
func (b *builder) whole(n *Node) *Port {
	i := b.next[n] + 1
	if i%2 == 0 {
		i++
	}
	if i+1 >= len(n.Ports) {
		return nil
	}
	b.next[n] = i + 1
	n.Ports[i].Info = b.link.portInfo(false)
	return &n.Ports[i]
}
