package resolve

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// ErrNoRouteRecord is the error of a directed route with [LookupSA].
var ErrNoRouteRecord = errors.New("subnet administration has no records of directed routes")

var errNoRecord = errors.New("subnet administration has no record of this LID")

// describeBySA reads the records of ports. It waits for those of the first port
// before it requests others: if there is no administration, only one request times
// out.
func (r *Resolver) describeBySA(ctx context.Context, ports []*description) error {
	sa := umad.Target{LID: r.opts.SMLID}
	if sa.LID == 0 {
		sa = umad.Target{LID: r.local.SMLID, SL: r.local.SMSL}
	}
	if sa.LID == 0 {
		r.noSA = umad.ErrNoSM
	}
	first := true
	for _, d := range ports {
		switch p := d.port; {
		case p.To.IsDirected() || p.To.LID == 0:
			if r.opts.Mode == LookupSA {
				p.Err = ErrNoRouteRecord
			}
			continue
		case r.noSA != nil:
			if r.opts.Mode == LookupSA {
				p.Err = r.noSA
			}
			continue
		}
		d.fromSA(sa)
		if first {
			first = false
			if err := r.client.Run(ctx); err != nil {
				return fmt.Errorf("describe ports: %w", err)
			}
		}
	}
	if err := r.client.Run(ctx); err != nil {
		return fmt.Errorf("describe ports: %w", err)
	}
	return nil
}

// fromSA requests the records of a port. If there are none, the port keeps the error
// of an earlier query of the node.
func (d *description) fromSA(sa umad.Target) {
	p := d.port
	q := mad.NodeRecord{LID: p.To.LID}
	var node mad.NodeRecord
	d.record(sa, &q, mad.Components(&q, &q.LID), &node, func() {
		p.Err = nil
		p.Node, p.Description, p.DescribedBy = &node.NodeInfo, &node.Description, FromSA
		number, _ := p.Number()
		q := mad.PortInfoRecord{LID: node.LID, PortNum: number}
		var port mad.PortInfoRecord
		d.record(sa, &q, mad.Components(&q, &q.LID, &q.PortNum), &port, func() {
			p.Info = &port.PortInfo
			for block := range (int(p.Info.GUIDCap) + guidsPerBlock - 1) / guidsPerBlock {
				q := mad.GUIDInfoRecord{LID: node.LID, Block: uint8(block)}
				var guids mad.GUIDInfoRecord
				d.record(sa, &q, mad.Components(&q, &q.LID, &q.Block), &guids, func() { p.addGUIDs(&guids.Table) }, p.ignoreRefusal)
			}
		}, nil)
	}, func(err error) {
		d.r.noteAbsence(err)
		switch {
		case p.Err != nil:
		case isNoRecord(err):
			p.Err = errNoRecord
		default:
			p.Err = err
		}
	})
}

// record requests a record of subnet administration.
func (d *description) record(sa umad.Target, match mad.Attribute, mask mad.ComponentMask, record mad.Attribute, then func(), failed func(error)) {
	payload, err := mad.SAPayload(mad.SAHeader{ComponentMask: mask}, match)
	if err != nil {
		d.port.Err = err
		return
	}
	d.submit(umad.Request{To: sa, Class: mad.ClassSA, Attr: match.Spec().ID, Payload: payload}, record, then, failed)
}
