package watch

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/sweep"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
)

// reportChanges reports the differences between two scans, each link once.
func (w *fabricWatch) reportChanges(before, now *fabric.Fabric) {
	d := &linkDiff{fabricWatch: w, before: before, now: now, done: map[[2]portKey]bool{}}
	checks := linkinfo.Checks{Connection: true, State: true, LID: true, Description: true, PeerPort: true, Rate: true}
	for _, n := range linkinfo.Diff(before, now, checks, nil) {
		d.node(&n)
	}
	for _, n := range now.Nodes {
		if old := before.NodeByGUID(n.GUID); old != nil {
			d.lids(old, n)
		}
	}
	d.closeGaps()
}

// A linkDiff compares two scans.
type linkDiff struct {
	*fabricWatch
	before, now *fabric.Fabric
	done        map[[2]portKey]bool // links that were reported
}

// A portKey identifies a port in both scans.
type portKey struct {
	guid ib.GUID
	port uint8
}

func keyOf(p *fabric.Port) portKey { return portKey{p.Node.GUID, p.Number} }

func (k portKey) compare(o portKey) int {
	return cmp.Or(cmp.Compare(k.guid, o.guid), cmp.Compare(k.port, o.port))
}

// in returns the port in a fabric, nil if the fabric has no data on it.
func (k portKey) in(f *fabric.Fabric) *fabric.Port {
	return f.NodeByGUID(k.guid).PortAt(k.port)
}

// portIn returns a port in a fabric, nil if the fabric has no data on it. The port may be
// nil.
func portIn(f *fabric.Fabric, p *fabric.Port) *fabric.Port {
	if p == nil {
		return nil
	}
	return keyOf(p).in(f)
}

// node reports differences in a node and its links.
func (d *linkDiff) node(n *linkinfo.NodeDiff) {
	if n.New == nil {
		d.remember(n.Old)
	}
	switch {
	case n.Old == nil && d.silent[n.New.GUID] != nil:
		d.returned(d.silent[n.New.GUID], n.New)
	case n.Old == nil:
		d.nodeEvent(n.New, report.NodeAdded, report.Recovery, "in the fabric")
		d.links(n.New)
	case n.New == nil && d.isLinkDown(n.Old):
		d.removed(n.Old)
	case n.New == nil:
		d.addSilent(n.Old)
		d.nodeEvent(n.Old, report.NodeSilent, report.Error, "no reply, and no link of it is known to be down")
		d.links(n.Old)
	case n.PortCount:
		d.nodeEvent(n.New, report.NodeChanged, report.Info, fmt.Sprintf("ports: %d, before %d", n.New.Info.NumPorts, n.Old.Info.NumPorts))
		d.links(n.Old)
		d.links(n.New)
	default:
		if n.Renamed {
			d.renamed(n.Old, n.New)
		}
		for _, p := range n.Ports {
			if p.Old != nil {
				d.link(keyOf(p.Old))
			} else {
				d.link(keyOf(p.New))
			}
		}
	}
}

// remember keeps the node for ports that left the fabric: later notices name them by GID.
func (w *fabricWatch) remember(n *fabric.Node) {
	if len(w.gone) > maxGone {
		clear(w.gone)
	}
	for _, p := range n.Ports {
		if p != nil && p.GUID != 0 {
			w.gone[p.GUID] = &fabric.Node{GUID: n.GUID, Desc: n.Desc, Info: n.Info}
		}
	}
}

// maxGone limits the ports on nodes that left the fabric.
const maxGone = 1 << 16

func (d *linkDiff) nodeEvent(n *fabric.Node, kind report.EventKind, severity report.Severity, detail string) {
	d.add(newEvent(Links, kind, severity, detail).about(d.nodePlace(n), n))
}

// removed reports a node that left the fabric, and its links.
func (d *linkDiff) removed(n *fabric.Node) {
	d.nodeEvent(n, report.NodeRemoved, report.Error, "left the fabric")
	d.links(n)
}

// returned reports a node that responds again, and what has changed since it did before.
func (d *linkDiff) returned(old, now *fabric.Node) {
	d.nodeEvent(now, report.NodeAdded, report.Recovery, "responds again")
	d.renamed(old, now)
	d.lids(old, now)
	d.links(old)
	d.links(now)
	d.removeSilent(old)
}

// renamed reports a change to a node's name, and to a switch's LID.
func (d *linkDiff) renamed(old, now *fabric.Node) {
	var changes []string
	if a, b := d.Names.Name(old), d.Names.Name(now); a != b {
		changes = append(changes, fmt.Sprintf("name %q, before %q", b, a))
	}
	if a, b := old.LID(), now.LID(); a != b && now.Switch != nil && isRead(now.Ports[0]) && isRead(old.Ports[0]) {
		changes = append(changes, fmt.Sprintf("LID %d, before %d", b, a))
	}
	if len(changes) > 0 {
		d.nodeEvent(now, report.NodeChanged, report.Info, strings.Join(changes, "; "))
	}
}

// lids reports adapter or router ports with another LID.
func (d *linkDiff) lids(old, now *fabric.Node) {
	if now.IsSwitch() {
		return
	}
	for _, p := range now.Ports {
		if p == nil || p.Info == nil {
			continue
		}
		q := d.last(keyOf(p))
		if q == nil || q.Info == nil || q.LID() == p.LID() {
			continue
		}
		detail := fmt.Sprintf("LID %d, before %d", p.LID(), q.LID())
		d.add(newEvent(Links, report.NodeChanged, report.Info, detail).about(d.portPlace(p), now))
	}
}

