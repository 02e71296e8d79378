package fabric

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// queryNodeInfo queries the node at a target, which port of from leads to.
func (s *scan) queryNodeInfo(from *scanNode, port uint8, to umad.Target) {
	s.submit(to, mad.AttrNodeInfo, 0, from, port, (*scan).gotNodeInfo)
}

func (s *scan) gotNodeInfo(a *query, r *umad.Reply) {
	var info mad.NodeInfo
	if s.assumedUp(a, r) {
		return
	}
	if s.decode(a, r, &info) {
		s.found(claim{from: a.node, port: a.port, to: a.req.To, info: info})
	}
}

// found adds a claim's node and link. A new node is scanned.
func (s *scan) found(c claim) {
	depth := 0
	if c.from != nil {
		depth = c.from.depth + 1
	}
	if c.from != nil && !c.portValid() {
		s.foundAtInvalidPort(c, depth)
		return
	}
	n := s.match(c)
	if n == nil {
		if s.full() {
			return
		}
		if len(s.nodes[c.info.NodeGUID]) > 0 && !s.differs(c) {
			s.suspects = append(s.suspects, suspect{claim: c})
			return
		}
		n = s.newNode(c, depth)
	}
	s.link(c, n)
	if depth < n.depth {
		s.shorten(n, depth, c.to, c.info.LocalPort)
	}
}

// full reports whether the fabric has the maximum node count, and then ends the scan.
func (s *scan) full() bool {
	if len(s.order) < maxNodes {
		return false
	}
	s.tooMany = fmt.Errorf("more than %d nodes, the maximum of a subnet", maxNodes)
	s.stop()
	return true
}

// shorten updates the distance for a node that is closer to the start than known
// before, and for the nodes behind it. Ports beyond the hop limit may be within it now.
func (s *scan) shorten(n *scanNode, depth int, to umad.Target, entry uint8) {
	n.depth, n.target, n.entry = depth, to, entry
	s.expandAll(n)
	if !n.IsSwitch() {
		return
	}
	for _, p := range n.Ports {
		if p == nil || p.Peer == nil || !p.linkable() {
			continue
		}
		if peer := s.scanNodeOf(p.Peer.Node); depth+1 < peer.depth {
			s.shorten(peer, depth+1, umad.Target{LID: to.LID, Route: to.Route.Append(p.Number)}, p.Peer.Number)
		}
	}
}

// newNode adds a node and starts to scan it.
func (s *scan) newNode(c claim, depth int) *scanNode {
	count := int(c.info.NumPorts) + 1
	n := &scanNode{
		Node:   &Node{GUID: c.info.NodeGUID, Info: c.info, Ports: make([]*Port, count)},
		target: c.to,
		entry:  c.info.LocalPort,
		depth:  depth,
		probed: make([]bool, count),

		checked: make([]bool, count),
	}
	n.Route = c.to.Route
	if others := s.nodes[n.GUID]; len(others) > 0 {
		n.Duplicate = true
		for _, other := range others {
			other.Duplicate = true
		}
		s.conflict(&c, "which is another node than the one found before: two nodes have this GUID")
	}
	s.nodes[n.GUID] = append(s.nodes[n.GUID], n)
	s.order = append(s.order, n)
	if s.fabric.Start == nil {
		s.fabric.Start, s.fabric.StartPort = n.Node, c.info.LocalPort
		if !n.IsSwitch() && c.info.LocalPort == 0 {
			s.fabric.Failures = append(s.fabric.Failures, Failure{
				Route: c.to.Route, LID: c.to.LID, Attr: mad.AttrNodeInfo,
				Err: errors.New("find the port that leads out of the node: NodeInfo has local port 0"),
			})
		}
	}

	isSwitch := n.IsSwitch()
	if s.opts.Lean {
		n.omitsDesc, n.omitsPorts = true, isSwitch
	} else {
		s.queryNodeDescription(n)
	}
	if isSwitch {
		n.ports = make([]Port, count)
		if !s.opts.Lean {
			n.infos = make([]mad.PortInfo, count)
			s.querySwitchInfo(n)
		}
		if s.opts.OmitDownPorts || s.opts.Lean {
			s.queryPort0(n)
		} else {
			s.addSweep(sweep{node: n})
		}
	}
	return n
}

// A sweep queries PortInfo for each switch port.
type sweep struct {
	node *scanNode
	next int // port
}

const (
	// maxWaiting limits the waiting request count. It is well above any window; without
	// it a large fabric's requests take more memory than its ports.
	maxWaiting = 4096

	// leanWaiting limits the waiting request count in a lean scan: the fewer wait, the
	// more ports are known by their link's other end.
	leanWaiting = 128
)

// sweep queries more ports if few requests wait.
func (s *scan) sweep() {
	limit := maxWaiting
	if s.opts.Lean {
		limit = leanWaiting
	}
	for s.waiting < limit && len(s.sweeps) > 0 {
		w := &s.sweeps[0]
		s.visit(w.node, uint8(w.next))
		w.next++
		if w.next > int(w.node.Info.NumPorts) {
			s.sweeps = s.sweeps[1:]
		}
	}
}

// visit queries a switch port, unless it is known to be up or down.
func (s *scan) visit(n *scanNode, number uint8) {
	p := n.PortAt(number)
	linked := p != nil && p.Peer != nil
	switch state := n.state(number); {
	case p != nil && (p.Info != nil || p.Omitted):
	case state == ib.PortDown && !linked:
		s.port(n, number).Omitted = true
	case s.opts.Lean && (state > ib.PortDown || state == ib.PortNoChange && linked):
		s.port(n, number)
		s.expand(n, number)
	default:
		s.queryPortInfo(n, n.target, number)
	}
}

