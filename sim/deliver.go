package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Place returns the port that one attaches to by a node's ID or, where no node
// has that ID, by its description; "" stands for the first channel adapter. It
// is a switch's management port and the first port of others that is up. A
// number in brackets after the name picks another port of an adapter: "H-1[2]".
func (f *Fabric) Place(name string) (*Port, error) {
	if name == "" {
		if p := f.firstAdapter(); p != nil {
			return p, nil
		}
		return nil, errors.New("attach to simulated fabric: it has no channel adapter with a link")
	}
	if n := f.named(name); n != nil {
		return n.firstPort(), nil
	}
	if node, port, ok := cutPort(name); ok {
		if n := f.named(node); n != nil && !n.IsSwitch() && port < len(n.Ports) {
			return &n.Ports[port], nil
		}
	}
	return nil, fmt.Errorf("attach to simulated fabric: it has no node %q", name)
}

// named returns a node by its ID, else by its description; nil: there is none.
func (f *Fabric) named(name string) *Node {
	if n := f.byID[name]; n != nil {
		return n
	}
	for _, n := range f.Nodes {
		if n.Desc.String() == name {
			return n
		}
	}
	return nil
}

// cutPort takes NODE[NUMBER] apart.
func cutPort(name string) (node string, port int, ok bool) {
	node, number, ok := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	if !ok || !strings.HasSuffix(name, "]") {
		return "", 0, false
	}
	port, err := strconv.Atoi(number)
	return node, port, err == nil && port > 0
}

// Management returns the port that speaks for the node towards what comes in by
// this one: port 0 of a switch, the port itself elsewhere.
func (p *Port) Management() *Port { return p.Node.managed(p.Number) }
