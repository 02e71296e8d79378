package fabric

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A claim is a link according to a single NodeInfo: a node's port leads to another
// node's port.
type claim struct {
	from *scanNode // nil for the scan's start
	port uint8
	to   umad.Target // other node's target
	info mad.NodeInfo
}

func (c *claim) String() string {
	return fmt.Sprintf("port %d of 0x%016x leads to port %d of 0x%016x", c.port, c.from.GUID, c.info.LocalPort, c.info.NodeGUID)
}

// sees reports whether a NodeInfo is from the same link end as c.
func (c *claim) sees(info *mad.NodeInfo) bool {
	return info.NodeGUID == c.info.NodeGUID && info.LocalPort == c.info.LocalPort
}

// A suspect is a claim that contradicts another claim: two links end in the same
// port. Either a cable moved during the scan, or two nodes have the same GUID. The
// scan checks both links again when the rest of the fabric is known.
type suspect struct {
	claim  claim
	holder *Port // port's peer according to the other claim
	held   claim // the other claim

	again, heldNow second // second check of claim and held
}

// A second is the result of checking a link for the second time.
type second struct {
	claim
	answered bool // info is valid
}

const (
	// maxRounds limits the check count, so that a fabric's scan ends even if the fabric
	// keeps changing.
	maxRounds = 16

	// maxNodes limits the scan if an agent responds with new GUIDs forever: it is the
	// unicast LID count, because each node needs a LID.
	maxNodes = 0xbfff
)

// sameIdentity reports whether two NodeInfos can be from the same node. The port GUID
// and the local port differ between an adapter's ports.
func sameIdentity(a, b *mad.NodeInfo) bool {
	return a.NodeType == b.NodeType && a.NumPorts == b.NumPorts && a.SystemGUID == b.SystemGUID &&
		a.DeviceID == b.DeviceID && a.VendorID == b.VendorID
}

// match returns the known node that a claim leads to, nil if there is none with a
// free port for the link.
func (s *scan) match(c claim) *scanNode {
	var from *Port
	if c.from != nil {
		from = c.from.Ports[c.port]
	}
	for _, n := range s.nodes[c.info.NodeGUID] {
		if !sameIdentity(&n.Info, &c.info) {
			continue
		}
		if p := n.PortAt(c.info.LocalPort); from == nil || p == nil || p.Peer == nil || p.Peer == from {
			return n
		}
	}
	return nil
}

// differs reports whether all known nodes with a claim's GUID have another identity.
func (s *scan) differs(c claim) bool {
	for _, n := range s.nodes[c.info.NodeGUID] {
		if sameIdentity(&n.Info, &c.info) {
			return false
		}
	}
	return true
}

// link joins a claim's two ends. If the near end has another link, that link becomes a
// suspect: the claim is newer.
func (s *scan) link(c claim, n *scanNode) {
	number := c.info.LocalPort
	isNew := n.PortAt(number) == nil
	p := s.port(n, number)
	p.GUID = c.info.PortGUID
	if isNew && !n.IsSwitch() {
		s.queryPortInfo(n, c.to, number)
	}
	if c.from == nil {
		return
	}
	from := s.port(c.from, c.port)
	if other := from.Peer; other != nil && other != p {
		s.suspects = append(s.suspects, suspect{claim: s.claimOn(other)})
		other.Peer = nil
	}
	from.Peer, p.Peer = p, from
}

// claimOn returns a claim from a port's known link, from the end through which a
// directed route can leave: a switch, or the scan's start.
func (s *scan) claimOn(p *Port) claim {
	isExit := p.Node.IsSwitch() && p.linkable()
	if !isExit && (p.Node != s.fabric.Start || p.Number != s.fabric.StartPort) {
		p = p.Peer
	}
	from := s.scanNodeOf(p.Node)
	c := claim{from: from, port: p.Number, to: from.target, info: p.Peer.Node.Info}
	c.to.Route = c.to.Route.Append(p.Number)
	c.info.LocalPort, c.info.PortGUID = p.Peer.Number, p.Peer.GUID
	return c
}

func (s *scan) scanNodeOf(n *Node) *scanNode {
	for _, sn := range s.nodes[n.GUID] {
		if sn.Node == n {
			return sn
		}
	}
	return nil
}

// recheck judges the suspects that were checked again and checks new suspects. It
// reports whether the client must run once more.
func (s *scan) recheck(round int) bool {
	looked := s.looked
	s.looked = nil
	for i := range looked {
		s.judge(&looked[i])
	}
	s.suspectOneSided()
	if round >= maxRounds {
		for _, u := range s.suspects {
			s.conflict(&u.claim, "according to one of many contradicting responses")
		}
		s.suspects = nil
	}
	s.looked, s.suspects = s.suspects, nil
	for i := range s.looked {
		s.look(&s.looked[i])
	}
	return s.waiting > 0
}

