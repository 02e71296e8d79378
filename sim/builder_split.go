package sim

import "github.com/ibkit/ibkit/ib"

// splitParameter asks for switches as they are where cables lead from one
// connector to two hosts: each connector is two ports of two lanes, with numbers
// that follow one another. Where a cable takes a connector for itself, the first
// port has all four lanes and the second stays down.
var splitParameter = Parameter{"split", "1", "2: each connector of a switch with hosts is two ports, so that hosts have 2X"}

// split reads the parameter: how many ports a connector is.
func (p *params) split(l LinkSpec) int {
	n := p.number("split", 1, 2)
	if n == 2 && or(l.Width, ib.Width4X) != ib.Width4X {
		p.fail("split=2: only ports at 4X can be split")
	}
	return n
}

// addEdge adds a switch for hosts with connectors that are so many ports each.
func (b *builder) addEdge(connectors, split int, format string, args ...any) *Node {
	if split == 1 {
		return b.addSwitch(connectors, format, args...)
	}
	whole := b.link
	b.link.Width = ib.Width2X
	n := b.addSwitch(connectors*split, format, args...)
	b.link = whole
	b.splits[n] = true
	return n
}

// whole returns the first port of a split switch's connector that is free.
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
