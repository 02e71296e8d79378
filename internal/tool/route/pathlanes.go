package route

import (
	"context"
	"errors"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A laneKey identifies a table from service levels to virtual lanes.
type laneKey struct {
	output *Port
	input  uint8 // of a switch
}

// readHopLanes reads the virtual lane on each link of paths with a service level. The lane
// on a link is unknown if its table could not be read; failed is called for each request
// without a reply.
func (s *session) readHopLanes(ctx context.Context, paths []*Path, failed func(Failure)) error {
	tables := map[laneKey]*mad.SLtoVLMapping{}
	for _, p := range paths {
		for i := range p.Hops {
			if key := p.laneKey(i); p.SL != nil && tables[key] == nil {
				tables[key] = new(mad.SLtoVLMapping)
				s.submitLaneTable(key, tables, failed)
			}
		}
	}
	if err := s.client.Run(ctx); err != nil {
		return err
	}
	for _, p := range paths {
		for i := range p.Hops {
			if table := tables[p.laneKey(i)]; p.SL != nil && table != nil {
				p.Hops[i].VL = &table.VL[*p.SL&0xf]
			}
		}
	}
	return nil
}

// laneKey returns the table that selects a hop's lane.
func (p *Path) laneKey(i int) laneKey {
	key := laneKey{output: p.Hops[i].Output}
	if i > 0 {
		key.input = p.Hops[i-1].Output.Peer.Number
	}
	return key
}

// submitLaneTable queries a table, and removes its entry if that fails. failed is called for a
// request without a reply. A port with a single lane need not have a table (InfiniBand
// Architecture, Volume 1, 14.2.5.8).
func (s *session) submitLaneTable(key laneKey, tables map[laneKey]*mad.SLtoVLMapping, failed func(Failure)) {
	out := key.output
	s.client.SubmitGet(umad.Target{Route: s.routeTo(out)}, tables[key], func(err error) {
		if err == nil {
			return
		}
		if tables[key] = nil; out.VLs == ib.VLs1 {
			tables[key] = new(mad.SLtoVLMapping) // all on VL 0
			return
		}
		if _, refused := errors.AsType[mad.StatusError](err); !refused {
			failed(Failure{out.Node, mad.AttrSLtoVLMapping.String(), key.modifier(), err})
		}
	}, umad.Modifier(key.modifier()))
}

// modifier returns a table's attribute modifier (14.2.5.8): a switch's input and output
// port, 0 for the adapter port at which the request arrives.
func (k laneKey) modifier() uint32 {
	if !k.output.Node.IsSwitch() {
		return 0
	}
	return uint32(k.input)<<8 | uint32(k.output.Number)
}

// routeTo returns the directed route to a node. It arrives at the port, unless the node is
// a switch or the local node.
func (s *session) routeTo(p *Port) mad.Route {
	n := p.Node
	if n.IsSwitch() || n.Route.Hops() == 0 && p.GUID == s.local.PortGUID || p.Peer == nil {
		return n.Route
	}
	return p.Peer.Node.Route.Append(p.Peer.Number)
}
