package route

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/ib"
)

// A Fault is a place at which paths end before their destination.
type Fault struct {
	Cause  Cause
	Switch *Node // nil: the source has no link to a switch
	Port   uint8 // output port; NoRoute: there is no entry
	LIDs   int   // destinations
	Paths  uint64

	// An example: a source port, nil if unknown, and the lowest destination LID.
	From *Port
	LID  ib.LID
	To   *Port
}

// A Loop is a forwarding table loop: packets circle until their lifetime ends.
type Loop struct {
	Ports []*Port // output ports, in loop order
	LIDs  int     // destinations
	Paths uint64  // that lead into the loop

	From *Port  // a source; nil: unknown
	LID  ib.LID // the lowest destination
	To   *Port
}

// A scanPart is a worker's sums over its destinations.
type scanPart struct {
	graph *graph
	deps  *dependencies
	tree  *tree
	extra int32

	load []uint64 // paths by output port
	lids []uint32 // destinations by output port
	hops []uint64
	lost [causes]uint64

	paths, reached uint64
	faults         map[faultKey]*Fault
	loops          map[string]*Loop
	bare           []int32 // end ports without a link to a switch

	adaptive *adaptivePart // nil: no groups
}

type faultKey struct {
	cause Cause
	sw    int32
	port  uint8
}

// maxLoops limits how many forwarding loops are distinguished.
const maxLoops = 1000

func newScanPart(g *graph, deps *dependencies, withSwitches bool) *scanPart {
	p := &scanPart{
		graph: g, deps: deps, tree: newTree(g),
		load: make([]uint64, g.channels), lids: make([]uint32, g.channels), hops: make([]uint64, len(g.switches)+2),
		faults: map[faultKey]*Fault{}, loops: map[string]*Loop{},
	}
	if withSwitches {
		p.extra = 1
	}
	p.adaptive = newAdaptivePart(g, deps)
	for i := range g.ends {
		if g.ends[i].sw < 0 {
			p.bare = append(p.bare, int32(i))
		}
	}
	return p
}

// destination adds the paths to a LID.
func (p *scanPart) destination(lid ib.LID, out []uint8) {
	g, t := p.graph, p.tree
	t.build(lid, out, p.extra)
	last := 0 // links from the last switch
	if t.dest >= 0 {
		last = 1
	}
	for _, s := range t.order {
		own := uint64(t.own[s])
		p.paths += own
		if depth := t.depth[s]; depth >= 0 && own > 0 {
			p.reached += own
			p.arrive(s, int(depth)+last, own)
		}
		if t.load[s] == 0 {
			continue
		}
		switch n := t.next[s]; {
		case n >= 0:
			c := g.base[s] + int32(out[s])
			p.load[c] += uint64(t.load[s])
			p.lids[c]++
			if t.next[n] >= 0 {
				p.deps.add(c, g.base[n], out[n])
			}
		case n == arrived:
			c := g.base[s] + int32(out[s])
			p.load[c] += uint64(t.load[s])
			p.lids[c]++
		default:
			p.fault(Cause(-1-n), s, lid)
		}
	}
	if len(t.order) < len(g.switches) {
		p.addLoops(lid)
	}
	if p.adaptive != nil {
		p.adaptive.destination(lid, t)
	}
	for _, e := range p.bare {
		p.bareSource(e, lid)
	}
}

// arrive counts paths from a switch's sources: paths from end ports have one link more
// than the path from the switch itself.
func (p *scanPart) arrive(s int32, links int, own uint64) {
	self := uint64(0)
	if p.extra > 0 && p.tree.dest != -2-s {
		self = 1
	}
	p.hops[links] += self
	p.hops[links+1] += own - self
}

// bareSource counts the path from an end port without a link to a switch.
func (p *scanPart) bareSource(e int32, lid ib.LID) {
	if p.tree.dest == e {
		return
	}
	p.paths++
	if p.tree.dest >= 0 && p.graph.ends[e].peer == p.tree.dest {
		p.reached++
		p.hops[1]++
		return
	}
	p.lost[Unattached]++
	f := p.faultOf(faultKey{Unattached, -1 - e, NoRoute}, lid)
	f.From = p.graph.ends[e].port
	f.Paths++
}

// faultOf returns the fault at a place, with one destination more.
func (p *scanPart) faultOf(k faultKey, lid ib.LID) *Fault {
	f := p.faults[k]
	if f == nil {
		f = &Fault{Cause: k.cause, Port: k.port, LID: lid}
		if k.sw >= 0 {
			f.Switch = p.graph.switches[k.sw]
		}
		p.faults[k] = f
	}
	f.LIDs++
	f.LID = min(f.LID, lid)
	return f
}

// fault counts the paths that end at a switch.
func (p *scanPart) fault(c Cause, s int32, lid ib.LID) {
	paths := uint64(p.tree.load[s])
	p.lost[c] += paths
	p.faultOf(faultKey{c, s, p.tree.out[s]}, lid).Paths += paths
}

