package topology

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/hostlist"
)

// A Shape is the structure that a fabric's switches have, as far as it is recognized.
type Shape struct {
	// Name is "fat tree", "torus", "dragonfly", "single switch", or "" for another
	// structure.
	Name string

	// Grid has the coordinates of the switches of a torus, in two or three
	// dimensions, along which the names ascend as far as possible.
	Grid map[*fabric.Node][]int

	// Groups has a dragonfly's switch groups in name order.
	Groups [][]*fabric.Node
}

// switchGraph is the switch graph without parallel links and end nodes.
type switchGraph struct {
	nodes []*fabric.Node
	peers map[*fabric.Node][]*fabric.Node // each once, in name order
}

func newSwitchGraph(f *fabric.Fabric) switchGraph {
	g := switchGraph{peers: map[*fabric.Node][]*fabric.Node{}}
	byName := func(a, b *fabric.Node) int { return hostlist.Compare(a.Desc.Clean(), b.Desc.Clean()) }
	for _, n := range f.Nodes {
		if !n.IsSwitch() {
			continue
		}
		g.nodes = append(g.nodes, n)
		for _, p := range linked(n) {
			if m := p.Peer.Node; m.IsSwitch() && m != n && !slices.Contains(g.peers[n], m) {
				g.peers[n] = append(g.peers[n], m)
			}
		}
		slices.SortStableFunc(g.peers[n], byName)
	}
	slices.SortStableFunc(g.nodes, byName)
	return g
}

// common returns two switches' common neighbours.
func (g switchGraph) common(a, b *fabric.Node) []*fabric.Node {
	var both []*fabric.Node
	for _, n := range g.peers[a] {
		if slices.Contains(g.peers[b], n) {
			both = append(both, n)
		}
	}
	return both
}

// RecognizeShape returns the switches' structure.
func RecognizeShape(f *fabric.Fabric) Shape {
	levels := Levels(f)
	g := newSwitchGraph(f)
	switch {
	case len(g.nodes) == 1:
		return Shape{Name: "single switch"}
	case levels.Count > 1 && isTree(g, levels):
		return Shape{Name: "fat tree"}
	case levels.Count == 1:
		if groups := dragonfly(g); groups != nil {
			return Shape{Name: "dragonfly", Groups: groups}
		}
		if grid := torus(g); grid != nil {
			return Shape{Name: "torus", Grid: grid}
		}
	}
	return Shape{}
}

// isTree reports whether all links are between neighbouring levels, and all switches
// above the leaves lead to several switches below.
func isTree(g switchGraph, levels Layout) bool {
	for _, n := range g.nodes {
		below := 0
		for _, m := range g.peers[n] {
			switch levels.Level[n] - levels.Level[m] {
			case 1:
				below++
			case -1:
			default:
				return false
			}
		}
		if levels.Level[n] > 0 && below < 2 || len(g.peers[n]) == 0 {
			return false
		}
	}
	return true
}

// dragonfly returns switch groups of equal size, in each of which all switches are
// linked, and which are all linked to each other; nil if there are none.
func dragonfly(g switchGraph) [][]*fabric.Node {
	group := map[*fabric.Node]int{}
	var groups [][]*fabric.Node
	for _, first := range g.nodes {
		if _, known := group[first]; known {
			continue
		}
		members := []*fabric.Node{first}
		for _, m := range g.peers[first] {
			if _, known := group[m]; !known && len(g.common(first, m)) > 0 {
				members = append(members, m)
			}
		}
		for _, m := range members {
			group[m] = len(groups)
		}
		groups = append(groups, members)
	}
	size := len(groups[0])
	if size < 3 || len(groups) < 3 {
		return nil
	}
	links := map[[2]int]bool{}
	for i, members := range groups {
		if len(members) != size {
			return nil
		}
		for _, n := range members {
			inside := 0
			for _, m := range g.peers[n] {
				if group[m] == i {
					inside++
				}
				links[[2]int{i, group[m]}] = true
			}
			if inside != size-1 {
				return nil
			}
		}
	}
	if len(links) != len(groups)*len(groups) {
		return nil
	}
	return groups
}

