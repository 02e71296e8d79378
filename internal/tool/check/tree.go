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

// A railPort is a port on a host with several adapters.
type railPort struct {
	port *fabric.Port
	rail string // adapter name, and the port number if it is not 1
}

// checkRails checks that each leaf switch connects the same adapter on all hosts. It
// applies to fabrics in which most leaf switches do, and to hosts with descriptions in the
// form "HOST ADAPTER" with several adapters.
func checkRails(_ context.Context, r *fabricRun) error {
	leaves, order, rails := r.railPorts()
	if rails < 2 {
		r.skipped("no hosts with several adapters")
		return nil
	}
	optimized := 0
	main := map[*fabric.Node]string{}
	for _, leaf := range order {
		if rail, ok := majority(leaves[leaf]); ok {
			main[leaf] = rail
			optimized++
		}
	}
	if 2*optimized <= len(order) {
		r.skipped("not rail-optimized: leaf switches connect several adapters of a host")
		return nil
	}
	for _, leaf := range order {
		for _, p := range leaves[leaf] {
			if rail := main[leaf]; rail != "" && p.rail != rail {
				r.add(r.portFinding(report.WrongRail, p.port, "%s is connected to %s, whose other ports have %s", p.rail, r.portName(p.port.Peer), rail))
			}
		}
	}
	r.comment("%s on %s", count(rails, "rail"), count(len(order), "leaf switch"))
	return nil
}

// railPorts returns the ports on hosts with several adapters by their leaf switch, and the
// rail count.
func (r *fabricRun) railPorts() (leaves map[*fabric.Node][]railPort, order []*fabric.Node, rails int) {
	hosts := map[string]int{}
	for _, n := range r.fabric.Nodes {
		if host, _, ok := adapterName(n); ok {
			hosts[host]++
		}
	}
	leaves = map[*fabric.Node][]railPort{}
	known := map[string]bool{}
	for p := range r.endPorts() {
		host, rail, ok := adapterName(p.Node)
		if !ok || hosts[host] < 2 || p.Peer == nil || !p.Peer.Node.IsSwitch() {
			continue
		}
		if p.Number > 1 {
			rail = fmt.Sprintf("%s/%d", rail, p.Number)
		}
		leaf := p.Peer.Node
		if leaves[leaf] == nil {
			order = append(order, leaf)
		}
		leaves[leaf] = append(leaves[leaf], railPort{p, rail})
		known[rail] = true
	}
	return leaves, order, len(known)
}

// adapterName splits an adapter's description: "node01 mlx5_2" or "node01 HCA-2".
func adapterName(n *fabric.Node) (host, adapter string, ok bool) {
	if !n.IsCA() {
		return "", "", false
	}
	host, adapter, ok = strings.Cut(n.Desc.Clean(), " ")
	return host, adapter, ok && host != "" && adapter != "" && !strings.Contains(adapter, " ")
}

// majority returns the rail for more than half of a leaf switch's ports.
func majority(ports []railPort) (rail string, ok bool) {
	counts := map[string]int{}
	for _, p := range ports {
		if counts[p.rail]++; 2*counts[p.rail] > len(ports) {
			return p.rail, true
		}
	}
	return "", false
}
