package sim

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// destination is the name for [Destination] in agent code.
type destination = Destination

// route returns the destination of a packet that leaves a port for a LID or along its
// directed route, and fills in a directed route's return path. It reports false if the
// packet is lost on its path.
func (f *Fabric) route(from *Port, lid ib.LID, management bool, p *mad.Packet) (destination, bool) {
	if p.Class() != mad.ClassSMPDirected {
		return f.routeLID(from, lid, management)
	}
	d := destination{node: from.Node, entry: from.Number}
	if p.DrSLID() != ib.PermissiveLID {
		var ok bool
		if d, ok = f.routeLID(from, lid, true); !ok {
			return d, false
		}
	}
	hops := min(int(p[offHopCount]), mad.MaxHops)
	for i, exit := range p[offInitialPath+1:][:hops] {
		if !d.node.IsSwitch() && (i > 0 || exit != d.entry) {
			return d, false // adapters do not forward packets
		}
		if !d.leave(exit) {
			return d, false
		}
		p[offReturnPath+1+i] = d.entry
	}
	return d, true
}

// Offsets in directed-route packets (InfiniBand Architecture, Volume 1, 14.2.1.2).
const (
	offHopCount    = 7
	offInitialPath = 128
	offReturnPath  = 192
)

// leave follows a port's link.
func (d *destination) leave(port uint8) bool {
	if int(port) >= len(d.node.Ports) || port == 0 {
		return false
	}
	p := &d.node.Ports[port]
	if !p.up() || !p.Peer.up() {
		return false
	}
	d.node, d.entry = p.Peer.Node, p.Peer.Number
	d.hops++
	return true
}

// routeLID follows the forwarding tables to a LID. Subnet management packets need links
// that are up, other packets need active links.
func (f *Fabric) routeLID(from *Port, lid ib.LID, management bool) (destination, bool) {
	d := destination{node: from.Node, entry: from.Number}
	if lid == ib.PermissiveLID || from.answersTo(lid) {
		return d, true
	}
	exit := from.Number
	for d.hops <= mad.MaxHops {
		if d.node.IsSwitch() {
			if int(lid) >= len(d.node.LFT) {
				return d, false
			}
			if exit = d.node.LFT[lid]; exit == 0 {
				return d, d.node.Ports[0].answersTo(lid)
			}
		}
		if !management && int(exit) < len(d.node.Ports) && d.node.Ports[exit].Info.State != ib.PortActive {
			return d, false
		}
		if !d.leave(exit) {
			return d, false
		}
		if !d.node.IsSwitch() {
			return d, d.node.Ports[d.entry].answersTo(lid)
		}
	}
	return d, false // forwarding loop
}

// answersTo reports whether a LID is among the port's LIDs.
func (p *Port) answersTo(lid ib.LID) bool {
	base := p.Info.LID
	return base != 0 && lid >= base && int(lid) < int(base)+1<<p.Info.LMC
}