// suspectOneSided finds links with an end that reports a link that is down. Because a
// packet passed, either the link came up during the scan or the port belongs to another
// node with the same GUID.
func (s *scan) suspectOneSided() {
	for _, n := range s.order {
		for _, p := range n.Ports {
			if p == nil || p.Peer == nil || n.checked[p.Number] || !p.Omitted && (p.Info == nil || !unlinked(p.Info)) {
				continue
			}
			n.checked[p.Number] = true
			s.suspects = append(s.suspects, suspect{claim: s.claimOn(p.Peer)})
			s.queryPortInfo(n, n.target, p.Number)
		}
	}
}

// unlinked reports whether packets cannot pass a port in this state. A port that
// is training or recovering from errors may pass some packets.
func unlinked(i *mad.PortInfo) bool {
	return i.PhysState == ib.PhysPolling || i.PhysState == ib.PhysDisabled || i.PhysState == ib.PhysSleep
}

// look queries again the peers of both ports that claim the same far end.
func (s *scan) look(u *suspect) {
	c := &u.claim
	target := s.targetPort(c)
	if target != nil && target.Peer != nil && target.Peer != c.from.Ports[c.port] {
		u.holder = target.Peer
		u.held = s.claimOn(u.holder)
		s.lookThrough(u.held, &u.heldNow)
	}
	if target != nil && target.Info == nil && s.opts.Lean {
		n := s.scanNodeOf(target.Node)
		s.queryPortInfo(n, n.target, target.Number)
	}
	s.lookThrough(*c, &u.again)
}

// lookThrough queries the peer of a claim's port again and, without a response, the
// port state.
func (s *scan) lookThrough(c claim, now *second) {
	now.claim = c
	if c.from.Node == s.fabric.Start && c.from.target.Route.Hops() > 0 && c.port == s.fabric.StartPort {
		now.answered = true // all packets to the start pass this link
		return
	}
	s.submit(c.to, mad.AttrNodeInfo, 0, c.from, c.port, func(s *scan, a *query, r *umad.Reply) {
		if now.answered = s.decode(a, r, &now.info); !now.answered {
			s.queryPortInfo(a.node, a.node.target, a.port)
		}
	})
}

// targetPort returns the port that a claim leads to: a port with another link if it
// exists, otherwise the first candidate.
func (s *scan) targetPort(c *claim) *Port {
	var first *Port
	for _, n := range s.nodes[c.info.NodeGUID] {
		p := n.PortAt(c.info.LocalPort)
		if p == nil || !sameIdentity(&n.Info, &c.info) {
			continue
		}
		if p.Peer != nil {
			return p
		}
		if first == nil {
			first = p
		}
	}
	return first
}

// judge resolves a contradiction after both links were checked again.
func (s *scan) judge(u *suspect) {
	c := &u.claim
	near := c.from.Ports[c.port]
	target := s.targetPort(c)
	switch {
	case !u.again.answered || !c.sees(&u.again.info):
		s.conflict(c, "no longer: the link changed during the scan")
		s.unlink(near)
		if u.again.answered {
			s.found(u.again.claim)
		}
	case u.holder != nil && u.heldGone():
		s.conflict(c, "to which another link led before: the link moved during the scan")
		s.unlink(u.holder)
		s.found(*c)
		if u.heldNow.answered {
			s.found(u.heldNow.claim)
		}
	case u.holder == nil && target != nil && target.Info != nil && !unlinked(target.Info):
		s.found(*c) // the link came up during the scan, and both ends agree now
	default:
		s.unlink(near)
		twin := s.newNode(*c, c.from.depth+1)
		s.link(*c, twin)
		twin.checked[c.info.LocalPort] = true
	}
}

// heldGone reports whether the other link no longer exists. A missing response
// does not prove this while its port is up.
func (u *suspect) heldGone() bool {
	if !u.heldNow.answered {
		port := u.held.from.Ports[u.held.port]
		return port.Info != nil && unlinked(port.Info)
	}
	return !u.held.sees(&u.heldNow.info)
}

// unlink removes a port's link.
func (s *scan) unlink(p *Port) {
	if p != nil && p.Peer != nil {
		p.Peer.Peer = nil
		p.Peer = nil
	}
}

// conflict adds a contradiction to the report.
func (s *scan) conflict(c *claim, what string) {
	s.fabric.Conflicts = append(s.fabric.Conflicts, Conflict{
		GUID:   c.info.NodeGUID,
		Port:   c.info.LocalPort,
		Detail: c.String() + " " + what,
	})
}
