package ibroute

import (
	"cmp"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/forwarding"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A destination is the attributes of the port with a LID.
type destination struct {
	node mad.NodeInfo
	port mad.PortInfo
	desc mad.NodeDescription
	errs [3]error // request errors, in the C tool's order
}

// err returns the first failed request's error. The C tool does not send
// the requests after it.
func (d *destination) err() error { return cmp.Or(d.errs[0], d.errs[1], d.errs[2]) }

// destinations queries the ports for all table LIDs with an output port at the same time,
// and returns a function that returns them. The C tool queries them in sequence.
func (r *reader) destinations(first, last int, lookup func(ib.LID) (uint8, bool)) func(ib.LID) *forwarding.Destination {
	found := map[ib.LID]*destination{}
	for lid := max(first, 1); lid <= last; lid++ {
		if port, ok := lookup(ib.LID(lid)); !ok || int(port) > r.sw.Ports {
			continue
		}
		d := new(destination)
		found[ib.LID(lid)] = d
		for i, a := range []mad.Attribute{&d.desc, &d.port, &d.node} {
			r.client.SubmitGet(umad.Target{LID: ib.LID(lid)}, a, func(err error) { d.errs[i] = err })
		}
	}
	if err := r.client.Run(r.ctx); err != nil {
		clear(found) // destinations are unknown
	}
	return func(lid ib.LID) *forwarding.Destination {
		d := found[lid]
		if d == nil {
			return nil
		}
		if err := d.err(); err != nil {
			r.WarnRPC(r.Env.ErrOut, getopt.MadRPC, umad.Target{LID: lid}.String(), err)
			return nil
		}
		return &forwarding.Destination{
			Type: d.node.NodeType, GUID: d.node.PortGUID, Name: r.names.NameOf(d.node.NodeGUID, d.desc), LID: d.port.LID, LMC: d.port.LMC,
		}
	}
}
