package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// An upDownPlan defines the upper end for each link between switches: the end that is
// nearer to a root or, at the same distance, comes first in the fabric.
type upDownPlan struct {
	order      []int32 // the switches from top to bottom
	position   []int   // each switch's position in order
	ups, downs [][]hop // by switch
	chosen     bool    // the user has chosen the roots
}

func (g *graph) planUpDown(f *Fabric, lids []*Port) (*upDownPlan, error) {
	roots, err := chosenRoots(f)
	if err != nil {
		return nil, err
	}
	p := &upDownPlan{chosen: len(roots) > 0}
	rank := g.walk(roots)
	hosts := hostsAt(lids, len(g.switches))
	for i := range rank {
		if rank[i] < 0 { // not connected to a root yet
			for n, d := range g.walk([]int32{g.central(i, hosts)}) {
				if d >= 0 {
					rank[n] = d
				}
			}
		}
		p.order = append(p.order, int32(i))
	}
	slices.SortStableFunc(p.order, func(a, b int32) int { return cmp.Compare(rank[a], rank[b]) })
	p.position = make([]int, len(p.order))
	for i, n := range p.order {
		p.position[n] = i
	}
	p.ups, p.downs = make([][]hop, len(p.order)), make([][]hop, len(p.order))
	for n, links := range g.links {
		for _, h := range links {
			if p.position[h.to] < p.position[n] {
				p.ups[n] = append(p.ups[n], h)
			} else {
				p.downs[n] = append(p.downs[n], h)
			}
		}
	}
	return p, nil
}

// chosenRoots returns the numbers of the manager's root switches.
func chosenRoots(f *Fabric) ([]int32, error) {
	var roots []int32
	for _, id := range f.Manager.Roots {
		n := f.byID[id]
		if n == nil || !n.IsSwitch() {
			return nil, fmt.Errorf("configure fabric: root %q is not a switch of the fabric", id)
		}
		roots = append(roots, int32(n.index))
	}
	return roots, nil
}

// hostsAt reports which switches have adapters.
func hostsAt(lids []*Port, switches int) []bool {
	hosts := make([]bool, switches)
	for _, p := range lids {
		if p != nil && !p.Node.IsSwitch() {
			if n, _ := nextTo(p); n != nil {
				hosts[n.index] = true
			}
		}
	}
	return hosts
}

// walk returns each switch's distance from the nearest start switch, -1 if there is no path.
func (g *graph) walk(from []int32) []int32 {
	distance := slices.Repeat([]int32{-1}, len(g.switches))
	for _, n := range from {
		distance[n] = 0
	}
	queue := slices.Clone(from)
	for i := 0; i < len(queue); i++ {
		for _, h := range g.links[queue[i]] {
			if distance[h.to] < 0 {
				distance[h.to] = distance[queue[i]] + 1
				queue = append(queue, h.to)
			}
		}
	}
	return distance
}

// central returns the root for the part of the fabric that contains a switch: the first
// switch with adapters and the smallest distance to the farthest switch.
func (g *graph) central(member int, hosts []bool) int32 {
	root, least := int32(member), int32(math.MaxInt32)
	for n, d := range g.walk([]int32{int32(member)}) {
		if d < 0 || !hosts[n] {
			continue
		}
		if far := slices.Max(g.walk([]int32{int32(n)})); far < least {
			root, least = int32(n), far
		}
	}
	return root
}

// check checks that with the chosen roots each adapter can be reached from all switches
// with adapters in the same part of the fabric.
func (p *upDownPlan) check(g *graph, tables [][]uint8, lids []*Port) error {
	if p == nil || !p.chosen {
		return nil
	}
	hosts := hostsAt(lids, len(tables))
	parts := g.parts()
	for lid, to := range lids {
		if to == nil || to.Node.IsSwitch() {
			continue
		}
		last, _ := nextTo(to)
		if last == nil {
			continue
		}
		for n, table := range tables {
			if hosts[n] && table[lid] == noRoute && parts[n] == parts[last.index] {
				return fmt.Errorf("configure fabric: no up/down path from switch %q to %s with these roots", g.switches[n].ID, to)
			}
		}
	}
	return nil
}

// parts numbers the unconnected parts of the fabric, by switch.
func (g *graph) parts() []int {
	part := make([]int, len(g.switches))
	for i := range part {
		if part[i] != 0 {
			continue
		}
		for n, d := range g.walk([]int32{int32(i)}) {
			if d >= 0 {
				part[n] = i + 1
			}
		}
	}
	return part
}
