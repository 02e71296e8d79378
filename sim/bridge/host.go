package bridge

import (
	"slices"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// host is a port of the fabric that is one of this host's.
type host struct {
	device *device
	number uint32
	at     *sim.Port
	sender *sim.Sender
	hadSM  bool            // the fabric's own subnet manager is there
	added  mad.PortCapMask // what the host has added to the port's capabilities

	// What the kernel was told last.
	info  mad.PortInfo
	pkeys []mad.PKey
}

func (b *Bridge) newHost(d *device, number uint32, at *sim.Port) *host {
	h := &host{device: d, number: number, at: at, sender: b.fabric.NewSender(at), hadSM: at.Info.CapMask.Has(mad.CapSM)}
	d.hosts[number] = h
	b.hosts[at] = h
	return h
}

// describe tells what the port is like now.
func (h *host) describe() record {
	r := describePort(h.number, h.at, h.added)
	h.at.Info.ClientReregister = 0 // it asks for something once
	h.info, h.pkeys = h.at.Info, slices.Clone(h.at.PKeys)
	return r
}

// changed reports whether the port is like something else than the kernel knows.
func (h *host) changed() bool {
	return h.info != h.at.Info || !slices.Equal(h.pkeys, h.at.PKeys)
}

// add takes in what the host adds to its capabilities, which everyone sees who
// asks for the port.
func (h *host) add(added mad.PortCapMask) {
	h.at.Info.CapMask &^= h.added
	h.added = added
	h.at.Info.CapMask |= added
	if h.hadSM {
		h.at.Info.CapMask |= mad.CapSM
	}
}

// manages reports whether the host is asked before the agents of its node are: a
// subnet manager knows better than an agent what it is up to.
func (h *host) manages(p *mad.Packet) bool {
	if h.hadSM || !h.added.Has(mad.CapSM) {
		return false
	}
	return p.Class().IsSMP() && p.Attr() == mad.AttrSMInfo || p.Class() == mad.ClassSA
}
