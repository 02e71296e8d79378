package linkinfo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// Checks are the properties that a comparison of two fabrics includes.
type Checks struct {
	Connection  bool // peers of ports
	State       bool // port states
	LID         bool // LIDs of switches; with Connection also LIDs of peers
	Description bool // node descriptions; with Connection also those of peers
	PeerPort    bool // with Connection: port numbers of peers
	Rate        bool // active widths and speeds of links that are up in both fabrics
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
// the nodes to compare. Nodes that an unfinished scan has not reached do not differ, nor do ports
// and attributes that a scan has not read.
func Diff(from, to *fabric.Fabric, checks Checks, only func(*fabric.Node) bool) []NodeDiff {
	c := comparison{checks, from, to}
	return slices.DeleteFunc(c.diff(from.Nodes, to.Nodes, only), c.unreached)
}

// Unreached returns the number of nodes that [Diff] does not compare, because an unfinished
// scan has not reached them.
func Unreached(from, to *fabric.Fabric, only func(*fabric.Node) bool) (count int) {
	c := comparison{from: from, to: to}
	for _, d := range c.diff(from.Nodes, to.Nodes, only) {
		if c.unreached(d) {
			count++
		}
	}
	return count
}

// A comparison compares the nodes of two fabrics.
type comparison struct {
	Checks
	from, to *fabric.Fabric
}

// unreached reports whether a difference is a node that an unfinished scan has not reached.
// A node that a scan reached and that did not reply differs.
func (c *comparison) unreached(d NodeDiff) bool {
	return d.New == nil && c.to.Unfinished() || d.Old == nil && c.from.Unfinished()
}

// ClassicDiff is [Diff] in the order of iblinkinfo.
func ClassicDiff(from, to *fabric.Fabric, checks Checks, only func(*fabric.Node) bool) []NodeDiff {
	finished := func(f *fabric.Fabric) *fabric.Fabric {
		g := *f
		g.Aborted, g.Bounded, g.Failures, g.Unanswered = nil, false, nil, 0
		return &g
	}
	c := comparison{checks, finished(from), finished(to)}
	return c.diff(from.Replay(nil).Nodes, to.Replay(nil).Nodes, only)
}

func (c *comparison) diff(old, current []*fabric.Node, only func(*fabric.Node) bool) []NodeDiff {
	var diffs []NodeDiff
	for _, n := range old {
		if only != nil && !only(n) {
			continue
		}
		if d, differs := c.node(n, c.to.NodeByGUID(n.GUID)); differs {
			diffs = append(diffs, d)
		}
	}
	for _, n := range current {
		if (only == nil || only(n)) && c.from.NodeByGUID(n.GUID) == nil {
			diffs = append(diffs, NodeDiff{New: n})
		}
	}
	return diffs
}

func (c *comparison) node(from, to *fabric.Node) (d NodeDiff, differs bool) {
	d = NodeDiff{Old: from, New: to}
	if to == nil {
		return d, true
	}
	isSwitch := from.IsSwitch()
	d.Renamed = c.LID && isSwitch && c.hasLIDs(from, to) && from.LID() != to.LID() ||
		c.Description && c.hasDescriptions(from, to) && from.Desc != to.Desc
	d.PortCount = from.Info.NumPorts != to.Info.NumPorts
	if !d.PortCount {
		for number := range max(len(from.Ports), len(to.Ports)) {
			a, b := from.PortAt(uint8(number)), to.PortAt(uint8(number))
			if (a == nil || !a.IsManagement()) && (b == nil || !b.IsManagement()) && c.portDiffers(a, b) {
				d.Ports = append(d.Ports, PortDiff{a, b})
			}
		}
	}
	return d, d.Renamed || d.PortCount || len(d.Ports) > 0
}

// hasLIDs reports whether the LIDs of two switches are known.
func (c *comparison) hasLIDs(from, to *fabric.Node) bool {
	return c.from.HasLID(from) && c.to.HasLID(to)
}

// hasDescriptions is [comparison.hasLIDs] for the descriptions of nodes.
func (c *comparison) hasDescriptions(from, to *fabric.Node) bool {
	return c.from.HasDescription(from) && c.to.HasDescription(to)
}

func (c *comparison) portDiffers(a, b *fabric.Port) bool {
	if c.State && isRead(a) && isRead(b) && state(a) != state(b) {
		return true // also if a peer was not read
	}
	if c.from.Unread(a) || c.to.Unread(b) {
		return false
	}
	if a == nil || b == nil {
		return c.Connection && a != b
	}
	if c.State && state(a) != state(b) {
		return true
	}
	if c.Rate && rateDiffers(a, b) {
		return true
	}
	if !c.Connection {
		return false
	}
	if a.Peer == nil || b.Peer == nil {
		return a.Peer != b.Peer
	}
	return a.Peer.GUID != b.Peer.GUID ||
		c.PeerPort && a.Peer.Number != b.Peer.Number ||
		c.LID && a.Peer.LID() != b.Peer.LID() && !c.from.Unread(a.Peer) && !c.to.Unread(b.Peer) && c.hasLIDs(a.Peer.Node, b.Peer.Node) ||
		c.Description && a.Peer.Node.Desc != b.Peer.Node.Desc && c.hasDescriptions(a.Peer.Node, b.Peer.Node)
}

// rateDiffers reports whether a link has another active width or speed.
func rateDiffers(a, b *fabric.Port) bool {
	before, now := NewEnd(a, false), NewEnd(b, false)
	return before.Width != 0 && now.Width != 0 && (before.Width != now.Width || before.Speed != now.Speed)
}

// isRead reports whether the state of a port is known.
func isRead(p *fabric.Port) bool { return p != nil && (p.Info != nil || p.Omitted) }

func state(p *fabric.Port) ib.PortState {
	switch {
	case p.Info != nil:
		return p.Info.State
	case p.Omitted:
		return ib.PortDown
	}
	return ib.PortNoChange
}
