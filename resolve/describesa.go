package resolve

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// errNoRecord is for a LID that subnet administration does not know.
var errNoRecord = errors.New("subnet administration has no record of it")

// describeBySA asks subnet administration about ports. The first one is asked
// about alone: whether there is anybody to ask is to be found out once.
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
		case p.To.Route != "" || p.To.LID == 0:
			if r.opts.Ask == AskSA {
				p.Err = &MisplacedError{"subnet administration knows no directed routes", "ask the nodes: --ask nodes"}
			}
			continue
		case r.noSA != nil:
			if r.opts.Ask == AskSA {
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

// fromSA asks for the records of a port. Where there are none the port keeps the
// error that the node was asked with before.
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
		d.r.absent(err)
		switch {
		case p.Err != nil:
		case isNoRecord(err):
			p.Err = errNoRecord
		default:
			p.Err = err
		}
	})
}

// record asks subnet administration for a record.
func (d *description) record(sa umad.Target, match mad.Attribute, mask mad.ComponentMask, record mad.Attribute, then func(), failed func(error)) {
	payload, err := mad.SAPayload(mad.SAHeader{ComponentMask: mask}, match)
	if err != nil {
		d.port.Err = err
		return
	}
	d.submit(umad.Request{To: sa, Class: mad.ClassSA, Attr: match.ID(), Payload: payload}, record, then, failed)
}
