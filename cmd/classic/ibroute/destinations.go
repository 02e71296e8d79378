package ibroute

import (
	"github.com/ibkit/ibkit/cmd/internal/shared/forwarding"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A destination is the attributes of the port with a LID.
type destination struct {
	node  mad.NodeInfo
	port  mad.PortInfo
	desc  mad.NodeDescription
	known int // attributes with a response
}

// destinations queries the ports of all LIDs of a table with an output port at the same
// time, and returns a function that returns them. The C tool queries one after another.
func (r *reader) destinations(first, last int, lookup func(ib.LID) (uint8, bool)) func(ib.LID) (forwarding.Destination, bool) {
	found := map[ib.LID]*destination{}
	for lid := max(first, 1); lid <= last; lid++ {
		if port, ok := lookup(ib.LID(lid)); !ok || int(port) > r.sw.Ports {
			continue
		}
		d := new(destination)
		found[ib.LID(lid)] = d
		for _, a := range []mad.Attribute{&d.desc, &d.port, &d.node} {
			r.client.Submit(&umad.Request{To: umad.Target{LID: ib.LID(lid)}, Attr: a.ID(), Done: func(_ *umad.Request, reply *umad.Reply) {
				if reply.Err == nil && mad.Decode(a, reply.Data()) == nil {
					d.known++
				}
			}})
		}
	}
	if err := r.client.Run(r.ctx); err != nil {
		clear(found) // destinations are unknown
	}
	return func(lid ib.LID) (forwarding.Destination, bool) {
		d := found[lid]
		if d == nil || d.known < 3 {
			return forwarding.Destination{}, false
		}
		return forwarding.Destination{
			Type: d.node.NodeType, GUID: d.node.PortGUID, Name: r.names.NameOf(d.node.NodeGUID, d.desc), LID: d.port.LID, LMC: d.port.LMC,
		}, true
	}
}
