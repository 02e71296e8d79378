package route

import "github.com/ibkit/ibkit/ib"

// A lanePart adds path dependencies with their service levels. Each worker has its own.
type lanePart struct {
	graph  *graph
	levels *PathSLs
	lanes  *laneDependencies
	tree   *tree

	// used has the lanes for the packets that leave a switch, by service level and
	// switch.
	used [vlCount][]uint16
	some [vlCount]bool // levels with sources
}

func newLanePart(g *graph, levels *PathSLs, lanes *laneDependencies) *lanePart {
	p := &lanePart{graph: g, levels: levels, lanes: lanes, tree: newTree(g)}
	for sl := range p.used {
		p.used[sl] = make([]uint16, len(g.switches))
	}
	return p
}

// destination adds the dependencies for the paths to a LID.
func (p *lanePart) destination(lid ib.LID, out []uint8) {
	t := p.tree
	t.build(lid, out, 0)
	p.sources(lid)
	for sl, some := range p.some {
		if some {
			p.follow(uint8(sl))
		}
	}
}

// sources enters the lanes for the packets that enter the fabric.
func (p *lanePart) sources(lid ib.LID) {
	g, t := p.graph, p.tree
	for sl, some := range p.some {
		if some {
			clear(p.used[sl])
		}
		p.some[sl] = false
	}
	for i := range g.ends {
		e := &g.ends[i]
		if e.sw < 0 || t.dest == int32(i) || t.next[e.sw] < 0 {
			continue
		}
		sl, _ := p.levels.Of(e.port, lid)
		if vl := g.switches[e.sw].Lane(e.at, t.out[e.sw], sl); vl != vlDropped {
			p.used[sl][e.sw] |= 1 << vl
			p.some[sl] = true
		}
	}
}

// follow adds the dependencies for the packets with a service level, in path order.
// Packets in a forwarding loop follow it as long as they reach new lanes.
func (p *lanePart) follow(sl uint8) {
	t := p.tree
	for _, s := range t.order {
		p.step(s, sl)
	}
	for s := range p.graph.switches {
		for n := int32(s); t.looping(n) && p.step(n, sl); n = t.next[n] {
		}
	}
}

// step adds the dependencies of the lanes that leave a switch on the lanes that leave
// the next switch. It reports whether another lane leaves the next switch.
func (p *lanePart) step(s int32, sl uint8) bool {
	g, t := p.graph, p.tree
	n, used := t.next[s], p.used[sl][s]
	if n < 0 || used == 0 || t.next[n] < 0 {
		return false
	}
	c := g.base[s] + int32(t.out[s])
	vl := g.switches[n].Lane(g.entry[c], t.out[n], sl)
	if vl == vlDropped {
		return false
	}
	next := g.base[n] + int32(t.out[n])
	for v := range uint8(vlCount) {
		if used>>v&1 != 0 {
			p.lanes.add(c, next, v, 1<<vl)
		}
	}
	added := p.used[sl][n]>>vl&1 == 0
	p.used[sl][n] |= 1 << vl
	return added
}
