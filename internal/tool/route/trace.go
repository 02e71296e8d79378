package route

import (
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Path is the path of packets from a port to a LID.
type Path struct {
	From, To *Port  // To is nil if no port has the LID
	FromLID  ib.LID // source
	LID      ib.LID // destination

	// Group is the LID of the multicast group if its packets take the path; 0: they are
	// unicast packets to LID.
	Group ib.LID

	// Hops are the links on the path. Each leads to the next hop's node, the last to
	// the destination.
	Hops []Hop

	// Cause is the reason why the path ends before the destination, at the switch End
	// with the output port EndPort; 0: it arrives.
	Cause   Cause
	End     *Node
	EndPort uint8

	// Circle is an output port through which the group's packets return to a switch
	// that has forwarded them before; nil: there is none.
	Circle *Port

	// Shortest is the link count on a shortest path; -1: no links lead to the
	// destination, or the path is a group's path.
	Shortest int

	// SL is the path's service level; nil: unknown.
	SL *uint8

	// Record is the subnet administration record; nil: unknown.
	Record *PathRecord
}

// A Hop is a link on a path.
type Hop struct {
	Output *Port
	VL     *uint8 // virtual lane; nil: unknown
}

// A Tracer follows a routing's forwarding tables. It is not safe for concurrent use.
type Tracer struct {
	routing *Routing
	ports   []*Port // by unicast LID

	// distances has the link count between switches, by the switch from which they were
	// counted and the other switch's index; -1: no links connect them.
	distances map[*Node][]int32
}

// NewTracer returns a tracer. It reads the tables at each call, but nodes, links and
// LIDs only once.
func NewTracer(r *Routing) *Tracer {
	t := &Tracer{routing: r, ports: make([]*Port, int(ib.MaxUnicastLID)+1), distances: map[*Node][]int32{}}
	for _, n := range slices.Backward(r.Nodes) { // the first port with a LID has it
		for i := range slices.Backward(n.Ports) {
			p := &n.Ports[i]
			for lid := int(p.LID); p.Has(ib.LID(lid)) && lid < len(t.ports); lid++ {
				t.ports[lid] = p
			}
		}
	}
	return t
}

// Port returns the port with a unicast LID, or nil.
func (t *Tracer) Port(lid ib.LID) *Port {
	if int(lid) >= len(t.ports) {
		return nil
	}
	return t.ports[lid]
}

// Unicast follows the tables from a port to a LID. The source is an adapter or router
// port, or a switch's port 0.
func (t *Tracer) Unicast(from *Port, lid ib.LID) Path {
	p := Path{From: from, FromLID: from.LID, To: t.Port(lid), LID: lid, Shortest: -1}
	if p.To != nil {
		p.Shortest = t.shortest(from, p.To)
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
		p.add(from)
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
		p.add(out)
		if !out.Peer.Node.IsSwitch() {
			p.enter(out.Peer)
			return p
		}
		at = out.Peer.Node
	}
	p.Cause, p.End, p.EndPort = InLoop, at, at.Tables.Lookup(lid)
	return p
}

// between is Unicast for a known destination, nil without one. Subnets in the same file may
// have the same LIDs, and no path leads from one to another.
func (t *Tracer) between(from, to *Port, lid ib.LID) Path {
	p := t.Unicast(from, lid)
	if to == nil {
		return p
	}
	p.To, p.Shortest = to, t.shortest(from, to)
	a, _ := attachment(from)
	b, _ := attachment(to)
	if p.Shortest < 0 && a != nil && b != nil && !t.routing.Partial() {
		p.Cause, p.Hops, p.End = Unconnected, nil, nil
	}
	return p
}

func (p *Path) add(output *Port) { p.Hops = append(p.Hops, Hop{Output: output}) }

// enter reports whether the path goes on at a port's node. At an end port it ends.
func (p *Path) enter(port *Port) bool {
	if port.Node.IsSwitch() {
		return true
	}
	if !port.Has(p.LID) {
		last := p.Hops[len(p.Hops)-1].Output
		p.Cause, p.End, p.EndPort = WrongEnd, last.Node, last.Number
	}
	return false
}

// dead returns the reason why a switch does not forward packets to a LID; 0: it does.
func (n *Node) dead(lid ib.LID) Cause {
	port := n.Tables.Lookup(lid)
	switch {
	case !n.Tables.Known() || n.Tables.IsMissing(lid):
		return Unseen
	case lid > n.Tables.Top:
		return BeyondTop
	case port == NoRoute:
		return NoEntry
	case int(port) >= len(n.Ports):
		return NoSuchPort
	case port == 0:
		return WrongZero
	case n.Ports[port].Peer == nil && n.Ports[port].State > ib.PortDown:
		return Silent
	case n.Ports[port].Peer == nil:
		return DeadEnd
	}
	return 0
}

// attachment returns a port's switch or the switch that it is linked to, and the link
// count to it; nil: there is none.
func attachment(p *Port) (sw *Node, links int) {
	switch {
	case p.Node.IsSwitch():
		return p.Node, 0
	case p.Peer != nil && p.Peer.Node.IsSwitch():
		return p.Peer.Node, 1
	}
	return nil, 0
}

// shortest returns the link count between two ports, -1 if no links connect them.
func (t *Tracer) shortest(from, to *Port) int {
	a, before := attachment(from)
	b, after := attachment(to)
	switch {
	case from == to:
		return 0
	case from.Peer == to && !from.Node.IsSwitch():
		return 1
	case a == nil || b == nil:
		return -1
	}
	if t.distances[a] == nil && t.distances[b] != nil {
		a, b = b, a
	}
	if t.distances[a] == nil {
		t.distances[a] = t.measure(a)
	}
	between := t.distances[a][b.index]
	if between < 0 {
		return -1
	}
	return before + int(between) + after
}

// measure counts the links from a switch to all others.
func (t *Tracer) measure(from *Node) []int32 {
	links := slices.Repeat([]int32{-1}, len(t.routing.Nodes))
	links[from.index] = 0
	queue := []*Node{from}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		for k := range at.Ports {
			peer := at.Ports[k].Peer
			if peer != nil && peer.Node.IsSwitch() && links[peer.Node.index] < 0 {
				links[peer.Node.index] = links[at.index] + 1
				queue = append(queue, peer.Node)
			}
		}
	}
	return links
}

