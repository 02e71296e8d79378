package watch

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// gaps are the nodes and ports that the last scan did not read, as the last scan that read
// them found them. A change during a gap is reported at its end.
type gaps struct {
	silent map[ib.GUID]*fabric.Node // nodes that were reported as silent
	facing map[portKey]*fabric.Port // silent nodes' ports, by the link's other end
	unread map[portKey]*fabric.Port // ports on nodes that responded
}

func newGaps() gaps {
	return gaps{map[ib.GUID]*fabric.Node{}, map[portKey]*fabric.Port{}, map[portKey]*fabric.Port{}}
}

func (g *gaps) addSilent(n *fabric.Node) {
	g.silent[n.GUID] = n
	for _, p := range n.Ports {
		if peer := peerOf(p); peer != nil {
			g.facing[keyOf(peer)] = p
		}
	}
}

func (g *gaps) removeSilent(n *fabric.Node) {
	delete(g.silent, n.GUID)
	for _, p := range n.Ports {
		if peer := peerOf(p); peer != nil && g.facing[keyOf(peer)] == p {
			delete(g.facing, keyOf(peer))
		}
	}
}

// peerOf returns a port's peer, also a peer that does not respond. The port may be nil.
func (g *gaps) peerOf(p *fabric.Port) *fabric.Port {
	if p == nil {
		return nil
	}
	return cmp.Or(p.Peer, g.facing[keyOf(p)])
}

func peerOf(p *fabric.Port) *fabric.Port {
	if p == nil {
		return nil
	}
	return p.Peer
}

// isRead reports whether a port's state is known.
func isRead(p *fabric.Port) bool { return p != nil && (p.Info != nil || p.Omitted) }

// last returns a port as the last scan that read it found it, nil if none did.
func (d *linkDiff) last(k portKey) *fabric.Port {
	p := k.in(d.before)
	if isRead(p) {
		return p
	}
	return cmp.Or(d.unread[k], p, d.silent[k.guid].PortAt(k.port))
}

// lastOf is [linkDiff.last] for a port, which may be nil.
func (d *linkDiff) lastOf(p *fabric.Port) *fabric.Port {
	if p == nil {
		return nil
	}
	return d.last(keyOf(p))
}

// closeGaps reports changes on ports that the scan before did not read, and silent nodes
// with links that are down. It then remembers what this scan did not read.
func (d *linkDiff) closeGaps() {
	for _, k := range slices.SortedFunc(maps.Keys(d.unread), portKey.compare) {
		if isRead(k.in(d.now)) {
			d.link(k)
		}
	}
	for _, guid := range slices.Sorted(maps.Keys(d.silent)) {
		if n := d.silent[guid]; d.now.NodeByGUID(guid) == nil && d.isLinkDown(n) {
			d.removed(n)
			d.removeSilent(n)
		}
	}
	maps.DeleteFunc(d.unread, func(k portKey, _ *fabric.Port) bool {
		return isRead(k.in(d.now)) || d.now.NodeByGUID(k.guid) == nil && d.silent[k.guid] == nil
	})
	if d.now.Partial() {
		d.addUnread()
	}
}

// addUnread remembers the ports that only the scan before has read.
func (d *linkDiff) addUnread() {
	for _, n := range d.before.Nodes {
		if d.now.NodeByGUID(n.GUID) == nil {
			continue // silent, or removed
		}
		for _, p := range n.Ports {
			if isRead(p) && !p.IsManagement() && !isRead(keyOf(p).in(d.now)) {
				d.unread[keyOf(p)] = p
			}
		}
	}
}

// keepNames gives nodes without a description in this scan the last scan's description.
func (w *fabricWatch) keepNames(f *fabric.Fabric) {
	for _, n := range f.Nodes {
		if f.HasDescription(n) {
			continue
		}
		if old := w.before(n); old != nil {
			n.Desc = old.Desc
		}
	}
}

// before returns a node as the scan before found it, or the last scan that did, nil if no
// scan did.
func (w *fabricWatch) before(n *fabric.Node) *fabric.Node {
	if w.known != nil {
		if old := w.known.NodeByGUID(n.GUID); old != nil {
			return old
		}
	}
	if old := w.silent[n.GUID]; old != nil {
		return old
	}
	for _, p := range n.Ports {
		if p != nil && w.gone[p.GUID] != nil {
			return w.gone[p.GUID]
		}
	}
	return nil
}
