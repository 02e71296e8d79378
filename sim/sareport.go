package sim

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// classManager is the producer type in a manager's notices (13.4.8.2).
const classManager = 4

// report sends a notice to the subscribers (13.4.11).
func (f *Fabric) report(issuer *Port, n *mad.Notice) {
	a := &f.admin
	r := mad.Report{Notice: *n, IssuerGID: issuer.gid()}
	for _, s := range a.subscriptions {
		if !covers(&s.InformInfo, &r) || len(a.reports) >= maxNotices {
			continue
		}
		to, known := f.subscriber(s.SubscriberGID)
		if !known {
			continue
		}
		a.reportID++
		p := Notification{To: to, From: f.master.Info.LID, At: to.Info.LID, QPN: 1}
		p.MAD.PutGMP(mad.Header{
			BaseVersion: 1, Class: mad.ClassSA, ClassVersion: mad.ClassSA.Version(),
			Method: mad.MethodReport, TID: uint64(a.reportID), Attr: mad.AttrNotice,
		})
		_ = mad.Encode(&r, p.MAD.Data()) // the values come from a notice that was encoded
		a.reports = append(a.reports, p)
	}
}

// subscriber returns a subscriber's port if the subnet manager can reach it.
func (f *Fabric) subscriber(gid ib.GID) (*Port, bool) {
	p, ok := f.portByGID(gid)
	if !ok {
		return nil, false
	}
	_, ok = f.routeLID(f.master, p.Info.LID, false)
	return p, ok
}

// Subscription values that select all LIDs, types, traps and producers (13.4.8.3).
const (
	anyOf       = 0xffff
	anyProducer = 0xffffff
)

// covers reports whether a subscription selects a notice.
func covers(s *mad.InformInfo, r *mad.Report) bool {
	n := &r.Notice
	switch {
	case !s.GID.IsZero():
		if s.GID != r.IssuerGID {
			return false
		}
	case s.LIDBegin != anyOf && (n.IssuerLID < s.LIDBegin || n.IssuerLID > max(s.LIDBegin, s.LIDEnd)):
		return false
	}
	return s.Generic == n.Generic &&
		(s.Type == anyOf || s.Type == uint16(n.Type)) &&
		(s.TrapNumber == anyOf || s.TrapNumber == n.TrapNumber) &&
		(s.ProducerType == anyProducer || s.ProducerType == n.ProducerType)
}

// reportOwn reports a notice from the subnet manager itself: traps 64 to 67.
func (f *Fabric) reportOwn(trap uint16, gid ib.GID) {
	if f.master == nil || len(f.admin.subscriptions) == 0 {
		return
	}
	if n, ok := newNotice(f.master, trap, mad.NoticeSubnetManager, classManager, &mad.GIDNotice{GID: gid}); ok {
		f.report(f.master, &n)
	}
}

// reportReachable reports the ports that went into or out of service since the last call,
// after links or nodes have changed.
func (f *Fabric) reportReachable() {
	a := &f.admin
	if !a.stale || f.master == nil || len(a.subscriptions) == 0 {
		return
	}
	a.stale = false
	before := a.reachable
	a.reachable = f.reachable()
	for _, n := range f.Nodes {
		for i := range n.Ports {
			p := &n.Ports[i]
			switch was, is := before[p], a.reachable[p]; {
			case is && !was:
				f.reportOwn(mad.TrapGIDInService, p.gid())
			case was && !is:
				f.reportOwn(mad.TrapGIDOutOfService, p.gid())
			}
		}
	}
}

// reachable returns the end ports that have a path of links from the subnet manager and a
// responding agent.
func (f *Fabric) reachable() map[*Port]bool {
	nodes := map[*Node]bool{f.master.Node: true}
	ports := map[*Port]bool{f.master: true}
	for queue := []*Node{f.master.Node}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if n != f.master.Node && n.Info.NodeType == mad.NodeTypeCA {
			continue // adapters do not forward packets
		}
		for i := range n.Ports {
			p := &n.Ports[i]
			if !p.up() || n == f.master.Node && !n.IsSwitch() && p != f.master {
				continue
			}
			peer := p.Peer.Node
			if peer.Silent {
				continue
			}
			ports[p.Peer.Management()] = true
			if !nodes[peer] {
				nodes[peer] = true
				queue = append(queue, peer)
			}
		}
	}
	return ports
}
