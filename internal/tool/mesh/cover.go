package mesh

import (
	"slices"
)

// A cover finds the fewest suspects that explain the slow flows.
type cover struct {
	*trial
	suspects []element
	flows    map[element][]int32 // that a suspect explains, in trial.slow
	left     map[element]int     // of flows without another explanation
	mark     map[element]uint64  // sum of random numbers of these flows
}

// minExplained is the number of flows that blame an element. Fewer are slow pairs.
const minExplained = 2

// cover picks the suspect that explains most slow flows, until none explains several.
func (t *trial) cover() {
	c := &cover{trial: t, flows: map[element][]int32{}, left: map[element]int{}, mark: map[element]uint64{}}
	for i := range t.slow {
		f := &t.slow[i]
		for _, x := range f.path {
			if t.explains(x, f) {
				if c.flows[x] == nil {
					c.suspects = append(c.suspects, x)
				}
				c.flows[x] = append(c.flows[x], int32(i))
				c.left[x]++
				c.mark[x] += scramble(uint64(i))
			}
		}
	}
	slices.Sort(c.suspects)
	for {
		best := c.next()
		if c.left[best] < minExplained {
			break
		}
		t.picks = append(t.picks, c.take(best))
	}
	t.prune()
}

// scramble returns a random number for a flow (SplitMix64).
func scramble(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// next returns the suspect that explains most flows; of several the one with the fewest
// flows.
func (c *cover) next() element {
	best := element(0)
	for _, x := range c.suspects {
		if n := c.left[x]; n > c.left[best] || n == c.left[best] && c.count[x] < c.count[best] {
			best = x
		}
	}
	return best
}

// take makes a pick of a suspect and its equals, which explain the same flows.
func (c *cover) take(best element) pick {
	var p pick
	for _, x := range c.suspects {
		if c.left[x] == c.left[best] && c.mark[x] == c.mark[best] {
			p.elements = append(p.elements, x)
		}
	}
	for _, i := range c.flows[best] {
		f := &c.slow[i]
		if f.done {
			continue
		}
		f.done = true
		p.flows = append(p.flows, i)
		for _, x := range f.path {
			if c.flows[x] != nil && c.explains(x, f) {
				c.left[x]--
				c.mark[x] -= scramble(uint64(i))
			}
		}
	}
	return p
}

// prune drops picks that the others make unnecessary.
func (t *trial) prune() {
	covers := make([]int, len(t.slow)) // picks that explain a flow
	explained := make([][]int32, len(t.picks))
	of := map[element]int{}
	for i, p := range t.picks {
		of[p.elements[0]] = i
	}
	for i := range t.slow {
		for _, x := range t.slow[i].path {
			if k, ok := of[x]; ok && t.explains(x, &t.slow[i]) {
				covers[i]++
				explained[k] = append(explained[k], int32(i))
			}
		}
	}
	var kept []pick
	for k := len(t.picks) - 1; k >= 0; k-- {
		needed := slices.ContainsFunc(explained[k], func(i int32) bool { return covers[i] == 1 })
		if needed {
			t.picks[k].flows = explained[k]
			kept = append(kept, t.picks[k])
			continue
		}
		for _, i := range explained[k] {
			covers[i]--
		}
	}
	slices.Reverse(kept)
	t.picks = kept
}

// unexplained returns the slow flows that no pick explains, in trial.slow.
func (t *trial) unexplained() (left []int32) {
	for i := range t.slow {
		if !t.slow[i].done {
			left = append(left, int32(i))
		}
	}
	return left
}
