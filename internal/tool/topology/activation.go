package topology

import (
	"cmp"
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// ManagerLIDs returns the LIDs of subnet managers that active ports name.
func ManagerLIDs(f *fabric.Fabric) map[ib.LID]bool {
	lids := map[ib.LID]bool{}
	for _, n := range f.Nodes {
		for _, p := range n.Ports {
			if p != nil && p.Info != nil && p.Info.State == ib.PortActive && p.Info.SMLID != 0 {
				lids[p.Info.SMLID] = true
			}
		}
	}
	return lids
}

// MasterName returns the name of the node with the subnet manager that active ports name, "" if
// there is none, or the scan did not find the node.
func MasterName(f *fabric.Fabric, names *fabric.NameMap) string {
	lids := ManagerLIDs(f)
	for _, p := range endPorts(f) {
		if lids[p.LID()] {
			return names.Label(p.Node)
		}
	}
	return ""
}

// ActivationHint returns the next step for a link that the subnet manager on the node master has
// not activated: its log has the reason. Both ends have the same next step.
func ActivationHint(p *fabric.Port, master string) string {
	far := cmp.Or(p.Peer, p)
	if far.Node.IsSwitch() && !p.Node.IsSwitch() {
		p, far = far, p
	}
	return fmt.Sprintf("search the log of the subnet manager on %s for %v, or reset the link: ibkit port %v %d reset%s",
		master, far.Node.GUID, p.Node.GUID, p.Number, forceReset(far.Node))
}

// forceReset is the flag that a reset of a node's only link requires, or "".
func forceReset(n *fabric.Node) string {
	links := 0
	for _, p := range n.Ports {
		if p != nil && p.Peer != nil {
			links++
		}
	}
	if links == 1 {
		return " --force last-link"
	}
	return ""
}