// torus returns the coordinates of the switches of a torus in two or three dimensions
// of at least three switches; nil if there are none.
func torus(g switchGraph) map[*fabric.Node][]int {
	if len(g.nodes) == 0 {
		return nil
	}
	origin := g.nodes[0]
	degree := len(g.peers[origin])
	if degree != 4 && degree != 6 || slices.ContainsFunc(g.nodes, func(n *fabric.Node) bool { return len(g.peers[n]) != degree }) {
		return nil
	}
	for _, pairs := range pairings(g.peers[origin]) {
		if grid := g.grid(origin, pairs); grid != nil {
			return grid
		}
	}
	return nil
}

// pairings returns all ways to divide nodes into pairs.
func pairings(nodes []*fabric.Node) [][][2]*fabric.Node {
	if len(nodes) == 0 {
		return [][][2]*fabric.Node{nil}
	}
	var all [][][2]*fabric.Node
	for i := 1; i < len(nodes); i++ {
		rest := slices.Concat(nodes[1:i], nodes[i+1:])
		for _, more := range pairings(rest) {
			all = append(all, append([][2]*fabric.Node{{nodes[0], nodes[i]}}, more...))
		}
	}
	return all
}

// grid places the switches if origin's neighbours in each dimension are given.
func (g switchGraph) grid(origin *fabric.Node, pairs [][2]*fabric.Node) map[*fabric.Node][]int {
	at := map[string]*fabric.Node{} // by coordinates
	size := make([]int, len(pairs))
	total := 1
	for d, pair := range pairs {
		ring := g.ring(origin, pair[0], pair[1])
		size[d] = len(ring)
		total *= len(ring)
		for i, n := range ring {
			c := make([]int, len(pairs))
			c[d] = i
			at[fmt.Sprint(c)] = n
		}
	}
	if total != len(g.nodes) {
		return nil
	}
	grid := map[*fabric.Node][]int{}
	for i := range total {
		c := make([]int, len(size))
		for d := range size {
			c[d] = i % size[d]
			i /= size[d]
		}
		n := at[fmt.Sprint(c)]
		if n == nil {
			n = g.corner(at, c)
			at[fmt.Sprint(c)] = n
		}
		if n == nil || grid[n] != nil {
			return nil
		}
		grid[n] = c
	}
	return grid
}

// corner returns the switch at c, which completes a square with three known ones.
func (g switchGraph) corner(at map[string]*fabric.Node, c []int) *fabric.Node {
	var dims []int
	for d, v := range c {
		if v > 0 {
			dims = append(dims, d)
		}
	}
	step := func(dims ...int) *fabric.Node {
		b := slices.Clone(c)
		for _, d := range dims {
			b[d]--
		}
		return at[fmt.Sprint(b)]
	}
	if len(dims) < 2 {
		return nil
	}
	a, b, across := step(dims[0]), step(dims[1]), step(dims[0], dims[1])
	if a == nil || b == nil {
		return nil
	}
	both := slices.DeleteFunc(g.common(a, b), func(n *fabric.Node) bool { return n == across })
	if len(both) != 1 {
		return nil
	}
	return both[0]
}

// ring returns the straight ring from origin over first that ends with last.
func (g switchGraph) ring(origin, first, last *fabric.Node) []*fabric.Node {
	if slices.Contains(g.peers[first], last) {
		return []*fabric.Node{origin, first, last}
	}
	if both := slices.DeleteFunc(g.common(first, last), func(n *fabric.Node) bool { return n == origin }); len(both) == 1 {
		return []*fabric.Node{origin, first, both[0], last}
	}
	ring := []*fabric.Node{origin, first}
	for len(ring) <= len(g.nodes) {
		before, here := ring[len(ring)-2], ring[len(ring)-1]
		if here == last {
			return ring
		}
		i := slices.IndexFunc(g.peers[here], func(n *fabric.Node) bool {
			return n != before && len(g.common(before, n)) == 1
		})
		if i < 0 {
			return nil
		}
		ring = append(ring, g.peers[here][i])
	}
	return nil
}