// isLinkDown reports whether a link on a known node is down, or leads to another node,
// while none leads to a node that does not respond.
func (d *linkDiff) isLinkDown(n *fabric.Node) bool {
	down := false
	for _, p := range n.Ports {
		if p == nil || p.Peer == nil {
			continue
		}
		switch q := keyOf(p.Peer).in(d.now); {
		case isUp(q) && q.Peer == nil:
			return false
		case q != nil && (q.Info != nil || q.Omitted):
			down = true
		}
	}
	return down
}

// links reports a node's links.
func (d *linkDiff) links(n *fabric.Node) {
	for _, p := range n.Ports {
		if p != nil && !p.IsManagement() && (p.Peer != nil || isUp(p)) {
			d.link(keyOf(p))
		}
	}
}

// isUp reports whether a port reports that its link is up.
func isUp(p *fabric.Port) bool {
	return p != nil && p.Info != nil && p.Info.State != ib.PortDown && p.Info.State != ib.PortNoChange
}

// isLinkUp reports whether a link is up, given either port: without data on it, the peer's
// data decides. known is false if neither has data.
func isLinkUp(p, peer *fabric.Port) (up, known bool) {
	if !isRead(p) {
		p = peer
	}
	return isUp(p), isRead(p)
}

// link reports a link change.
func (d *linkDiff) link(k portKey) {
	old, now := d.last(k), k.in(d.now)
	oldPeer, newPeer := d.peerOf(old), peerOf(now)
	peer := cmp.Or(newPeer, oldPeer)
	wasUp, _ := isLinkUp(old, d.lastOf(cmp.Or(oldPeer, newPeer)))
	isUp, known := isLinkUp(now, portIn(d.now, peer))
	link := &LinkChange{d.state(old), d.state(now)}
	var e *Event
	switch {
	case !known:
		return // its nodes' events report that they do not respond
	case wasUp && !isUp:
		peer = oldPeer
		e = newEvent(Links, report.LinkDown, report.Error, "was "+link.Old.text())
	case !wasUp && isUp:
		peer = newPeer
		e = newEvent(Links, report.LinkUp, report.Recovery, link.New.text())
	case wasUp && now != nil && old != nil:
		severity, detail := d.change(old, now, link)
		if detail == "" {
			return
		}
		e = newEvent(Links, report.LinkChanged, severity, detail)
	default:
		return
	}
	e.Data.Link = link
	d.linkEvent(e, cmp.Or(now, old), peer)
}

// linkEvent reports a link event, unless it was reported from the other end.
func (d *linkDiff) linkEvent(e *Event, subject, peer *fabric.Port) {
	if d.isDone(keyOf(subject), peer) {
		return
	}
	e.about(d.portPlace(subject), subject.Node)
	if peer != nil {
		e.Data.Peer, e.peer = d.portPlace(peer), peer.Node
	}
	d.add(e)
}

// reportDown reports links that a check found down, and makes that their state in the last
// scan: the next scan may find them up again.
func (w *fabricWatch) reportDown(changes []sweep.StateChange) {
	d := &linkDiff{fabricWatch: w, before: w.known, now: w.known, done: map[[2]portKey]bool{}}
	for _, c := range changes {
		if c.Now != ib.PortDown || !isUp(c.Port) {
			continue
		}
		old, peer := d.state(c.Port), d.peerOf(c.Port)
		for _, p := range []*fabric.Port{c.Port, peer} {
			if p != nil && p.Info != nil {
				p.Info.State = ib.PortDown
			}
		}
		e := newEvent(Links, report.LinkDown, report.Error, "was "+old.text())
		e.Data.Link = &LinkChange{old, d.state(c.Port)}
		d.linkEvent(e, c.Port, peer)
	}
}

// isDone reports whether a link was reported from either end, and remembers it.
func (d *linkDiff) isDone(k portKey, peer *fabric.Port) bool {
	ends := [2]portKey{k}
	if peer != nil {
		if ends[1] = keyOf(peer); ends[1].compare(k) < 0 {
			ends[0], ends[1] = ends[1], ends[0]
		}
	}
	done := d.done[ends]
	d.done[ends] = true
	return done
}

// change returns the change on a link that was up in both scans, "" if there is no change.
func (d *linkDiff) change(old, now *fabric.Port, link *LinkChange) (report.Severity, string) {
	if now.Info == nil || old.Info == nil {
		return report.Info, "" // node events report it
	}
	var changes []string
	severity := report.Info
	if a, b := link.Old.rate(), link.New.rate(); a != b && a != "" && b != "" {
		changes = append(changes, b+", before "+a)
		severity = report.Error
		before, after := linkinfo.NewEnd(old, false), linkinfo.NewEnd(now, false)
		if ib.LinkGbps(after.Width, after.Speed) > ib.LinkGbps(before.Width, before.Speed) {
			severity = report.Recovery
		}
	}
	if a, b := link.Old.State, link.New.State; a != b {
		changes = append(changes, b+", before "+a)
		switch {
		case now.Info.State == ib.PortActive && severity == report.Info:
			severity = report.Recovery
		case old.Info.State == ib.PortActive:
			severity = report.Error
		}
	}
	switch {
	case now.Peer == nil && old.Peer == nil:
	case now.Peer == nil:
		if keyOf(old.Peer).in(d.now) != nil {
			changes = append(changes, "the peer does not respond")
			severity = report.Error
		}
	case old.Peer == nil:
		if keyOf(now.Peer).in(d.before) != nil {
			changes = append(changes, "the peer responds")
		}
	case keyOf(old.Peer) != keyOf(now.Peer):
		changes = append(changes, fmt.Sprintf("connected to %v, before %v", link.New.Peer, link.Old.Peer))
	}
	if len(changes) > 0 && len(link.New.Findings) > 0 {
		changes = append(changes, link.New.Findings...)
	}
	return severity, strings.Join(changes, "; ")
}
