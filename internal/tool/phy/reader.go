package phy

import (
	"errors"
	"reflect"

	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/umad"
)

// A reader submits the requests for registers. It begins further devices as replies arrive,
// so that the requests of a large fabric do not need memory at the same time.
type reader struct {
	client *umad.Client
	result *Result
	types  map[uint16]*probedType // by device ID
	ready  []*Device              // not begun yet
	asking int                    // blocks that are submitted
	over   bool                   // the time limit ended
	unused []*reading
}

func (r *reader) target(d *Device) umad.Target { return umad.Target{LID: d.Port.LID()} }

// beginBelow is the number of submitted blocks below which another device is begun: more than
// a window, so that the client always has requests.
const beginBelow = 256

// begin begins ready devices.
func (r *reader) begin() {
	for len(r.ready) > 0 && r.asking < max(beginBelow, 4*r.result.Source.Client.MaxWindow) && !r.over {
		d := r.ready[0]
		r.ready = r.ready[1:]
		r.readDevice(d)
	}
}

// A kind is a register, or a page of it, on a device. The first request decides whether there
// are more: firmware that ignores or rejects it for a port does so for all ports.
type kind struct {
	asked   bool // the first request has ended
	err     error
	waiting []pending // for the first request
}

// A kindKey identifies a kind: pages have types of their own.
type kindKey struct {
	page reflect.Type
	id   register.ID
}

// pending is a register to read.
type pending struct {
	register register.Register
	done     func(*Gap)
}

// get reads a register and calls done with its gap, nil if the register has been read. It
// does not send requests that the device cannot answer.
func (r *reader) get(d *Device, reg register.Register, done func(*Gap)) {
	key := kindKey{reflect.TypeOf(reg), reg.Part().ID}
	k := d.kinds[key]
	switch err := d.lacks(key.id); {
	case r.over:
		r.end(d, reg, nil, ErrLimit, done)
	case err != nil:
		r.end(d, reg, nil, err, done)
	case k == nil:
		k = new(kind)
		d.kinds[key] = k
		r.submit(d, k, pending{reg, done})
	case !k.asked:
		k.waiting = append(k.waiting, pending{reg, done})
	case k.err != nil:
		r.end(d, reg, nil, k.err, done)
	default:
		r.submit(d, k, pending{reg, done})
	}
}

// settle keeps the result of a request for a kind, and continues with the others.
func (r *reader) settle(d *Device, k *kind, err error) {
	if errors.Is(err, umad.ErrTimeout) || errors.Is(err, ErrLimit) || errors.Is(err, register.StatusNoRegister) {
		k.err = err
	}
	k.asked = true
	waiting := k.waiting
	k.waiting = nil
	for _, p := range waiting {
		r.get(d, p.register, p.done)
	}
}

// end passes a register's bytes, and its gap, on.
func (r *reader) end(d *Device, reg register.Register, data []byte, err error, done func(*Gap)) {
	if r.result.Raw != nil && !d.neighbour {
		r.result.Raw(RawRegister{d.Port, reg.Part().String(), data, err})
	}
	if err != nil {
		done(&Gap{reg.Part().String(), err})
		return
	}
	done(nil)
}
