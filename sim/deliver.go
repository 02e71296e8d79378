package sim

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Place returns the port that one attaches to by a node's ID or, where no node
// has that ID, by its description; "" stands for the first channel adapter. It
// is a switch's management port and the first port of others that is up.
func (f *Fabric) Place(name string) (*Port, error) {
	if name == "" {
		if p := f.firstAdapter(); p != nil {
			return p, nil
		}
		return nil, errors.New("attach to simulated fabric: it has no channel adapter with a link")
	}
	if n := f.byID[name]; n != nil {
		return n.firstPort(), nil
	}
	for _, n := range f.Nodes {
		if n.Desc.String() == name {
			return n.firstPort(), nil
		}
	}
	return nil, fmt.Errorf("attach to simulated fabric: it has no node %q", name)
}

// Reach returns the port by which a message that leaves a port comes to the node
// where it ends; nil where it is lost on the way or the node is silent.
func (f *Fabric) Reach(from *Port, m *umad.Message) *Port {
	d, ok := f.route(from, m)
	if !ok || d.node.Silent {
		return nil
	}
	return &d.node.Ports[d.entry]
}

// Answer has the agents of a node make a request that came in by a port into its
// reply, at once. It reports false where they do not answer, and leaves the
// request as it was.
func (f *Fabric) Answer(at *Port, p *mad.Packet) bool {
	return f.answer(destination{node: at.Node, entry: at.Number}, p)
}

// Management returns the port that speaks for the node towards what comes in by
// this one: port 0 of a switch, the port itself elsewhere.
func (p *Port) Management() *Port { return p.Node.managed(p.Number) }
