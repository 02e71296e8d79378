package main

import (
	"slices"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// host is a port on this host that is plugged into the fabric.
type host struct {
	device *device
	number uint32
	role   Role
	at     *sim.Port
	sender *sim.Sender
	hadSM  bool            // the fabric's own subnet manager runs at this port
	added  mad.PortCapMask // capabilities that the host has added

	// The state that was last reported to the kernel.
	info  mad.PortInfo
	pkeys []mad.PKey
}

func (b *Bridge) newHost(d *device, number uint32, at *sim.Port) *host {
	h := &host{device: d, number: number, at: at, sender: b.fabric.NewSender(at), hadSM: at.Info.CapMask.Has(mad.CapSM)}
	d.hosts[number] = h
	if b.hosts[at] == nil {
		b.hosts[at] = h
	}
	return h
}

// describe returns the record with the current port state.
func (h *host) describe() record {
	port := *h.at
	if h.role == General {
		port.Info.CapMask |= mad.CapSMDisabled
	}
	r := describePort(h.number, &port, h.added)
	h.at.Info.ClientReregister = 0 // a single request is enough
	h.info, h.pkeys = h.at.Info, slices.Clone(h.at.PKeys)
	return r
}

// changed reports whether the port state differs from the state that the kernel has.
func (h *host) changed() bool {
	return h.info != h.at.Info || !slices.Equal(h.pkeys, h.at.PKeys)
}

// add replaces the capabilities that the host adds to its port. They are visible in the
// fabric's PortInfo.
func (h *host) add(added mad.PortCapMask) {
	h.at.Info.CapMask &^= h.added
	h.added = added
	h.at.Info.CapMask |= added
	if h.hadSM {
		h.at.Info.CapMask |= mad.CapSM
	}
}

// sends reports whether the host can send a packet: a device in a pair cannot send all
// packets.
func (h *host) sends(p *mad.Packet) bool {
	switch h.role {
	case General:
		return !p.Class().IsSMP()
	case Management:
		return p.Class() == mad.ClassSMPDirected
	}
	return true
}

// manages reports whether a request goes to the host before its node's agents: requests
// for a subnet manager that runs on the host.
func (h *host) manages(p *mad.Packet) bool {
	if h.hadSM || !h.added.Has(mad.CapSM) {
		return false
	}
	return p.Class().IsSMP() && p.Attr() == mad.AttrSMInfo || p.Class() == mad.ClassSA
}
