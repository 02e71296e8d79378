package route

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
)

// AnalyzeOptions are the [Analyze] options.
type AnalyzeOptions struct {
	// WithSwitches includes switch management ports as sources and destinations.
	WithSwitches bool

	// Patterns are the traffic patterns for which congestion is measured.
	Patterns []Pattern
}

// An Analysis is an [Analyze] result.
type Analysis struct {
	Routing *Routing

	Parts        int // without a connection to the others, each a subnet
	Switches     int
	EndPorts     int // adapter and router ports with a LID
	Destinations int // LIDs

	// A path leads from a source port to a destination LID.
	Paths, Reached uint64
	Lost           [causes]uint64 // paths that do not arrive, by cause

	Hops []uint64 // paths that arrive, by link count

	Faults      []Fault        // places at which paths end
	Loops       []Loop         // of forwarding tables
	CreditLoops []CreditLoop   //
	Lanes       LaneKnowledge  // from the search for credit loops
	Inactive    []InactiveLink // that paths cross
	Links       []LinkLoad     // output ports that lead to switches
	Groups      []PortGroup    // link groups that could share destinations
	Balance     []PortGroup    // groups that share them unevenly, the worst first
	Congestion  []Congestion
	Disjoint    *Disjoint // nil: all ports have a single LID
	Trees       []MulticastTree
	Excess      []Excess
	Duplicates  []Duplicate

	layered bool // all links between switches join neighbouring levels

	Adaptive       AdaptiveSummary
	AdaptiveFaults []AdaptiveFault
}

// Analyze checks a routing. It computes the paths to a single destination LID at a
// time, from the entries of all switches for it, so the time grows with destinations
// times switches. Analyze uses all processors. It returns an error if ctx ends.
//
// Parts without a connection, which a file with several subnets has, are analysed one by
// one: there are no paths between them, and their LIDs may be the same.
func Analyze(ctx context.Context, r *Routing, o AnalyzeOptions) (*Analysis, error) {
	var all *Analysis
	for _, part := range r.parts() {
		a, err := analyze(ctx, part, o)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = a
		} else {
			all.merge(a)
		}
		all.Parts++
	}
	all.Routing, all.Adaptive = r, r.adaptive()
	return all, nil
}

// analyze analyses a part.
func analyze(ctx context.Context, r *Routing, o AnalyzeOptions) (*Analysis, error) {
	g := newGraph(r, o.WithSwitches)
	a := &Analysis{Routing: r, Switches: len(g.switches), EndPorts: len(g.ends), Destinations: len(g.lids), Duplicates: g.duplicates, Adaptive: r.adaptive()}
	deps := newDependencies(g)
	load := make([]uint64, g.channels)
	lids := make([]uint32, g.channels)
	parts := make([]*scanPart, runtime.GOMAXPROCS(0))
	err := g.forEach(ctx, len(parts), func(worker int) func(ib.LID, []uint8) {
		p := newScanPart(g, deps, o.WithSwitches)
		parts[worker] = p
		return p.destination
	})
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p != nil {
			p.addTo(a, load, lids)
		}
	}
	a.finishFaults(g)
	a.finishAdaptive(g)
	if err := a.findCreditLoops(ctx, g, deps); err != nil {
		return nil, err
	}
	a.measureLinks(g, load, lids)
	a.findInactive(g, load)
	a.checkSizes(g)
	a.Trees = checkMulticast(r)
	if a.Disjoint, err = checkDisjoint(ctx, g); err != nil {
		return nil, err
	}
	for _, p := range o.Patterns {
		c, err := measure(ctx, g, p, load)
		if err != nil {
			return nil, err
		}
		a.Congestion = append(a.Congestion, c)
	}
	return a, nil
}

// forEach calls functions with each destination LID and its entries in all switches'
// tables. start makes a worker's function.
func (g *graph) forEach(ctx context.Context, workers int, start func(worker int) func(ib.LID, []uint8)) error {
	var blocks [][]ib.LID // destinations in a table block
	for _, lid := range g.lids {
		if n := len(blocks); n == 0 || blocks[n-1][0]/lftBlock != lid/lftBlock {
			blocks = append(blocks, nil)
		}
		blocks[len(blocks)-1] = append(blocks[len(blocks)-1], lid)
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range min(workers, len(blocks)) {
		group.Go(func() {
			visit, c := start(w), newColumns(g)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(blocks) {
					return
				}
				c.load(int(blocks[i][0]) / lftBlock)
				for _, lid := range blocks[i] {
					visit(lid, c.of(lid))
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// Disconnected describes the parts, "" for a single part.
func (a *Analysis) Disconnected() string {
	if a.Parts < 2 {
		return ""
	}
	return fmt.Sprintf("%d parts without a connection", a.Parts)
}

// Arrivals describes the paths that arrive and the lost paths.
func (a *Analysis) Arrivals() string {
	if a.Paths == 0 {
		return "none was checked"
	}
	if a.Reached == a.Paths {
		if n := len(a.Inactive); n > 0 {
			return fmt.Sprintf("all lead to their destination, but over %s without data", plural.Count(n, "link", "links"))
		}
		return "all arrive"
	}
	text := fmt.Sprintf("%d arrive", a.Reached)
	for cause, n := range a.Lost {
		if n > 0 {
			text += fmt.Sprintf(", %d %v", n, Cause(cause))
		}
	}
	return text
}
