package phy

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/umad"
)

// ProbesPerType is the number of devices of a type to ask at first: a single device can hang.
const ProbesPerType = 3

// The reasons for a device without a reply, and for a device that was not asked.
var (
	errSilent   = fmt.Errorf("%w: no reply to GeneralInfo", errNoAccess)
	errNotAsked = fmt.Errorf("%w from other devices of the type", errSilent)
)

// A probedType has the probes for devices with the same device ID.
type probedType struct {
	probed  int
	waiting []*Device // for the first reply
}

// probeAll asks whether devices have register access, and reads the devices that have it.
// Agents ignore a class that they do not have, and each such request costs its timeouts. So
// the first devices of each type are asked, and the others only after a reply, unless the
// options ask for all.
func (r *reader) probeAll(devices []*Device) {
	r.types = map[uint16]*probedType{}
	for _, d := range devices {
		id := d.Port.Node.Info.DeviceID
		t := r.types[id]
		if t == nil {
			t = &probedType{}
			r.types[id] = t
		}
		switch {
		case d.Port.Node.Info.VendorID != mad.VendorMlnx: // others give the class another meaning
			d.Missing = fmt.Errorf("%w: not a device of NVIDIA", errNoAccess)
		case d.Port.Unreachable() != nil:
			d.Missing = d.Port.Unreachable()
			d.Gaps = append(d.Gaps, Gap{"GeneralInfo", d.Missing})
		case r.result.Silent != nil && r.result.Silent(d.Port.Node):
			d.Missing = errNotAsked
		case t.probed < ProbesPerType || r.result.AskAll || r.result.allows(CarrierSMP):
			t.probed++
			r.probe(d, t)
		default:
			t.waiting = append(t.waiting, d)
		}
	}
}

// probe asks whether a device has register access, and then reads it.
func (r *reader) probe(d *Device, t *probedType) {
	var general mad.MlnxGeneralInfo
	r.client.SubmitGet(r.target(d), &general, func(err error) {
		if errors.Is(err, context.DeadlineExceeded) {
			d.Missing = ErrLimit
			return
		}
		if d.Missing = r.probed(d, &general, err); d.Missing == nil {
			r.open(d)
		}
		if errors.Is(err, umad.ErrTimeout) {
			return
		}
		waiting := t.waiting
		t.waiting = nil
		for _, d := range waiting {
			r.probe(d, t)
		}
	}, umad.Key(r.result.Key))
}

// open asks a device for its identity and its list of registers. A device that ignores these
// requests is not asked for more.
func (r *reader) open(d *Device) {
	first := []pending{{&d.info, func(g *Gap) {
		switch {
		case g == nil:
			d.Info = &d.info
		case errors.Is(g.Err, umad.ErrTimeout), errors.Is(g.Err, ErrLimit):
			d.Missing = fmt.Errorf("%s: %w", g.Register, g.Err)
			d.Gaps = append(d.Gaps, *g)
		default:
			d.Gaps = append(d.Gaps, *g)
		}
	}}}
	lists := []*register.List{register.NewPortRegisters()}
	if !d.neighbour && r.result.Switches {
		lists = append(lists, register.NewPlatformRegisters(0), register.NewPlatformRegisters(2))
	}
	for _, l := range lists {
		first = append(first, pending{l, func(g *Gap) {
			if g == nil {
				d.lists = append(d.lists, l)
			}
		}})
	}
	waiting := len(first)
	for _, p := range first {
		r.get(d, p.register, func(g *Gap) {
			p.done(g)
			if waiting--; waiting == 0 && d.Missing == nil {
				r.ready = append(r.ready, d)
				r.begin()
			}
		})
	}
}

// lacks returns an error if the device has no register with an ID, according to its lists.
func (d *Device) lacks(id register.ID) error {
	for _, l := range d.lists {
		if id == l.Part().ID {
			continue // the other groups of the list
		}
		if has, known := l.Has(id); known && !has {
			return fmt.Errorf("%w, according to the device's list", register.StatusNoRegister)
		}
	}
	return nil
}

// giveUp sets the reason for the devices that were not asked.
func (r *reader) giveUp() {
	for _, d := range r.ready {
		d.Missing = ErrLimit
	}
	for _, t := range r.types {
		for _, d := range t.waiting {
			d.Missing = errNotAsked
			if r.result.Unfinished {
				d.Missing = ErrLimit
			}
		}
	}
}
