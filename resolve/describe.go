package resolve

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Describe asks what ports are, all at once: the nodes themselves and, in place of
// those that do not answer, subnet administration; or only one of them, as
// [Options] say. What it does not find out is in the Err of each port. Hosts on
// Ethernet cannot be asked.
func (r *Resolver) Describe(ctx context.Context, ports []*Port) error {
	if r.local.LinkLayer == Ethernet {
		return nil
	}
	var silent []*description
	if r.opts.Ask != AskSA {
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
	if r.opts.Ask != AskNodes {
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

// onEthernet reports whether the port is one that nobody can ask.
func (p *Port) onEthernet() bool { return p.Host != nil && p.To == umad.Target{} }

// description is a port that is being described.
type description struct {
	r    *Resolver
	port *Port
}

// submit sends a request; then is called with the answer if there is one, and
// failed, where it is set, if there is none. Without it the error is the port's.
func (d *description) submit(q umad.Request, record mad.Attribute, then func(), failed func(error)) {
	q.Done = func(_ *umad.Request, reply *umad.Reply) {
		err := reply.Err
		if err == nil {
			err = mad.Decode(record, reply.Data())
		}
		switch {
		case err == nil:
			then()
		case failed != nil:
			failed(err)
		case d.port.Err == nil:
			d.port.Err = err
		}
	}
	d.r.client.Submit(&q)
}

// smp asks the node for an attribute.
func (d *description) smp(record mad.Attribute, modifier uint32, then func(), failed func(error)) {
	d.submit(umad.Request{To: d.port.To, Attr: record.ID(), Modifier: modifier}, record, then, failed)
}

// isRefusal reports whether an error is an answer.
func isRefusal(err error) bool {
	var status mad.StatusError
	return errors.As(err, &status)
}

// fromNode asks the node for NodeInfo and then for all else. If it does not answer
// it goes to silent.
func (d *description) fromNode(silent *[]*description) {
	var node mad.NodeInfo
	d.smp(&node, 0, func() {
		p := d.port
		p.Node, p.Info, p.DescribedBy = &node, nil, FromNode
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

// ignoreRefusal takes the answer that there is no GUID table: not all agents have
// one, and all tell the port's own GUID in NodeInfo.
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
