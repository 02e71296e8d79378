package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/report"
)

// fatTree is the structure in which uplinks are compared.
const fatTree = "fat tree"

// checkTree compares the switches' structure with the intended structure, and the uplinks
// among switches on each fat tree level.
func checkTree(_ context.Context, r *fabricRun) error {
	shape, levels := topology.RecognizeShape(r.fabric), topology.Levels(r.fabric)
	want := r.limits.Topology
	if want != "" && shape.Name != want {
		r.add(finding(report.WrongStructure, "", "got %s, want %s", textOr(shape.Name, "no known structure"), want))
	}
	r.comment("%s, %s", textOr(shape.Name, "structure not recognized"), count(levels.Count, "level"))
	if want == fatTree && shape.Name != fatTree {
		r.levelLinks(levels)
	}
	if want == fatTree || shape.Name == fatTree {
		for level := range levels.Count - 1 {
			r.compareUplinks(levels, level)
		}
	}
	r.skippedIf(levels.Count == 0, "no switches")
	return nil
}

// levelLinks reports links that do not lead to the next level.
func (r *fabricRun) levelLinks(levels topology.Layout) {
	for _, c := range topology.Cables(r.fabric) {
		if c.B == nil {
			continue
		}
		a, isSwitch := levels.Level[c.A.Node]
		b, both := levels.Level[c.B.Node]
		if isSwitch && both && a-b != 1 && b-a != 1 {
			r.add(r.portFinding(report.LevelLink, c.A, "the cable to %s leads from level %d to level %d", r.portName(c.B), a, b))
		}
	}
}

// compareUplinks compares the links from a level's switches to the next level: their
// number, and their distribution over the switches above.
func (r *fabricRun) compareUplinks(levels topology.Layout, level int) {
	type uplinks struct {
		node  *fabric.Node
		total int
		to    map[*fabric.Node]int
	}
	var all []uplinks
	totals, shares := map[int]int{}, map[int]int{}
	for _, n := range r.fabric.Nodes {
		if l, isSwitch := levels.Level[n]; !isSwitch || l != level {
			continue
		}
		u := uplinks{n, 0, map[*fabric.Node]int{}}
		for _, p := range n.Ports {
			if p == nil || p.Peer == nil {
				continue
			}
			if l, ok := levels.Level[p.Peer.Node]; ok && l == level+1 {
				u.total++
				u.to[p.Peer.Node]++
			}
		}
		all = append(all, u)
		totals[u.total]++
		for _, n := range u.to {
			shares[n]++
		}
	}
	most, share := mostFrequent(totals), mostFrequent(shares)
	for _, u := range all {
		if u.total < most {
			r.add(r.nodeFinding(report.FewUplinks, u.node, "%s to level %d, most switches of level %d have %d", count(u.total, "link"), level+1, level, most))
			continue
		}
		var uneven []string
		for _, n := range slices.SortedFunc(maps.Keys(u.to), func(a, b *fabric.Node) int { return cmp.Compare(a.GUID, b.GUID) }) {
			if u.to[n] != share {
				uneven = append(uneven, fmt.Sprintf("%s to %s", count(u.to[n], "link"), r.names.Name(n)))
			}
		}
		if uneven != nil {
			r.add(r.nodeFinding(report.UnevenUplinks, u.node, "%s; most have %d", strings.Join(uneven, ", "), share))
		}
	}
}

// mostFrequent returns the value with the largest count, on a tie the largest value.
func mostFrequent(counts map[int]int) (value int) {
	best := 0
	for v, n := range counts {
		if n > best || n == best && v > value {
			value, best = v, n
		}
	}
	return value
}
