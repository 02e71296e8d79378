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
// among switches on each fat tree level. Parts of the fabric without a connection have
// structures of their own.
func checkTree(_ context.Context, r *fabricRun) error {
	parts := topology.Parts(r.fabric)
	var comments []string
	recognized := false
	for _, part := range parts {
		shape, levels := topology.RecognizeShape(part), topology.Levels(part)
		if levels.Count == 0 {
			continue
		}
		comments = append(comments, fmt.Sprintf("%s, %s", cmp.Or(shape.Name, "structure not recognized"), count(levels.Count, "level")))
		recognized = recognized || shape.Name != ""
		r.comparePart(part, shape, levels, len(parts) > 1)
	}
	comment := strings.Join(comments, "; ")
	if len(comments) > 1 {
		comment = count(len(comments), "part") + " without a connection: " + comment
	}
	r.comment("%s", comment)
	r.skippedIf(comments == nil, "no switches")
	r.skippedIf(!recognized && comments != nil && r.limits.Topology == "", comment)
	return nil
}

// comparePart compares a part of the fabric, which has a name if it is not the only part.
func (r *fabricRun) comparePart(part *fabric.Fabric, shape topology.Shape, levels topology.Layout, named bool) {
	want := r.limits.Topology
	if want != "" && shape.Name != want {
		subject := ""
		if named {
			i := slices.IndexFunc(part.Nodes, func(n *fabric.Node) bool { return n.IsSwitch() })
			subject = "the part with " + r.names.Label(part.Nodes[i])
		}
		r.add(finding(report.WrongStructure, subject, "got %s, want %s", cmp.Or(shape.Name, "no known structure"), want))
	}
	if want == fatTree && shape.Name != fatTree {
		r.levelLinks(part, levels)
	}
	if want == fatTree || shape.Name == fatTree {
		for level := range levels.Count - 1 {
			r.compareUplinks(part, levels, level)
		}
	}
}

// levelLinks reports links that do not lead to the next level.
func (r *fabricRun) levelLinks(part *fabric.Fabric, levels topology.Layout) {
	for _, c := range topology.Cables(part) {
		if c.B == nil {
			continue
		}
		a, isSwitch := levels.Level[c.A.Node]
		b, both := levels.Level[c.B.Node]
		if isSwitch && both && a-b != 1 && b-a != 1 {
			r.add(r.portFinding(report.LevelLink, c.A, "the cable to %s leads from level %d to level %d", r.names.PortName(c.B), a, b))
		}
	}
}

// compareUplinks compares the links from a level's switches to the next level: their
// number, and their distribution over the switches above.
func (r *fabricRun) compareUplinks(part *fabric.Fabric, levels topology.Layout, level int) {
	type uplinks struct {
		node  *fabric.Node
		total int
		to    map[*fabric.Node]int
	}
	var all []uplinks
	totals, shares := map[int]int{}, map[int]int{}
	for _, n := range part.Nodes {
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
