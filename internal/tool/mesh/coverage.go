package mesh

import (
	"cmp"
	"iter"
	"slices"
)

// A coverage selects few pairs that connect all pairs of leaf switches and cross all
// directed links between switches that routing uses. The selection depends only on the
// order of the members and on the paths, so that all hosts agree on it.
type coverage struct {
	*members
	flows   int       // over each leaf pair and link
	leaves  [][]int32 // members by leaf switch
	targets [][]int32 // by member
	load    []int32   // pairs by member
	pairs   map[pair]bool
	crossed []int  // pairs by channel
	used    []bool // by routing, by channel
	path    []int32
}

// minPairs is how many pairs a member has at least, if there are as many others: a single
// pair does not distinguish its ends.
const minPairs = 3

// cover is the schedule with the pairs of a [coverage]: in round k each member sends to its
// target k.
func (m *members) cover(flows int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		targets := newCoverage(m, flows).targets
		for k := 0; ; k++ {
			var round []pair
			for i, to := range targets {
				if k < len(to) {
					round = append(round, pair{int32(i), to[k]})
				}
			}
			if len(round) == 0 || !yield(round) {
				return
			}
		}
	}
}

func newCoverage(m *members, flows int) *coverage {
	n := len(m.ends)
	c := &coverage{members: m, flows: flows, targets: make([][]int32, n), load: make([]int32, n), pairs: map[pair]bool{}}
	if m.wiring.Paths != FromNames || m.wiring.grouped {
		c.crossed, c.used = make([]int, m.wiring.channels.Count()), make([]bool, m.wiring.channels.Count())
		c.leaves = m.byLeaf()
		c.findUsed()
		c.connectNeighbours()
		c.connectLeaves()
		c.connectLinks()
	}
	for i := range int32(n) {
		for step := int32(1); step < int32(n) && c.load[i] < minPairs; step++ {
			c.add(i, (i+step)%int32(n))
		}
		if len(c.targets[i]) == 0 {
			c.addDirected(i, (i+1)%int32(n)) // each host knows when all others are lost
		}
	}
	return c
}

// byLeaf groups the members by leaf switch.
func (m *members) byLeaf() (leaves [][]int32) {
	last := -1
	for i, end := range m.ends {
		leaf := m.wiring.channels.At(int(end))
		if leaf != last {
			leaves, last = append(leaves, nil), leaf
		}
		leaves[len(leaves)-1] = append(leaves[len(leaves)-1], int32(i))
	}
	return leaves
}

// leafPairs are the pairs of leaf switches that flows connect.
type leafPairs struct {
	leaf  []int32 // by member
	all   int32
	known []bool // by the product of both
}

func newLeafPairs(m *members) *leafPairs {
	p := &leafPairs{leaf: make([]int32, len(m.ends))}
	for i, leaf := range m.byLeaf() {
		for _, member := range leaf {
			p.leaf[member] = int32(i)
		}
		p.all++
	}
	p.known = make([]bool, p.all*p.all)
	return p
}

func (p *leafPairs) add(f pair) {
	a, b := p.leaf[f.from], p.leaf[f.to]
	p.known[min(a, b)*p.all+max(a, b)] = true
}

// count returns the pair count, and how many flows connect.
func (p *leafPairs) count() (all, used int) {
	for a := range p.all {
		for b := range a {
			all++
			if p.known[b*p.all+a] {
				used++
			}
		}
	}
	return all, used
}

// findUsed finds the links that routing uses. Members at a leaf switch share their paths.
func (c *coverage) findUsed() {
	for _, leaf := range c.leaves {
		for to := range c.count() {
			for _, channel := range c.links(leaf[0], to) {
				c.used[channel] = true
			}
		}
	}
}

// links returns the links on a path, none without forwarding tables. They are valid until
// the next call.
func (c *coverage) links(from, to int32) []int32 {
	if from == to || c.wiring.Paths != FromTables {
		return nil
	}
	path, ok := c.wiring.channels.Path(c.path[:0], int(c.ends[from]), int(c.ends[to]))
	if c.path = path; !ok {
		return nil
	}
	return path
}

// add adds a pair, unless the pair or its reverse is present.
func (c *coverage) add(from, to int32) bool {
	return !c.pairs[pair{to, from}] && c.addDirected(from, to)
}

// addDirected adds a pair, unless it is present.
func (c *coverage) addDirected(from, to int32) bool {
	if from == to || c.pairs[pair{from, to}] {
		return false
	}
	c.pairs[pair{from, to}] = true
	c.targets[from] = append(c.targets[from], to)
	c.load[from]++
	c.load[to]++
	for _, channel := range c.links(from, to) {
		c.crossed[channel]++
	}
	return true
}

// connectNeighbours connects the members at each leaf switch in a ring.
func (c *coverage) connectNeighbours() {
	for _, leaf := range c.leaves {
		for i, from := range leaf {
			c.add(from, leaf[(i+1)%len(leaf)])
		}
	}
}

// connectLeaves connects each leaf pair, with targets that need links without enough pairs.
func (c *coverage) connectLeaves() {
	for round := range c.flows {
		for i, a := range c.leaves {
			for k, b := range c.leaves[:i] {
				from, to := a, b
				if (i+k+round)%2 == 1 {
					from, to = b, a
				}
				target := slices.MaxFunc(to, func(x, y int32) int {
					return cmp.Or(cmp.Compare(c.missing(from[0], x), c.missing(from[0], y)), cmp.Compare(c.incoming(y), c.incoming(x)))
				})
				c.addFrom(from, target)
			}
		}
	}
}

// incoming returns how many pairs lead to a member.
func (c *coverage) incoming(member int32) int { return int(c.load[member]) - len(c.targets[member]) }

// missing returns how many links on a path have too few pairs.
func (c *coverage) missing(from, to int32) (n int) {
	for _, channel := range c.links(from, to) {
		if c.crossed[channel] < c.flows {
			n++
		}
	}
	return n
}

// addFrom adds a pair from a member at a leaf switch, preferably with few targets. A pair
// with a present reverse is the last choice.
func (c *coverage) addFrom(leaf []int32, to int32) {
	sources := slices.Clone(leaf)
	slices.SortStableFunc(sources, func(a, b int32) int { return cmp.Compare(len(c.targets[a]), len(c.targets[b])) })
	for _, from := range sources {
		if c.add(from, to) {
			return
		}
	}
	c.addDirected(sources[0], to)
}

// connectLinks adds pairs over the links that still have too few. The leaf switches take
// turns.
func (c *coverage) connectLinks() {
	n := len(c.leaves)
	for range c.flows {
		for step := 1; step < n && c.lacksPairs(); step++ {
			for i, leaf := range c.leaves {
				for _, to := range c.leaves[(i+step)%n] {
					if c.missing(leaf[0], to) > 0 {
						c.addFrom(leaf, to)
					}
				}
			}
		}
	}
}

// lacksPairs reports whether a link that routing uses has too few pairs.
func (c *coverage) lacksPairs() bool {
	for channel, used := range c.used {
		if used && c.crossed[channel] < c.flows {
			return true
		}
	}
	return false
}
