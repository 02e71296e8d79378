package sim

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// builder adds nodes and links to a fabric, all with the same link settings. It keeps the
// first error, so that preset code needs no error handling.
type builder struct {
	fabric *Fabric
	link   LinkSpec
	next   map[*Node]int // all ports below this number are in use
	err    error

	splits map[*Node]bool // switches with two ports per connector
}

func newBuilder(f *Fabric, l LinkSpec) *builder {
	return &builder{fabric: f, link: l, next: map[*Node]int{}, splits: map[*Node]bool{}}
}

func (b *builder) add(kind mad.NodeType, ports int, format string, args ...any) *Node {
	return b.addSpec(NodeSpec{Kind: kind, ID: fmt.Sprintf(format, args...), Ports: ports})
}

// addSpec adds a node with the builder's link settings.
func (b *builder) addSpec(s NodeSpec) *Node {
	if b.err != nil {
		return nil
	}
	s.Link = b.link
	n, err := b.fabric.Add(s)
	b.err = err
	return n
}

func (b *builder) addSwitch(ports int, format string, args ...any) *Node {
	return b.add(mad.NodeTypeSwitch, ports, format, args...)
}

func (b *builder) addHost(format string, args ...any) *Node {
	return b.add(mad.NodeTypeCA, 1, format, args...)
}

// connect links a node's lowest free port to the lowest free port of another node. Links
// between two split switches use whole connectors.
func (b *builder) connect(n, m *Node) *Port {
	if b.err != nil {
		return nil
	}
	p, q := b.free(n, m), b.free(m, n)
	if b.err == nil {
		b.err = b.fabric.Connect(p, q)
	}
	return p
}

// free returns a node's free port for a link to another node.
func (b *builder) free(n, other *Node) *Port {
	if b.splits[n] && other.IsSwitch() {
		if p := b.whole(n); p != nil {
			return p
		}
	} else {
		for b.next[n]++; b.next[n] < len(n.Ports); b.next[n]++ {
			if p := &n.Ports[b.next[n]]; p.Peer == nil {
				return p
			}
		}
	}
	b.err = fmt.Errorf("switch %q has too few ports: %d", n.ID, len(n.Ports)-1)
	return nil
}
