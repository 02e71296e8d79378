package topology

import (
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/topology"
)

// hasType reports whether a node has a selected type.
func (c *command) hasType(n *fabric.Node) bool {
	return c.types == nil || slices.Contains(c.types, n.Info.NodeType)
}

// selected returns the nodes that match --node.
func (c *command) selected(f *fabric.Fabric) []*fabric.Node {
	if len(c.nodes) == 0 {
		return f.Nodes
	}
	var nodes []*fabric.Node
	for _, n := range f.Nodes {
		if c.nodes.Match(n, c.names) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// cables returns the cables with an end that matches --node.
func (c *command) cables(f *fabric.Fabric) []topology.Cable {
	all := topology.Cables(f)
	if len(c.nodes) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(r topology.Cable) bool {
		return !c.nodes.Match(r.A.Node, c.names) && !c.nodes.Match(r.B.Node, c.names)
	})
}
