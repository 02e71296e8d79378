package fabric

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A claim is what one NodeInfo says of a link: behind a port of one node there
// is a port of another.
type claim struct {
	from *scanNode // nil: this is the start of the scan
	port uint8
	to   umad.Target // how the other node was reached
	info mad.NodeInfo
}

func (c *claim) String() string {
	return fmt.Sprintf("port %d of 0x%016x leads to port %d of 0x%016x", c.port, c.from.GUID, c.info.LocalPort, c.info.NodeGUID)
}

// sees reports whether a NodeInfo shows the same end of a link as c.
func (c *claim) sees(info *mad.NodeInfo) bool {
	return info.NodeGUID == c.info.NodeGUID && info.LocalPort == c.info.LocalPort
}

// A suspect is a claim that contradicts another one: two links that end in the
// same port. Either a cable moved while the fabric was scanned, or two nodes
// have the same GUID. Which one it is shows when both links are looked at again
// after the rest is known.
type suspect struct {
	claim  claim
	holder *Port // the other end of the link that is known, when it was looked at
	held   claim // that link

	again, heldNow second // claim and held, looked at again
}

// A second is a link looked at for the second time.
type second struct {
	claim
	answered bool // info is valid
}

const (
	// maxRounds bounds how often links are looked at again: on a fabric that
	// never comes to rest the scan ends all the same.
	maxRounds = 16

	// maxNodes bounds a scan of something that answers with a new GUID each
	// time: a subnet has no more LIDs than this, and each node needs one.
	maxNodes = 0xbfff
)

// sameIdentity reports whether two answers can be of one node. The port GUID
// and the local port differ between the ports of one adapter.
func sameIdentity(a, b *mad.NodeInfo) bool {
	return a.NodeType == b.NodeType && a.NumPorts == b.NumPorts && a.SystemGUID == b.SystemGUID &&
		a.DeviceID == b.DeviceID && a.VendorID == b.VendorID
}

// match returns the known node that a claim leads to. It returns nil where
// there is none, or none whose port is free for the link.
func (s *scan) match(c claim) *scanNode {
	var from *Port
	if c.from != nil {
		from = c.from.Ports[c.port]
	}
	for _, n := range s.nodes[c.info.NodeGUID] {
		if !sameIdentity(&n.Info, &c.info) {
			continue
		}
		if p := n.at(c.info.LocalPort); from == nil || p == nil || p.Peer == nil || p.Peer == from {
			return n
		}
	}
	return nil
}

// differs reports whether no known node can be the one that a claim leads to:
// all with its GUID are of another kind.
func (s *scan) differs(c claim) bool {
	for _, n := range s.nodes[c.info.NodeGUID] {
		if sameIdentity(&n.Info, &c.info) {
			return false
		}
	}
	return true
}

