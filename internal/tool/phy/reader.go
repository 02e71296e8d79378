package phy

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/umad"
)

// A reader submits the requests for registers. It begins further devices as replies arrive,
// so that the requests of a large fabric do not need memory at the same time.
type reader struct {
	client *umad.Client
	result *Result
	types  map[uint16]*deviceType // by device ID
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

// A reading is a register that is being read, in blocks, all at the same time.
type reading struct {
	pending
	reader  *reader
	device  *Device
	kind    *kind
	data    []byte
	missing int // blocks
	err     error
	blocks  []*blockRequest // at least as many as the register has
}

// A blockRequest is the request for a block.
type blockRequest struct {
	umad.Request
	of     *reading
	number uint16
	block  register.Block
}

// indexBytes are sent in each block: the fields that select a register's part.
const indexBytes = 12

// submit submits the requests for a register.
func (r *reader) submit(d *Device, k *kind, p pending) {
	rd := r.take(p.register.Spec().Size)
	rd.pending, rd.device, rd.kind, rd.err = p, d, k, nil
	if err := mad.Encode(p.register, rd.data); err != nil {
		rd.missing, rd.err = 0, err
		rd.end()
		return
	}
	if d.carrier != CarrierGet {
		r.submitSet(rd)
		return
	}
	rd.missing = (len(rd.data) + register.BlockSize - 1) / register.BlockSize
	index := [indexBytes]byte{}
	copy(index[:], rd.data)
	for i := range rd.missing {
		q := rd.block(i)
		q.block = register.Block{Number: q.number}
		copy(q.block.Data[:], index[:])
		q.To, q.Modifier, q.Key = r.target(d), uint32(p.register.Part().ID), r.result.Key
		r.asking++
		r.client.Submit(&q.Request)
	}
}

// take returns an unused reading with room for a register.
func (r *reader) take(size int) *reading {
	rd := &reading{reader: r}
	if n := len(r.unused); n > 0 {
		rd = r.unused[n-1]
		r.unused = r.unused[:n-1]
	}
	rd.data = slices.Grow(rd.data[:0], size)[:size]
	return rd
}

// block returns the request for a block.
func (rd *reading) block(number int) *blockRequest {
	if number == len(rd.blocks) {
		q := &blockRequest{of: rd, number: uint16(number)}
		q.Value, q.Done = &q.block, q.received
		rd.blocks = append(rd.blocks, q)
	}
	return rd.blocks[number]
}

// received takes a block's data.
func (q *blockRequest) received(_ *umad.Request, reply *umad.Reply) {
	rd, err := q.of, reply.Err
	if err == nil && q.block.Number != q.number {
		err = fmt.Errorf("got block %d, want %d", q.block.Number, q.number)
	}
	if err != nil && rd.err == nil {
		rd.err = blockError(err)
		rd.reader.over = rd.reader.over || errors.Is(rd.err, ErrLimit)
	}
	copy(rd.data[int(q.number)*register.BlockSize:], q.block.Data[:])
	rd.reader.asking--
	if rd.missing--; rd.missing == 0 {
		if rd.err == nil {
			rd.err = register.Check(rd.register, rd.data)
		}
		rd.end()
	}
	rd.reader.begin()
}

// end ends a reading, which can be used again.
func (rd *reading) end() {
	r := rd.reader
	r.end(rd.device, rd.register, rd.data, rd.err, rd.done)
	d, k, err := rd.device, rd.kind, rd.err
	rd.pending = pending{}
	r.unused = append(r.unused, rd)
	r.settle(d, k, err)
}

// blockError returns an error with the meaning that a status has in the reply to a block.
func blockError(err error) error {
	if status, ok := errors.AsType[mad.StatusError](err); ok {
		return register.BlockStatus(mad.Status(status))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrLimit
	}
	if failed, ok := errors.AsType[*umad.Error](err); ok {
		return failed.Err // without the address, which the subject has
	}
	return err
}
