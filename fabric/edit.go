package fabric

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// The functions below change GUIDs of a fabric, for a comparison with its state after
// a device was replaced. They return the number of changed nodes or ports. NodeInfo
// keeps the GUID that the node reported.

// ReplaceNodeGUID changes the GUIDs of the nodes of a type. The ports of a switch have
// the GUID of the switch.
func (f *Fabric) ReplaceNodeGUID(kind mad.NodeType, before, after ib.GUID) (changed int) {
	for _, n := range f.Nodes {
		if n.Info.NodeType == kind && n.GUID == before {
			n.setGUID(after)
			changed++
		}
	}
	f.index()
	return changed
}

// ReplaceSystemGUID changes system image GUIDs.
func (f *Fabric) ReplaceSystemGUID(before, after ib.GUID) (changed int) {
	for _, n := range f.Nodes {
		if n.Info.SystemGUID == before {
			n.Info.SystemGUID = after
			changed++
		}
	}
	return changed
}

// ReplacePortGUID changes the GUID of a port of a node. For a switch, whose ports have
// its GUID, it changes the GUID of the node.
func (f *Fabric) ReplacePortGUID(node, before, after ib.GUID) (nodes, changed int) {
	for _, n := range f.Nodes {
		if n.GUID != node {
			continue
		}
		nodes++
		if n.IsSwitch() {
			if before == node {
				n.setGUID(after)
				changed++
			}
			continue
		}
		for _, p := range n.Ports {
			if p != nil && p.GUID == before {
				p.GUID = after
				changed++
				break
			}
		}
	}
	f.index()
	return nodes, changed
}

func (n *Node) setGUID(guid ib.GUID) {
	n.GUID = guid
	if !n.IsSwitch() {
		return
	}
	for _, p := range n.Ports {
		if p != nil {
			p.GUID = guid
		}
	}
}
