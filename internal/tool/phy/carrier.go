package phy

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/umad"
)

// A Carrier is the packet that carries registers.
type Carrier string

// The carriers. Sets read a register without a change, but a device can check its key.
const (
	CarrierGet Carrier = "get" // Gets of blocks; the default
	CarrierSet Carrier = "set" // Sets in the vendor class to devices without CarrierGet
	CarrierSMP Carrier = "smp" // the same, and Sets in subnet management to others
)

// Carriers are the values of a flag.
var Carriers = []Carrier{CarrierGet, CarrierSet, CarrierSMP}

// allows reports whether the options permit a carrier.
func (o *Options) allows(c Carrier) bool {
	return c == CarrierGet || o.Carrier == c || o.Carrier == CarrierSMP && c == CarrierSet
}

// submitSet submits the request for a whole register in a Set.
func (r *reader) submitSet(rd *reading) {
	part, size := rd.register.Part(), len(rd.data)
	var value mad.Attribute
	var head *register.Head
	var room []byte
	if rd.device.carrier == CarrierSMP {
		a := &register.SubnetAccess{Head: register.NewHead(part.ID, size, mad.ClassSMPLIDRouted)}
		value, head, room = a, &a.Head, a.Data[:]
	} else {
		a := &register.Access{Head: register.NewHead(part.ID, size, mad.ClassMlnx)}
		value, head, room = a, &a.Head, a.Data[:]
	}
	if size > len(room) {
		rd.err = fmt.Errorf("%w: the register needs %d bytes, a Set has %d", errNoAccess, size, len(room))
		rd.end()
		return
	}
	copy(room, rd.data)
	q := &umad.Request{To: r.target(rd.device), Method: mad.MethodSet, Value: value, Expect: &umad.Identity{NodeGUID: rd.device.Port.Node.GUID}}
	if rd.device.carrier == CarrierSet {
		q.Key = r.result.Key
	}
	q.Done = func(_ *umad.Request, reply *umad.Reply) {
		switch {
		case reply.Err != nil:
			rd.err = blockError(reply.Err)
			r.over = r.over || errors.Is(rd.err, ErrLimit)
		case head.ID != part.ID:
			rd.err = fmt.Errorf("got register %v, want %v", head.ID, part.ID)
		case head.Status != 0:
			rd.err = head.Status
		default:
			copy(rd.data, room)
			rd.err = register.Check(rd.register, rd.data)
		}
		r.asking--
		rd.end()
		r.begin()
	}
	r.asking++
	r.client.Submit(q)
}

// probed decides how a device is read, according to the reply to GeneralInfo. It returns the
// reason why it cannot be read.
func (r *reader) probed(d *Device, general *mad.MlnxGeneralInfo, err error) error {
	switch {
	case err == nil && general.Capabilities&mad.MlnxCapRegister != 0:
		d.carrier = CarrierGet
	case err == nil && r.result.allows(CarrierSet):
		d.carrier = CarrierSet
	case err == nil:
		return fmt.Errorf("%w: the firmware does not have the capability (bit 20)", errNoAccess)
	case r.result.allows(CarrierSMP):
		d.carrier = CarrierSMP
	case errors.Is(err, umad.ErrTimeout):
		return errSilent
	default:
		return fmt.Errorf("%w: %w", errNoAccess, err)
	}
	return nil
}
