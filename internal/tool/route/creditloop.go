package route

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/enum"
)

// A CreditLoop is a cycle of buffers that can all wait for each other: under load, the
// packets in them never move again.
type CreditLoop struct {
	// Hops are the output ports in a shortest cycle, each with its virtual lane.
	Hops []CreditHop

	// Channels counts the output ports and lanes that are in a cycle with these.
	Channels int
}

// A CreditHop is an output port, which leads to the next switch in a loop.
type CreditHop struct {
	Port *Port
	VL   uint8

	// An example path that leads from this port to the next port in the loop; nil:
	// unknown.
	From, To *Port
	LID      ib.LID
}

// LaneKnowledge is the knowledge about service levels and virtual lanes in a search for
// credit loops.
type LaneKnowledge uint8

// The knowledge. Without a loop on a single lane there is no loop on several lanes.
const (
	OneLane      LaneKnowledge = iota // all paths use the same lane
	LanesUnknown                      // there are loops if all paths use the same lane
	LanesKnown                        // path service levels are known
)

var laneNames = [...]string{"one lane", "unknown", "known"}

// String returns the knowledge in words.
func (k LaneKnowledge) String() string { return laneNames[k] }

// MarshalText returns the [LaneKnowledge.String] text. The error is always nil.
func (k LaneKnowledge) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the [LaneKnowledge.String] text.
func (k *LaneKnowledge) UnmarshalText(text []byte) error {
	return enum.Parse(k, OneLane, LanesKnown, "knowledge about lanes", text)
}

// findCreditLoops searches for dependency cycles: first as if all packets used the same
// virtual lane, and if there are cycles, with each path's lanes. Lanes only split the
// first graph's vertices, so without a cycle there, the second has no cycle.
func (a *Analysis) findCreditLoops(ctx context.Context, g *graph, deps *dependencies) error {
	found := components(int32(g.channels), deps.each)
	r := a.Routing
	if len(found) == 0 {
		return nil
	}
	if r.PathSLs == nil || a.Adaptive.hasGroups() { // lanes are known for static paths only
		a.Lanes = LanesUnknown
		for _, component := range found {
			l := CreditLoop{Channels: len(component)}
			for _, c := range shortCycle(component, deps.each) {
				l.Hops = append(l.Hops, CreditHop{Port: g.port(c)})
			}
			a.CreditLoops = append(a.CreditLoops, l)
		}
		a.finishCreditLoops(g)
		return nil
	}
	a.Lanes = LanesKnown
	lanes := newLaneDependencies(g, found)
	err := g.forEach(ctx, runtime.GOMAXPROCS(0), func(int) func(ib.LID, []uint8) {
		p := newLanePart(g, r.PathSLs, lanes)
		return p.destination
	})
	if err != nil {
		return err
	}
	for _, component := range components(lanes.vertices(), lanes.each) {
		l := CreditLoop{Channels: len(component)}
		for _, v := range shortCycle(component, lanes.each) {
			l.Hops = append(l.Hops, CreditHop{Port: g.port(lanes.channels[v/vlCount]), VL: uint8(v % vlCount)})
		}
		a.CreditLoops = append(a.CreditLoops, l)
	}
	a.finishCreditLoops(g)
	return nil
}

// maxExamples limits how many loops' paths are searched.
const maxExamples = 20

// finishCreditLoops sorts the loops, the shortest first, and adds paths as examples.
func (a *Analysis) finishCreditLoops(g *graph) {
	for i := range a.CreditLoops {
		hops := a.CreditLoops[i].Hops
		// Each loop begins at the port that is the lowest by GUID and number.
		first := 0
		for k := range hops {
			if comparePorts(hops[k].Port, hops[first].Port) < 0 {
				first = k
			}
		}
		a.CreditLoops[i].Hops = slices.Concat(hops[first:], hops[:first])
	}
	slices.SortFunc(a.CreditLoops, func(x, y CreditLoop) int {
		return cmp.Or(cmp.Compare(len(x.Hops), len(y.Hops)), comparePorts(x.Hops[0].Port, y.Hops[0].Port), cmp.Compare(x.Hops[0].VL, y.Hops[0].VL))
	})
	for i := range a.CreditLoops[:min(len(a.CreditLoops), maxExamples)] {
		hops := a.CreditLoops[i].Hops
		for k := range hops {
			g.example(&hops[k], hops[(k+1)%len(hops)].Port, a.Routing.PathSLs)
		}
	}
}

func comparePorts(a, b *Port) int {
	return cmp.Or(cmp.Compare(a.Node.GUID, b.Node.GUID), cmp.Compare(a.Number, b.Number))
}

// example searches a path that leads through a hop and the port after it.
func (g *graph) example(h *CreditHop, next *Port, levels *PathSLs) {
	for _, lid := range g.lids {
		if h.Port.Node.Tables.Lookup(lid) != h.Port.Number || next.Node.Tables.Lookup(lid) != next.Number {
			continue
		}
		if from := g.source(lid, h.Port.Node); from != nil {
			h.From, h.LID, h.To = from, lid, g.portOfLID(lid)
			if levels == nil {
				return
			}
			if sl, _ := levels.Of(from, lid); sl == h.VL {
				return
			}
		}
	}
}
