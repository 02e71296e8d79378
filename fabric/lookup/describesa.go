package lookup

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// ErrNoRouteRecord is the error for a directed route with [ModeSA].
var ErrNoRouteRecord = errors.New("subnet administration has no records of directed routes")

var errNoRecord = errors.New("subnet administration has no record of this LID")

// describeBySA reads port records. It waits for the first port's records before it
// requests others: if there is no administration, only one request times out.
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
			if r.opts.Mode == ModeSA {
				p.Err = ErrNoRouteRecord
			}
			continue
		case r.noSA != nil:
			if r.opts.Mode == ModeSA {
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

// fromSA requests a port's records. If there are none, the port keeps the error from an
// earlier query to the node.
func (d *description) fromSA(sa umad.Target) {
	p := d.port
	node := mad.NodeRecord{LID: p.To.LID}
	d.submit(sa, &node, func() {
		p.Err = nil
		p.Node, p.Description, p.DescribedBy = &node.NodeInfo, &node.Description, FromSA
		number, _ := p.Number()
		port := mad.PortInfoRecord{LID: node.LID, PortNum: number}
		d.submit(sa, &port, func() {
			p.Info = &port.PortInfo
			for block := range (int(p.Info.GUIDCap) + guidsPerBlock - 1) / guidsPerBlock {
				guids := mad.GUIDInfoRecord{LID: node.LID, Block: uint8(block)}
				d.submit(sa, &guids, func() { p.addGUIDs(&guids.Table) }, p.ignoreRefusal, umad.Match(&guids.LID, &guids.Block))
			}
		}, nil, umad.Match(&port.LID, &port.PortNum))
	}, func(err error) {
		d.r.noteAbsence(err)
		switch {
		case p.Err != nil:
		case isNoRecord(err):
			p.Err = errNoRecord
		default:
			p.Err = err
		}
	}, umad.Match(&node.LID))
}