// link joins the two ends of a claim. Where the near end is taken by another
// link, that one becomes a suspect and the claim, which is what the port itself
// sees, holds.
func (s *scan) link(c claim, n *scanNode) {
	number := c.info.LocalPort
	isNew := n.at(number) == nil
	p := s.port(n, number)
	p.GUID = c.info.PortGUID
	if isNew && n.Info.NodeType != mad.NodeTypeSwitch {
		s.askPortInfo(n, c.to, number)
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

// claimOn states the link of a port, which is known to the scan, as seen from the
// end that can be looked through: no directed route leads through an adapter,
// other than out of the start.
func (s *scan) claimOn(p *Port) claim {
	isExit := p.Node.Info.NodeType == mad.NodeTypeSwitch && p.linkable()
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

// recheck settles what the last round left in doubt: it judges the suspects
// that were looked at again and has a second look at new ones. It reports
// whether the client has to run once more.
func (s *scan) recheck(round int) bool {
	looked := s.looked
	s.looked = nil
	for i := range looked {
		s.judge(&looked[i])
	}
	s.suspectOneSided()
	if round >= maxRounds {
		for _, u := range s.suspects {
			s.conflict(&u.claim, "the fabric changed too often to tell more")
		}
		s.suspects = nil
	}
	s.looked, s.suspects = s.suspects, nil
	for i := range s.looked {
		s.look(&s.looked[i])
	}
	return s.waiting > 0
}

// suspectOneSided finds links whose one end says that it is not up. As a packet
// just went through, either it came up during the scan or it is a port of
// another node with the same GUID.
func (s *scan) suspectOneSided() {
	for _, n := range s.order {
		for _, p := range n.Ports {
			if p == nil || p.Peer == nil || p.Info == nil || !unlinked(p.Info) || n.checked[p.Number] {
				continue
			}
			n.checked[p.Number] = true
			s.suspects = append(s.suspects, suspect{claim: s.claimOn(p.Peer)})
			s.askPortInfo(n, n.target, p.Number)
		}
	}
}

// unlinked reports whether a port says that nothing can come through it. One
// that trains or recovers from errors may let a packet pass now and then.
func unlinked(i *mad.PortInfo) bool {
	return i.PhysState == ib.PhysPolling || i.PhysState == ib.PhysDisabled || i.PhysState == ib.PhysSleep
}

// look asks again what is behind both ports that claim the same far end.
func (s *scan) look(u *suspect) {
	c := &u.claim
	target := s.targetPort(c)
	if target != nil && target.Peer != nil && target.Peer != c.from.Ports[c.port] {
		u.holder = target.Peer
		u.held = s.claimOn(u.holder)
		s.lookThrough(u.held, &u.heldNow)
	}
	s.lookThrough(*c, &u.again)
}

// lookThrough asks again what is behind the port of a claim and, where nothing
// answers, whether the port is still up.
func (s *scan) lookThrough(c claim, now *second) {
	now.claim = c
	if c.from.Node == s.fabric.Start && c.from.target.Route != "" && c.port == s.fabric.StartPort {
		now.answered = true // the link by which each packet to the start comes: it holds
		return
	}
	s.submit(c.to, mad.AttrNodeInfo, 0, c.from, c.port, func(s *scan, a *ask, r *umad.Reply) {
		if now.answered = s.decode(a, r, &now.info); !now.answered {
			s.askPortInfo(a.node, a.node.target, a.port)
		}
	})
}

// targetPort returns the port that a claim leads to and that another link
// holds, or else the first port that it can mean.
func (s *scan) targetPort(c *claim) *Port {
	var first *Port
	for _, n := range s.nodes[c.info.NodeGUID] {
		p := n.at(c.info.LocalPort)
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

// judge decides what a contradiction was, now that both sides were looked at a
// second time.
func (s *scan) judge(u *suspect) {
	c := &u.claim
	near := c.from.Ports[c.port]
	target := s.targetPort(c)
	switch {
	case !u.again.answered || !c.sees(&u.again.info):
		s.conflict(c, "was so, and no longer is: the link changed during the scan")
		s.unlink(near)
		if u.again.answered {
			s.found(u.again.claim)
		}
	case u.holder != nil && u.heldGone():
		s.conflict(c, "and another link led there before: the link moved during the scan")
		s.unlink(u.holder)
		s.found(*c)
		if u.heldNow.answered {
			s.found(u.heldNow.claim)
		}
	case u.holder == nil && target != nil && target.Info != nil && !unlinked(target.Info):
		s.found(*c) // it came up during the scan, and both ends agree by now
	default:
		s.unlink(near)
		twin := s.newNode(*c, c.from.depth+1)
		s.link(*c, twin)
		twin.checked[c.info.LocalPort] = true
	}
}

// heldGone reports whether the other link is no longer where it was. That
// nothing answers through it does not say so while its port is up.
func (u *suspect) heldGone() bool {
	if !u.heldNow.answered {
		port := u.held.from.Ports[u.held.port]
		return port.Info != nil && unlinked(port.Info)
	}
	return !u.held.sees(&u.heldNow.info)
}

// unlink takes the link off a port.
func (s *scan) unlink(p *Port) {
	if p != nil && p.Peer != nil {
		p.Peer.Peer = nil
		p.Peer = nil
	}
}

// conflict keeps a contradiction for the report.
func (s *scan) conflict(c *claim, what string) {
	s.fabric.Conflicts = append(s.fabric.Conflicts, Conflict{
		GUID:   c.info.NodeGUID,
		Port:   c.info.LocalPort,
		Detail: c.String() + " " + what,
	})
}