func (s *scan) queryNodeDescription(n *scanNode) {
	s.submit(n.target, mad.AttrNodeDescription, 0, n, 0, func(s *scan, a *query, r *umad.Reply) {
		a.node.descLost = !s.decode(a, r, &a.node.Desc)
	})
}

func (s *scan) querySwitchInfo(n *scanNode) {
	s.submit(n.target, mad.AttrSwitchInfo, 0, n, 0, func(s *scan, a *query, r *umad.Reply) {
		info := new(mad.SwitchInfo)
		if s.decode(a, r, info) {
			a.node.Switch = info
		}
	})
}

// port returns a port of n and adds it if it is new. The number is from a packet and
// may be higher than the node's port count.
func (s *scan) port(n *scanNode, number uint8) *Port {
	if grow := int(number) + 1 - len(n.Ports); grow > 0 {
		n.Ports = append(n.Ports, make([]*Port, grow)...)
		n.probed = append(n.probed, make([]bool, grow)...)
		n.checked = append(n.checked, make([]bool, grow)...)
	}
	p := n.Ports[number]
	if p == nil {
		if int(number) < len(n.ports) {
			p = &n.ports[number]
		} else {
			p = new(Port)
		}
		*p = Port{Node: n.Node, Number: number, GUID: n.Info.PortGUID}
		n.Ports[number] = p
		s.ports++
	}
	return p
}

// info returns memory for a port's PortInfo.
func (n *scanNode) info(number uint8) *mad.PortInfo {
	if int(number) < len(n.infos) {
		return &n.infos[number]
	}
	return new(mad.PortInfo)
}

func (s *scan) queryPortInfo(n *scanNode, to umad.Target, number uint8) {
	s.submit(to, mad.AttrPortInfo, uint32(number), n, number, (*scan).gotPortInfo)
}

func (s *scan) gotPortInfo(a *query, r *umad.Reply) {
	n, number := a.node, a.port
	if s.refusable(n, number, r.Err) {
		return
	}
	info := n.info(number)
	ok := s.decode(a, r, info)
	if ok {
		p := s.port(n, number)
		p.Info, p.Omitted = info, false
		s.expand(n, number)
		if s.opts.Answered != nil {
			s.opts.Answered(p)
		}
	}
	switch {
	case number == 0:
		// The capabilities for the ports that responded earlier are known only now, or
		// remain unknown.
		n.capsEnded = true
		for port := range n.Info.NumPorts {
			s.queryExtendedPortInfo(n, port+1)
		}
	case ok:
		s.queryExtendedPortInfo(n, number)
	}
}

// expand queries a port's peer, once, if the link is up and does not lead back to the
// node from which the scan reached n.
func (s *scan) expand(n *scanNode, number uint8) {
	p := n.Ports[number]
	if p == nil || number == 0 || n.probed[number] || !s.linkUp(n, p) {
		return
	}
	if s.opts.MaxHops > 0 && n.depth >= s.opts.MaxHops {
		return
	}
	to := n.target
	entry := number == n.entry // the packet arrived through this port
	if p.Info != nil {
		entry = number == p.Info.LocalPort
	}
	switch {
	case n.Node == s.fabric.Start && entry && to.Route.Hops() > 0:
		// The peer is the last node on the route to the start.
		n.probed[number] = true
		s.queryParent(n, number)
		return
	case n.IsSwitch():
		if entry && p.Peer != nil {
			return // the link is known
		}
	case n.Node != s.fabric.Start || number != s.fabric.StartPort || to.LID != 0:
		return // no directed route leads through a channel adapter
	}
	if to.Route.Hops() >= mad.MaxHops {
		return
	}
	to.Route = to.Route.Append(number)
	n.probed[number] = true
	s.queryNodeInfo(n, number, to)
}

// linkUp reports whether a port's link is up: according to its PortInfo or, in a lean
// scan, to the switch's state table or the link's other end.
func (s *scan) linkUp(n *scanNode, p *Port) bool {
	if p.Info != nil {
		return p.Info.PhysState == ib.PhysLinkUp
	}
	return s.opts.Lean && (p.Peer != nil || n.state(p.Number) > ib.PortDown)
}

// assumedUp queries a port's PortInfo after a request through it failed, if a lean scan
// has omitted it. The request is a failure only if the link is up.
func (s *scan) assumedUp(a *query, r *umad.Reply) bool {
	if r.Err == nil || a.node == nil || !a.node.IsSwitch() {
		return false
	}
	if p := a.node.PortAt(a.port); p == nil || p.Info != nil {
		return false
	}
	failure := s.failure(a, r.Err)
	s.submit(a.node.target, mad.AttrPortInfo, uint32(a.port), a.node, a.port, func(s *scan, a *query, r *umad.Reply) {
		s.gotPortInfo(a, r)
		if i := a.node.Ports[a.port].Info; i == nil || i.PhysState == ib.PhysLinkUp {
			s.fabric.Failures = append(s.fabric.Failures, failure)
		}
	})
	return true
}

// expandAll expands every port of n: ports may have been beyond the limit on hops
// when only a longer route to n was known.
func (s *scan) expandAll(n *scanNode) {
	for port := range n.Ports {
		s.expand(n, uint8(port))
	}
}

// queryParent queries the node before the start on the directed route to it.
func (s *scan) queryParent(n *scanNode, number uint8) {
	to := n.target
	exit := to.Route.Exit()
	to.Route = to.Route.Parent()
	s.submit(to, mad.AttrNodeInfo, 0, n, number, func(s *scan, a *query, r *umad.Reply) {
		var info mad.NodeInfo
		if !s.decode(a, r, &info) {
			return
		}
		info.LocalPort = exit
		s.found(claim{from: a.node, port: a.port, to: a.req.To, info: info})
	})
}
