package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Place returns the port that a program attaches to: switch port 0, or the first port that
// is up on another node. name is a node's ID or, if no node has this ID, a description. A
// number in brackets selects an adapter port: "H-1[2]". The empty name stands for the first
// channel adapter.
func (f *Fabric) Place(name string) (*Port, error) {
	if name == "" {
		if p := f.firstAdapter(); p != nil {
			return p, nil
		}
		return nil, errors.New("attach to simulated fabric: no channel adapter with a link")
	}
	if n := f.named(name); n != nil {
		return n.firstPort(), nil
	}
	if node, port, ok := cutPort(name); ok {
		if n := f.named(node); n != nil && !n.IsSwitch() && port < len(n.Ports) {
			return &n.Ports[port], nil
		}
	}
	return nil, fmt.Errorf("attach to simulated fabric: no node %q", name)
}

// named returns the node with an ID or else a description, nil for an unknown name.
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

// cutPort splits NODE[NUMBER].
func cutPort(name string) (node string, port int, ok bool) {
	node, number, ok := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	if !ok || !strings.HasSuffix(name, "]") {
		return "", 0, false
	}
	port, err := strconv.Atoi(number)
	return node, port, err == nil && port > 0
}

// Management returns the port with the management settings for packets that arrive at this
// port: switch port 0, otherwise the port itself.
func (p *Port) Management() *Port { return p.Node.managed(p.Number) }
