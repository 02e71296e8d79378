package mesh

import (
	"math"
)

// A crowd is an element with slow flows, although others through it are good.
type crowd struct {
	element element
	flows   []int32 // in trial.slow
}

// Limits on crowds: fewer slow flows are pairs.
const (
	minCrowd      = 3
	minCrowdShare = 0.05
)

// crowds groups the unexplained flows by the links that most of them cross, then by their
// ends, and returns the rest.
func (t *trial) crowds() (crowds []crowd, rest []int32) {
	for _, kind := range []elementKind{linkElement, endElement} {
		crowds = append(crowds, t.crowdsOf(kind)...)
	}
	return crowds, t.unexplained()
}

// crowdsOf returns the crowds at elements of a kind.
func (t *trial) crowdsOf(kind elementKind) (crowds []crowd) {
	counts, flows := make([]int32, t.elements.count), map[element][]int32{}
	for _, i := range t.unexplained() {
		for _, x := range t.slow[i].path {
			if k, _, _ := t.elements.kind(x); k == kind {
				counts[x]++
				flows[x] = append(flows[x], i)
			}
		}
	}
	for {
		best := t.mostCrowded(counts)
		if best < 0 {
			return crowds
		}
		c := crowd{element: best}
		for _, i := range flows[best] {
			f := &t.slow[i]
			if f.done {
				continue
			}
			f.done = true
			c.flows = append(c.flows, i)
			for _, x := range f.path {
				counts[x]--
			}
		}
		crowds = append(crowds, c)
	}
}

// mostCrowded returns the element with most slow flows, -1 if it has too few.
func (t *trial) mostCrowded(counts []int32) element {
	best, most := element(-1), int32(minCrowd-1)
	for x, n := range counts {
		if n > most && float64(n) >= minCrowdShare*float64(t.count[x]) {
			best, most = element(x), n
		}
	}
	return best
}

// isPairSlow reports whether a single flow is too slow for chance: among many flows some
// are far from the median.
func (t *trial) isPairSlow(f *slowFlow, flows int) bool {
	chance := math.Sqrt(2*math.Log(float64(max(flows, 2)))) + 2
	return float64(f.speed) < min(0.88, math.Exp(-chance*t.sigma))
}
