package fabric

import "github.com/ibkit/ibkit/mad"

// Assemble returns a fabric from nodes with ports and links that are known from another
// source than a scan: from a file, or from subnet administration. start is the local
// port, from which routes begin; nil stands for the first node, and its first port with
// a link is used. nodes must not be empty, and each link must have two ends.
//
// Assemble sets the nodes' routes and systems, and Duplicate in nodes that share a
// GUID.
func Assemble(nodes []*Node, start *Port) *Fabric {
	f := &Fabric{Nodes: nodes}
	if start != nil {
		f.Start, f.StartPort = start.Node, start.Number
	} else {
		f.Start = nodes[0]
		f.StartPort = entryPort(f.Start)
	}
	f.finish()
	for _, n := range f.Nodes {
		if first := f.byGUID[n.GUID]; first != n {
			first.Duplicate, n.Duplicate = true, true
		}
	}
	return f
}

// At returns a node's port, which is added if it is not known yet. Its GUID is the
// NodeInfo GUID, as for all switch ports.
func (n *Node) At(number uint8) *Port {
	if grow := int(number) + 1 - len(n.Ports); grow > 0 {
		n.Ports = append(n.Ports, make([]*Port, grow)...)
	}
	if n.Ports[number] == nil {
		n.Ports[number] = &Port{Node: n, Number: number, GUID: n.Info.PortGUID}
	}
	return n.Ports[number]
}

// PortAt returns the port with a number, nil if the port or the node itself is unknown.
func (n *Node) PortAt(number uint8) *Port {
	if n == nil || int(number) >= len(n.Ports) {
		return nil
	}
	return n.Ports[number]
}

// NewNode returns a node without known ports.
func NewNode(info mad.NodeInfo, desc mad.NodeDescription) *Node {
	return &Node{GUID: info.NodeGUID, Info: info, Desc: desc, Ports: make([]*Port, int(info.NumPorts)+1)}
}
