package route

import (
	"iter"
	"slices"
)

// Crossing yields the paths through an output port, as source and destination end port numbers,
// by destination. Destinations are base LIDs.
func (c *Channels) Crossing(p *Port) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		if from, ok := c.EndOf(p); ok { // an end port sends all its paths
			for to := range c.ends {
				if to != from && !yield(from, to) {
					return
				}
			}
			return
		}
		s, ok := c.index[p.Node]
		if !ok {
			return
		}
		before := c.graph.before()
		for to := range c.ends {
			if c.output(s, to) != int32(p.Number) {
				continue
			}
			for _, from := range c.sources(before, s, to) {
				if from != to && !yield(from, to) {
					return
				}
			}
		}
	}
}

// output returns a switch's output port for an end port's base LID, 0 without an entry.
func (c *Channels) output(s int32, to int) int32 {
	lid := int(c.End(to).LID)
	if lid == 0 || lid >= len(c.tables[s]) || int32(c.tables[s][lid]) >= c.graph.radix[s] {
		return 0
	}
	return int32(c.tables[s][lid])
}

// sources returns the end ports with a path to another that enters a switch, in order, given the
// switches before each.
func (c *Channels) sources(before [][]int32, s int32, to int) (all []int) {
	queue, known := []int32{s}, map[int32]bool{s: true}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		first, _ := slices.BinarySearchFunc(c.ends, at, func(e, at int32) int { return int(c.graph.ends[e].sw - at) })
		for end := first; end < len(c.ends) && c.graph.ends[c.ends[end]].sw == at; end++ {
			all = append(all, end)
		}
		for _, t := range before[at] {
			if out := c.output(t, to); out > 0 && !known[t] && c.graph.to[c.graph.base[t]+out] == at {
				known[t] = true
				queue = append(queue, t)
			}
		}
	}
	slices.Sort(all)
	return all
}
