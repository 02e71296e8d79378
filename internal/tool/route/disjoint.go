package route

import (
	"context"

	"github.com/ibkit/ibkit/ib"
)

// Disjoint compares the paths to the LIDs on ports with several LIDs, from each switch
// with end ports.
type Disjoint struct {
	Groups   int `json:"pairs"`    // pairs: source switch and destination port
	Separate int `json:"separate"` // no two paths share a link between switches
	Partly   int `json:"partly"`   // some share a link
	Same     int `json:"same"`     // all paths are the same

	// An example pair with identical paths; nil: there is no such pair.
	From *Node `json:"-"`
	To   *Port `json:"-"`
}

// maxCommon limits a port's LIDs that are compared: LMC 7.
const maxCommon = 128

// checkDisjoint compares the paths to ports with several LIDs. Switches with only a
// single link to the destination are not counted as the same.
func checkDisjoint(ctx context.Context, g *graph) (*Disjoint, error) {
	var d *Disjoint
	used := make([]uint8, g.channels) // paths through an output port
	for i := range g.ends {
		e := &g.ends[i]
		if e.port.LMC == 0 || e.sw < 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d == nil {
			d = &Disjoint{}
		}
		for s := range g.switches {
			if g.hosts[s] > 0 && int32(s) != e.sw {
				d.compare(g, int32(s), e.port, used)
			}
		}
	}
	return d, nil
}

// compare compares the paths from a switch to a port's LIDs.
func (d *Disjoint) compare(g *graph, s int32, to *Port, used []uint8) {
	var touched []int32
	count, first := 1<<to.LMC, 0
	for i := range min(count, maxCommon) {
		path := g.walk(s, to.LID+ib.LID(i))
		for _, c := range path {
			used[c]++
			touched = append(touched, c)
		}
		if i == 0 {
			first = len(path)
		}
	}
	shared, all := false, first > 0
	for i, c := range touched {
		shared = shared || used[c] > 1
		if i < first && int(used[c]) < count {
			all = false
		}
	}
	for _, c := range touched {
		used[c] = 0
	}
	d.Groups++
	switch {
	case all:
		d.Same++
		if d.From == nil {
			d.From, d.To = g.switches[s], to
		}
	case shared:
		d.Partly++
	default:
		d.Separate++
	}
}

// walk returns the output ports on the links between switches on a LID's path.
func (g *graph) walk(s int32, lid ib.LID) (path []int32) {
	for range g.switches {
		port := g.switches[s].Tables.Lookup(lid)
		if port == 0 || int32(port) >= g.radix[s] {
			return path
		}
		c := g.base[s] + int32(port)
		if s = g.to[c]; s < 0 {
			return path
		}
		path = append(path, c)
	}
	return path
}
