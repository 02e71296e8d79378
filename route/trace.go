package route

import (
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// A Path is the path of packets from a port to a LID.
type Path struct {
	From, To *Port // To is nil if no port has the LID
	LID      ib.LID

	// Outputs are the output ports on the path, the source first. Each leads to the
	// node of the next one, the last to the destination.
	Outputs []*Port

	// Cause is the reason why the path ends before the destination, at the switch End
	// with the output port EndPort; 0: it arrives.
	Cause   Cause
	End     *Node
	EndPort uint8

	// Shortest is the number of links on a shortest path; -1: no links lead to the
	// destination.
	Shortest int
}

// Trace follows the forwarding tables from a port to a LID. The source is the port of an
// adapter or router, or port 0 of a switch.
func (r *Routing) Trace(from *Port, lid ib.LID) Path {
	p := Path{From: from, To: r.PortByLID(lid), LID: lid, Shortest: -1}
	if p.To != nil {
		p.Shortest = shortest(from, p.To)
	}
	at := from.Node
	if !at.IsSwitch() {
		if from.Has(lid) {
			return p
		}
		if from.Peer == nil {
			p.Cause = Unattached
			return p
		}
		p.Outputs = append(p.Outputs, from)
		if !p.enter(from.Peer) {
			return p
		}
		at = from.Peer.Node
	}
	seen := map[*Node]bool{}
	for !seen[at] {
		seen[at] = true
		if at.Ports[0].Has(lid) && at.Tables.Lookup(lid) == 0 {
			return p
		}
		cause := at.dead(lid)
		if cause != 0 {
			p.Cause, p.End, p.EndPort = cause, at, at.Tables.Lookup(lid)
			return p
		}
		out := &at.Ports[at.Tables.Lookup(lid)]
		p.Outputs = append(p.Outputs, out)
		if !out.Peer.Node.IsSwitch() {
			p.enter(out.Peer)
			return p
		}
		at = out.Peer.Node
	}
	p.Cause, p.End, p.EndPort = InLoop, at, at.Tables.Lookup(lid)
	return p
}

// enter reports whether the path goes on at the node of a port. At an end port it ends.
func (p *Path) enter(port *Port) bool {
	if port.Node.IsSwitch() {
		return true
	}
	if !port.Has(p.LID) {
		last := p.Outputs[len(p.Outputs)-1]
		p.Cause, p.End, p.EndPort = WrongEnd, last.Node, last.Number
	}
	return false
}

// dead returns the reason why a switch does not forward packets to a LID; 0: it does.
func (n *Node) dead(lid ib.LID) Cause {
	port := n.Tables.Lookup(lid)
	switch {
	case n.Tables == nil || n.Tables.isMissing(lid):
		return Unseen
	case lid > n.Tables.Top:
		return BeyondTop
	case port == NoRoute:
		return NoEntry
	case int(port) >= len(n.Ports):
		return NoSuchPort
	case port == 0:
		return WrongZero
	case n.Ports[port].Peer == nil:
		return DeadEnd
	}
	return 0
}

// shortest returns the number of links between two ports, -1 if no links connect them.
func shortest(from, to *Port) int {
	if from.Node == to.Node && from.Node.IsSwitch() || from == to {
		return 0
	}
	type step struct {
		node  *Node
		links int
	}
	queue := []step{{from.Node, 0}}
	seen := map[*Node]bool{from.Node: true}
	if !from.Node.IsSwitch() {
		if from.Peer == nil {
			return -1
		}
		queue[0] = step{from.Peer.Node, 1}
		if from.Peer == to {
			return 1
		}
		seen[from.Peer.Node] = true
	}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		if at.node == to.Node && to.Node.IsSwitch() {
			return at.links
		}
		if !at.node.IsSwitch() {
			continue
		}
		for k := range at.node.Ports {
			peer := at.node.Ports[k].Peer
			if peer == nil {
				continue
			}
			if peer == to {
				return at.links + 1
			}
			if !seen[peer.Node] {
				seen[peer.Node] = true
				queue = append(queue, step{peer.Node, at.links + 1})
			}
		}
	}
	return -1
}

// Slowest returns the index in Outputs of the first link with the lowest rate, -1 if all
// links have the same or an unknown rate.
func (p *Path) Slowest() int {
	slow, differ := 0, false
	for i, o := range p.Outputs {
		rate := ib.LinkGbps(o.Width, o.Speed)
		if lowest := ib.LinkGbps(p.Outputs[slow].Width, p.Outputs[slow].Speed); rate != lowest {
			differ = true
			if rate < lowest {
				slow = i
			}
		}
	}
	if !differ {
		return -1
	}
	return slow
}

// Findings lists the problems of a path in words. names may be nil.
func (p *Path) Findings(names *fabric.NameMap) []string {
	w := namer{names}
	var findings []string
	switch {
	case p.Cause == Unattached:
		findings = append(findings, w.port(p.From)+" has no link")
	case p.Cause != 0 && p.EndPort == NoRoute:
		findings = append(findings, fmt.Sprintf("the path ends at %s: %v", w.node(p.End), p.Cause))
	case p.Cause != 0:
		findings = append(findings, fmt.Sprintf("the path ends at %s[%d]: %v", w.node(p.End), p.EndPort, p.Cause))
	case p.Shortest >= 0 && len(p.Outputs) > p.Shortest:
		findings = append(findings, fmt.Sprintf("%d links; a shortest path has %d", len(p.Outputs), p.Shortest))
	}
	for _, o := range p.Outputs {
		if o.State != ib.PortActive || o.Peer.State != ib.PortActive {
			findings = append(findings, fmt.Sprintf("%s is not active", w.port(o)))
		}
	}
	return findings
}

// IsReverse reports whether a path crosses the links of another one in the opposite
// direction.
func (p *Path) IsReverse(o *Path) bool {
	n := len(p.Outputs)
	if n != len(o.Outputs) {
		return false
	}
	for i, out := range p.Outputs {
		if out.Peer != o.Outputs[n-1-i] {
			return false
		}
	}
	return true
}
