package linkinfo

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Checks are the properties that a comparison of two fabrics includes.
type Checks struct {
	Connection  bool // peers of ports
	State       bool // port states
	LID         bool // LIDs of switches; with Connection also LIDs of peers
	Description bool // node descriptions; with Connection also those of peers
	PeerPort    bool // with Connection: port numbers of peers
}

// DefaultChecks are the checks of iblinkinfo --diff.
var DefaultChecks = Checks{Connection: true, State: true}

// ParseChecks parses a list, for example "port,state,lid,nodedesc".
func ParseChecks(s string) (Checks, error) {
	var c Checks
	for key := range strings.SplitSeq(s, ",") {
		switch strings.ToLower(key) {
		case "port":
			c.Connection = true
		case "state":
			c.State = true
		case "lid":
			c.LID = true
		case "nodedesc":
			c.Description = true
		default:
			return Checks{}, fmt.Errorf("invalid diff check key: %q (port, state, lid, nodedesc)", key)
		}
	}
	return c, nil
}

// A NodeDiff is the difference of one node between two fabrics.
type NodeDiff struct {
	Old, New *fabric.Node // one is nil if only the other fabric has the node

	Renamed   bool // the LID or the description differs, if included in the checks
	PortCount bool // the numbers of ports differ; Ports is empty then

	Ports []PortDiff
}

// A PortDiff is one port that differs.
type PortDiff struct {
	Old, New *fabric.Port // one is nil if only the other fabric has data of the port
}

// Diff compares the nodes of two fabrics. It returns the differences of nodes of
// the old fabric, then nodes that only the new one has. only, if not nil, selects
// the nodes to compare.
func Diff(from, to *fabric.Fabric, checks Checks, only func(*fabric.Node) bool) []NodeDiff {
	return diff(from, from.Nodes, to, to.Nodes, checks, only)
}

// ClassicDiff is [Diff] in the order of iblinkinfo.
func ClassicDiff(from, to *fabric.Fabric, checks Checks, only func(*fabric.Node) bool) []NodeDiff {
	return diff(from, from.Replay(nil).Nodes, to, to.Replay(nil).Nodes, checks, only)
}

func diff(from *fabric.Fabric, old []*fabric.Node, to *fabric.Fabric, current []*fabric.Node, checks Checks, only func(*fabric.Node) bool) []NodeDiff {
	var diffs []NodeDiff
	for _, n := range old {
		if only != nil && !only(n) {
			continue
		}
		if d, differs := diffNode(n, to.NodeByGUID(n.GUID), checks); differs {
			diffs = append(diffs, d)
		}
	}
	for _, n := range current {
		if (only == nil || only(n)) && from.NodeByGUID(n.GUID) == nil {
			diffs = append(diffs, NodeDiff{New: n})
		}
	}
	return diffs
}

func diffNode(from, to *fabric.Node, checks Checks) (d NodeDiff, differs bool) {
	d = NodeDiff{Old: from, New: to}
	if to == nil {
		return d, true
	}
	isSwitch := from.Info.NodeType == mad.NodeTypeSwitch
	d.Renamed = checks.LID && isSwitch && smaLID(from) != smaLID(to) ||
		checks.Description && from.Desc != to.Desc
	d.PortCount = from.Info.NumPorts != to.Info.NumPorts
	if !d.PortCount {
		for number := range max(len(from.Ports), len(to.Ports)) {
			a, b := portOf(from, number), portOf(to, number)
			if (a == nil || !a.IsManagement()) && (b == nil || !b.IsManagement()) && portDiffers(a, b, checks) {
				d.Ports = append(d.Ports, PortDiff{a, b})
			}
		}
	}
	return d, d.Renamed || d.PortCount || len(d.Ports) > 0
}

// portOf returns a port by number, nil if it is unknown.
func portOf(n *fabric.Node, number int) *fabric.Port {
	if number >= len(n.Ports) {
		return nil
	}
	return n.Ports[number]
}

// smaLID returns the LID of a switch's management port.
func smaLID(n *fabric.Node) ib.LID {
	if n.Ports[0] == nil {
		return 0
	}
	return n.Ports[0].LID()
}

func portDiffers(a, b *fabric.Port, checks Checks) bool {
	if a == nil || b == nil {
		return checks.Connection && a != b
	}
	if checks.State && state(a) != state(b) {
		return true
	}
	if !checks.Connection {
		return false
	}
	if a.Peer == nil || b.Peer == nil {
		return a.Peer != b.Peer
	}
	return a.Peer.GUID != b.Peer.GUID ||
		checks.PeerPort && a.Peer.Number != b.Peer.Number ||
		checks.LID && a.Peer.LID() != b.Peer.LID() ||
		checks.Description && a.Peer.Node.Desc != b.Peer.Node.Desc
}

func state(p *fabric.Port) ib.PortState {
	if p.Info == nil {
		return ib.PortNoChange
	}
	return p.Info.State
}
