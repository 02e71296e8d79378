package sim

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// builder adds nodes and links of one kind to a fabric. It keeps the first
// error, so that presets read as what they build.
type builder struct {
	fabric *Fabric
	link   LinkSpec
	next   map[*Node]int // the lowest port that may be free
	err    error
}

func newBuilder(f *Fabric, l LinkSpec) *builder {
	return &builder{fabric: f, link: l, next: map[*Node]int{}}
}

func (b *builder) add(kind mad.NodeType, ports int, format string, args ...any) *Node {
	if b.err != nil {
		return nil
	}
	n, err := b.fabric.Add(NodeSpec{Kind: kind, ID: fmt.Sprintf(format, args...), Ports: ports, Link: b.link})
	b.err = err
	return n
}

func (b *builder) addSwitch(ports int, format string, args ...any) *Node {
	return b.add(mad.NodeTypeSwitch, ports, format, args...)
}

func (b *builder) addHost(format string, args ...any) *Node {
	return b.add(mad.NodeTypeCA, 1, format, args...)
}

// connect links two nodes by the lowest port of each that is free.
func (b *builder) connect(n, m *Node) *Port {
	if b.err != nil {
		return nil
	}
	p, q := b.free(n), b.free(m)
	if b.err == nil {
		b.err = b.fabric.Connect(p, q)
	}
	return p
}

func (b *builder) free(n *Node) *Port {
	for b.next[n]++; b.next[n] < len(n.Ports); b.next[n]++ {
		if p := &n.Ports[b.next[n]]; p.Peer == nil {
			return p
		}
	}
	b.err = fmt.Errorf("switch %q has too few ports (%d)", n.ID, len(n.Ports)-1)
	return nil
}
