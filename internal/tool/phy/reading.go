package phy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/umad"
)

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
