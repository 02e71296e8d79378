package ibcacheedit

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// The functions below return the number of changed nodes or ports. They leave the indexes of
// the fabric as they are: caches are written from the list of nodes. NodeInfo keeps the GUID
// that the node reported.

// replaceNodeGUID changes the GUIDs of the nodes of a type. The ports of a switch have
// the GUID of the switch.
func replaceNodeGUID(f *fabric.Fabric, kind mad.NodeType, before, after ib.GUID) (changed int) {
	for _, n := range f.Nodes {
		if n.Info.NodeType == kind && n.GUID == before {
			setGUID(n, after)
			changed++
		}
	}
	return changed
}

// replaceSystemGUID changes system image GUIDs.
func replaceSystemGUID(f *fabric.Fabric, before, after ib.GUID) (changed int) {
	for _, n := range f.Nodes {
		if n.Info.SystemGUID == before {
			n.Info.SystemGUID = after
			changed++
		}
	}
	return changed
}

// replacePortGUID changes the GUID of a port of a node. For a switch, whose ports have
// its GUID, it changes the GUID of the node.
func replacePortGUID(f *fabric.Fabric, node, before, after ib.GUID) (nodes, changed int) {
	for _, n := range f.Nodes {
		if n.GUID != node {
			continue
		}
		nodes++
		if n.IsSwitch() {
			if before == node {
				setGUID(n, after)
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
	return nodes, changed
}

func setGUID(n *fabric.Node, guid ib.GUID) {
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
