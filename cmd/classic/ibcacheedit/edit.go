package ibcacheedit

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// The functions below return the changed node or port count. They leave the fabric's
// indexes as they are: caches are written from the node list. NodeInfo keeps the GUID
// that the node reported.

// replaceNodeGUID changes node GUIDs for a node type. Switch ports have
// the switch's GUID.
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

// replacePortGUID changes a port GUID on a node. Switch ports have the switch's GUID, so
// for a switch it changes the node GUID.
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