// addLoops counts the paths that lead into loops.
func (p *scanPart) addLoops(lid ib.LID) {
	g, t := p.graph, p.tree
	for s := range g.switches {
		first := int32(s)
		if !t.looping(first) {
			continue
		}
		var key []byte
		var ports []*Port
		paths := uint64(0)
		// A loop begins at its switch with the lowest number.
		for n := first; t.looping(n); n = t.next[n] {
			t.degree[n] = 0
			paths += uint64(t.load[n])
			p.paths += uint64(t.own[n])
			c := g.base[n] + int32(t.out[n])
			key = append(key, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
			ports = append(ports, &g.switches[n].Ports[t.out[n]])
		}
		if paths == 0 {
			continue // no packets enter it
		}
		p.lost[InLoop] += paths
		for n, i := first, 0; i < len(ports); n, i = t.next[n], i+1 {
			p.deps.add(g.base[n]+int32(t.out[n]), g.base[t.next[n]], t.out[t.next[n]])
		}
		l := p.loops[string(key)]
		if l == nil {
			if len(p.loops) == maxLoops {
				continue
			}
			l = &Loop{Ports: ports, LID: lid}
			p.loops[string(key)] = l
		}
		l.LIDs++
		l.Paths += paths
		l.LID = min(l.LID, lid)
	}
}

// addTo adds the sums to the sums of the analysis.
func (p *scanPart) addTo(a *Analysis, load []uint64, lids []uint32) {
	a.Paths += p.paths
	a.Reached += p.reached
	for i := range load {
		load[i] += p.load[i]
		lids[i] += p.lids[i]
	}
	for i, n := range p.hops {
		for n > 0 && len(a.Hops) <= i {
			a.Hops = append(a.Hops, 0)
		}
		if n > 0 {
			a.Hops[i] += n
		}
	}
	for c, n := range p.lost {
		a.Lost[c] += n
	}
	a.mergeFaults(p.faults)
	a.mergeLoops(p.loops)
	if p.adaptive != nil {
		p.adaptive.addTo(a)
	}
}

func (a *Analysis) mergeFaults(faults map[faultKey]*Fault) {
	for _, f := range faults {
		i := slices.IndexFunc(a.Faults, func(o Fault) bool {
			return o.Cause == f.Cause && o.Switch == f.Switch && o.Port == f.Port && o.From == f.From
		})
		if i < 0 {
			a.Faults = append(a.Faults, *f)
			continue
		}
		o := &a.Faults[i]
		o.LIDs += f.LIDs
		o.Paths += f.Paths
		o.LID = min(o.LID, f.LID)
	}
}

func (a *Analysis) mergeLoops(loops map[string]*Loop) {
	for _, l := range loops {
		i := slices.IndexFunc(a.Loops, func(o Loop) bool { return slices.Equal(o.Ports, l.Ports) })
		if i < 0 {
			a.Loops = append(a.Loops, *l)
			continue
		}
		o := &a.Loops[i]
		o.LIDs += l.LIDs
		o.Paths += l.Paths
		o.LID = min(o.LID, l.LID)
	}
}

// finishFaults sorts the faults and loops, the worst first, and completes their examples.
func (a *Analysis) finishFaults(g *graph) {
	for i := range a.Faults {
		f := &a.Faults[i]
		f.To = g.portOfLID(f.LID)
		if f.Switch != nil {
			f.From = g.source(f.LID, f.Switch)
		}
	}
	for i := range a.Loops {
		l := &a.Loops[i]
		l.To = g.portOfLID(l.LID)
		l.From = g.source(l.LID, l.Ports[0].Node)
	}
	a.sortFaults()
}

// sortFaults sorts the faults and loops with the most paths to the front.
func (a *Analysis) sortFaults() {
	slices.SortFunc(a.Faults, func(x, y Fault) int {
		return cmp.Or(cmp.Compare(y.Paths, x.Paths), cmp.Compare(x.LID, y.LID), cmp.Compare(x.Cause, y.Cause), cmp.Compare(guidOf(x.Switch), guidOf(y.Switch)), cmp.Compare(x.Port, y.Port))
	})
	slices.SortFunc(a.Loops, func(x, y Loop) int {
		return cmp.Or(cmp.Compare(y.Paths, x.Paths), cmp.Compare(x.LID, y.LID), cmp.Compare(x.Ports[0].Node.GUID, y.Ports[0].Node.GUID))
	})
}

func guidOf(n *Node) ib.GUID {
	if n == nil {
		return 0
	}
	return n.GUID
}

func (g *graph) portOfLID(lid ib.LID) *Port {
	if owner := g.owner[lid]; owner != -1 {
		return g.portOf(owner)
	}
	return nil
}

// source returns the first end port with a path to a LID that leads through a switch;
// nil if no path does.
func (g *graph) source(lid ib.LID, through *Node) *Port {
	for i := range g.ends {
		e := &g.ends[i]
		if e.sw < 0 || g.owner[lid] == int32(i) {
			continue
		}
		s := e.sw
		for range g.switches {
			n := g.switches[s]
			if n == through {
				return e.port
			}
			port := n.Tables.Lookup(lid)
			if int(port) >= len(n.Ports) || port == 0 {
				break
			}
			if s = g.to[g.base[s]+int32(port)]; s < 0 {
				break
			}
		}
	}
	return nil
}