// Multicast follows a multicast group's packets from one port to another.
func (t *Tracer) Multicast(from, to *Port, group ib.LID) Path {
	p := Path{From: from, FromLID: from.LID, To: to, LID: to.LID, Group: group, Shortest: -1}
	if from == to {
		return p
	}
	m := multicastTrace{path: &p, failed: t.routing.multicastFailures(), before: map[*Node]arrival{}}
	switch {
	case from.Node.IsSwitch():
		m.arrive(from.Node, arrival{})
	case from.Peer == nil:
		p.Cause = Unattached
		return p
	case !from.Peer.Node.IsSwitch():
		p.add(from)
		if from.Peer != to {
			p.enter(from.Peer)
		}
		return p
	default:
		m.arrive(from.Peer.Node, arrival{from: from, entry: from.Peer.Number})
	}
	m.run()
	return p
}

// multicastFailures returns the switches with incompletely read multicast tables.
func (r *Routing) multicastFailures() map[*Node]bool {
	failed := map[*Node]bool{}
	for _, f := range r.Failures {
		if f.Attr == mad.AttrMulticastForwardingTable.String() {
			failed[f.Node] = true
		}
	}
	return failed
}

// An arrival is the way by which packets reach a switch.
type arrival struct {
	from  *Port // nil: the switch is the source
	entry uint8
}

// A multicastTrace is a breadth-first search along a multicast LID's tables.
type multicastTrace struct {
	path    *Path
	failed  map[*Node]bool
	before  map[*Node]arrival
	queue   []*Node
	unknown bool // a table on the way was not read
}

func (m *multicastTrace) arrive(n *Node, a arrival) {
	m.before[n] = a
	m.queue = append(m.queue, n)
}

func (m *multicastTrace) run() {
	p := m.path
	found := false
	for i := 0; i < len(m.queue); i++ {
		n := m.queue[i]
		mask, ok := n.mask(p.Group)
		m.unknown = m.unknown || n.Tables == nil || m.failed[n]
		if i == 0 && !ok {
			p.Cause, p.End, p.EndPort = NoEntry, n, NoRoute
		}
		entry := m.before[n].entry
		for k := range n.Ports {
			out := &n.Ports[k]
			switch {
			case !mask.Has(out.Number) || out.Number == entry:
			case !found && (out == p.To || out.Peer == p.To && p.To != nil):
				found = true
				m.finish(n, out)
			case out.Peer != nil && out.Peer.Node.IsSwitch():
				m.forward(out)
			}
		}
	}
	switch {
	case found:
		p.Cause = 0
	case m.unknown:
		p.Cause = Unseen
	case p.Cause == 0:
		p.Cause = NotMember
	}
	if !found && p.End == nil {
		p.End, p.EndPort = m.queue[0], NoRoute
	}
}

// forward follows the packets through an output port to another switch.
func (m *multicastTrace) forward(out *Port) {
	next := out.Peer.Node
	if _, again := m.before[next]; !again {
		m.arrive(next, arrival{from: out, entry: out.Peer.Number})
	} else if _, forwards := next.mask(m.path.Group); forwards && m.path.Circle == nil {
		m.path.Circle = out
	}
}

// finish enters the links from the source to a switch's output port. Port 0 is not a
// link.
func (m *multicastTrace) finish(n *Node, out *Port) {
	p := m.path
	if out.Number != 0 {
		p.add(out)
	}
	for a := m.before[n]; a.from != nil; a = m.before[n] {
		p.add(a.from)
		if n = a.from.Node; !n.IsSwitch() {
			break
		}
	}
	slices.Reverse(p.Hops)
}

// mask returns a multicast LID's output ports. The node may be nil.
func (n *Node) mask(group ib.LID) (mask mad.PortMask, ok bool) {
	if n == nil || n.Tables == nil {
		return mask, false
	}
	mask, ok = n.Tables.MFT[group]
	return mask, ok
}

// Slowest returns the index in Hops of the first link with the lowest rate, -1 if all
// known rates are the same.
func (p *Path) Slowest() int {
	slow, differ := -1, false
	for i, h := range p.Hops {
		rate := h.Output.Gbps()
		switch {
		case rate == 0: // unknown
		case slow < 0:
			slow = i
		case rate != p.Hops[slow].Output.Gbps():
			differ = true
			if rate < p.Hops[slow].Output.Gbps() {
				slow = i
			}
		}
	}
	if !differ {
		return -1
	}
	return slow
}

// Gbps returns a link's rate in 10^9 bits per second, 0 if it is unknown.
func (p *Port) Gbps() float64 { return ib.LinkGbps(p.Width, p.Speed) }

// IsReverse reports whether a path crosses another path's links in the opposite
// direction.
func (p *Path) IsReverse(o *Path) bool {
	n := len(p.Hops)
	if n != len(o.Hops) {
		return false
	}
	for i, h := range p.Hops {
		if h.Output.Peer != o.Hops[n-1-i].Output {
			return false
		}
	}
	return true
}
