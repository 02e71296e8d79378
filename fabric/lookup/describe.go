package lookup

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Describe reads port attributes, all at the same time: from the nodes and, for nodes
// that do not reply, from subnet administration, or from one of these sources only, as
// [Options.Mode] specifies. An attribute that it cannot read is recorded in the port's
// Err. Hosts on Ethernet have no attributes.
func (r *Resolver) Describe(ctx context.Context, ports []*Port) error {
	if r.local.LinkLayer == Ethernet {
		return nil
	}
	var silent []*description
	if r.opts.Mode != ModeSA {
		for _, p := range ports {
			if !p.onEthernet() {
				d := &description{r: r, port: p}
				d.fromNode(&silent)
			}
		}
		if err := r.client.Run(ctx); err != nil {
			return fmt.Errorf("describe ports: %w", err)
		}
	} else {
		for _, p := range ports {
			if !p.onEthernet() {
				silent = append(silent, &description{r: r, port: p})
			}
		}
	}
	if r.opts.Mode != ModeNodes {
		if err := r.describeBySA(ctx, silent); err != nil {
			return err
		}
	}
	for _, p := range ports {
		if !p.onEthernet() {
			p.check()
		}
	}
	return nil
}

// onEthernet reports whether the port has no agents to query.
func (p *Port) onEthernet() bool { return p.Host != nil && p.To == umad.Target{} }

// A description is the query state for a port.
type description struct {
	r    *Resolver
	port *Port
}

// submit requests a record. When it is decoded, it calls then. After an error it calls
// failed or, if that is nil, records the error in the port.
func (d *description) submit(to umad.Target, record mad.Attribute, then func(), failed func(error), o ...umad.Option) {
	d.r.client.SubmitGet(to, record, func(err error) {
		switch {
		case err == nil:
			then()
		case failed != nil:
			failed(err)
		case d.port.Err == nil:
			d.port.Err = err
		}
	}, o...)
}

// smp requests a node attribute.
func (d *description) smp(record mad.Attribute, modifier uint32, then func(), failed func(error)) {
	d.submit(d.port.To, record, then, failed, umad.Modifier(modifier))
}

// isRefusal reports whether an error is a reply status.
func isRefusal(err error) bool {
	var status mad.StatusError
	return errors.As(err, &status)
}

// fromNode reads NodeInfo from the node, then the other attributes. A node that does
// not reply is added to silent.
func (d *description) fromNode(silent *[]*description) {
	var node mad.NodeInfo
	d.smp(&node, 0, func() {
		p := d.port
		p.Node, p.Info, p.Description, p.DescribedBy, p.Err = &node, nil, nil, FromNode, nil
		var desc mad.NodeDescription
		d.smp(&desc, 0, func() { p.Description = &desc }, nil)
		number, _ := p.Number()
		var info mad.PortInfo
		d.smp(&info, uint32(number), func() {
			p.Info = &info
			for block := range (int(info.GUIDCap) + guidsPerBlock - 1) / guidsPerBlock {
				var guids mad.GUIDInfo
				d.smp(&guids, uint32(block), func() { p.addGUIDs(&guids) }, p.ignoreRefusal)
			}
		}, nil)
	}, func(err error) {
		d.port.Err = err
		*silent = append(*silent, d)
	})
}

// ignoreRefusal ignores that an agent has no GUID table, which is optional: NodeInfo
// contains the port's own GUID.
func (p *Port) ignoreRefusal(err error) {
	if !isRefusal(err) && p.Err == nil {
		p.Err = err
	}
}

const guidsPerBlock = len(mad.GUIDInfo{}.GUIDs)

func (p *Port) addGUIDs(t *mad.GUIDInfo) {
	for _, guid := range t.GUIDs {
		if guid != 0 {
			p.GUIDs = append(p.GUIDs, guid)
		}
	}
}
