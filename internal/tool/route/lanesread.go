package route

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// readLanes reads the tables from service levels to virtual lanes for all switches with a
// link to another switch, and all paths' service levels. Missing service levels of single
// paths are failures of the routing.
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

// submitLanes queries a switch's tables from each port with a link to each other port
// with a link to a switch.
func (s *session) submitLanes(g *graph, sw int32, n *Node) {
	for out := 1; out < len(n.Ports); out++ {
		if g.to[g.base[sw]+int32(out)] < 0 {
			continue
		}
		for in := range n.Ports {
			if in == out || in > 0 && n.Ports[in].Peer == nil {
				continue
			}
			modifier := uint32(in)<<8 | uint32(out)
			var table mad.SLtoVLMapping
			s.client.SubmitGet(umad.Target{Route: n.Route}, &table, func(err error) {
				if err != nil {
					s.routing.Failures = append(s.routing.Failures, Failure{Node: n, Attr: mad.AttrSLtoVLMapping.String(), Modifier: modifier, Err: err})
					return
				}
				n.SetLanes(uint8(in), uint8(out), table.VL)
			}, umad.Modifier(modifier))
		}
	}
}

// readPathSLs requests each path's path record from subnet administration. It returns a
// request's error if no request for the paths from a port succeeded.
func (s *session) readPathSLs(ctx context.Context, g *graph) error {
	levels := &PathSLs{}
	to, err := s.administration()
	if err != nil {
		return err
	}
	for i := range g.ends {
		from := &g.ends[i]
		var answered bool
		var failed error
		for _, lid := range g.lids {
			if from.sw < 0 || g.owner[lid] == int32(i) {
				continue
			}
			s.submitPathRecord(to, from.port.LID, lid, func(path *mad.PathRecord, err error) {
				answered = answered || err == nil || errors.Is(err, mad.ErrNoRecords)
				if err == nil {
					levels.Set(from.port, lid, path.SL)
					return
				}
				failed = cmp.Or(failed, err)
				s.routing.Failures = append(s.routing.Failures, Failure{
					Node: from.port.Node, Attr: mad.ClassSA.AttrName(mad.AttrPathRecord), Err: fmt.Errorf("path to LID %d: %w", lid, err),
				})
			})
		}
		if err := s.client.Run(ctx); err != nil {
			return err
		}
		if failed != nil && !answered {
			return failed
		}
	}
	s.routing.PathSLs = levels
	return nil
}
