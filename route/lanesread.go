package route

import (
	"context"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// readLanes reads the tables from service levels to virtual lanes of all switches with
// a link to another one, and the service levels of all paths. The error is that of the
// first path without a service level.
func (s *session) readLanes(ctx context.Context) error {
	g := newGraph(s.routing, false)
	for i, n := range g.switches {
		s.submitLanes(g, int32(i), n)
	}
	if err := s.client.Run(ctx); err != nil {
		return err
	}
	return s.readPathSLs(ctx, g)
}

// submitLanes queries the tables of a switch from each port with a link to each other
// port with a link to a switch.
func (s *session) submitLanes(g *graph, sw int32, n *Node) {
	for out := 1; out < len(n.Ports); out++ {
		if g.to[g.base[sw]+int32(out)] < 0 {
			continue
		}
		for in := range n.Ports {
			if in == out || in > 0 && n.Ports[in].Peer == nil {
				continue
			}
			s.client.Submit(&umad.Request{
				To: umad.Target{Route: n.Route}, Attr: mad.AttrSLtoVLMapping, Modifier: uint32(in)<<8 | uint32(out),
				Done: func(r *umad.Request, reply *umad.Reply) {
					var table mad.SLtoVLMapping
					err := reply.Err
					if err == nil {
						err = mad.Decode(&table, reply.Data())
					}
					if err != nil {
						s.routing.Failures = append(s.routing.Failures, Failure{Node: n, Attr: r.Attr.String(), Modifier: r.Modifier, Err: err})
						return
					}
					n.setSLtoVL(uint8(in), uint8(out), table.VL)
				},
			})
		}
	}
}

// readPathSLs requests the path record of each path from subnet administration.
func (s *session) readPathSLs(ctx context.Context, g *graph) error {
	levels := &PathSLs{}
	var failed error
	attr := s.local
	to := umad.Target{LID: s.opts.SMLID, SL: attr.SMSL}
	if to.LID == 0 {
		to.LID = attr.SMLID
	}
	if to.LID == 0 {
		return umad.ErrNoSM
	}
	for i := range g.ends {
		from := &g.ends[i]
		for _, lid := range g.lids {
			if from.sw < 0 || g.owner[lid] == int32(i) {
				continue
			}
			payload, err := pathPayload(from.port.LID, lid)
			if err != nil {
				return err
			}
			s.client.Submit(&umad.Request{
				To: to, Class: mad.ClassSA, Attr: mad.AttrPathRecord, Payload: payload,
				Done: func(_ *umad.Request, reply *umad.Reply) {
					var path mad.PathRecord
					err := reply.Err
					if err == nil {
						err = mad.Decode(&path, reply.Data())
					}
					if err == nil {
						levels.Set(from.port, lid, path.SL)
					} else if failed == nil {
						failed = err
					}
				},
			})
		}
		if err := s.client.Run(ctx); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
	}
	s.routing.PathSLs = levels
	return nil
}

// pathPayload returns the request for the path between two LIDs.
func pathPayload(from, to ib.LID) ([]byte, error) {
	path := &mad.PathRecord{SLID: from, DLID: to, NumbPath: 1}
	return mad.SAPayload(mad.SAHeader{ComponentMask: mad.Components(path, &path.SLID, &path.DLID, &path.NumbPath)}, path)
}
