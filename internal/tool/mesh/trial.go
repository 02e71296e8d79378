package mesh

import (
	"math"
	"slices"
)

// A trial judges the flows by one metric, or by whether they have a figure.
type trial struct {
	metric   metric // noMetric: a flow without a figure is slow
	elements *elements
	classes  *classes

	best  []float32 // highest relative speed by element
	count []int32   // flows by element
	slow  []slowFlow
	sigma float64 // typical deviation of logarithms

	picks []pick
}

// A slowFlow is a flow that is slower than its class.
type slowFlow struct {
	flow  int32
	speed float32 // relative to the class
	path  []element
	done  bool // a pick explains it
}

// A pick is the elements that explain slow flows. No flow tells them apart.
type pick struct {
	elements []element
	flows    []int32 // in trial.slow
}

// tolerance is how far below an element's speed its flows may be, in deviations.
const tolerance = 5

// suspectShare is the relative speed below which an element is a suspect.
const suspectShare = 0.95

// latencySlack is added to the tolerance for latencies: the delay of an element is a
// smaller share of a longer path.
const latencySlack = 0.15

// newTrial measures the elements, and collects the slow flows.
func newTrial(r *Results, e *elements, c *classes, m metric) *trial {
	t := &trial{metric: m, elements: e, classes: c, best: make([]float32, e.count), count: make([]int32, e.count)}
	t.sigma = t.typicalSigma()
	if !hasMetric(r, m) {
		return t
	}
	var path []element
	for i := range r.Flows {
		f := &r.Flows[i]
		speed, limit, ok := t.speed(f, c.all[c.of[i]])
		if !ok {
			continue
		}
		path, _ = e.of(path[:0], f)
		for _, x := range path {
			t.count[x]++
			if speed > t.best[x] {
				t.best[x] = speed
			}
		}
		if float64(speed) < limit {
			t.slow = append(t.slow, slowFlow{flow: int32(i), speed: speed, path: slices.Clone(path)})
		}
	}
	return t
}

// hasMetric reports whether a flow has a figure, or fails for noMetric.
func hasMetric(r *Results, m metric) bool {
	return slices.ContainsFunc(r.Flows, func(f Flow) bool {
		switch m {
		case bandwidth:
			return !isNone(f.Gbps)
		case latency:
			return !isNone(f.Micros)
		}
		return f.Failed()
	})
}

// typicalSigma returns the deviation in most flows' classes.
func (t *trial) typicalSigma() float64 {
	if t.metric == noMetric {
		return minSigma
	}
	sum, count := 0.0, 0
	for _, k := range t.classes.all {
		l := k.levels[t.metric-1]
		sum, count = sum+l.sigma*float64(l.count), count+l.count
	}
	return max(minSigma, sum/float64(max(count, 1)))
}

// speed returns a flow's speed relative to its class, and the speed below which it is
// slow.
func (t *trial) speed(f *Flow, k *class) (speed float32, limit float64, ok bool) {
	figure := f.Gbps
	switch t.metric {
	case noMetric:
		if f.Failed() {
			return 0, 1, true
		}
		return 1, 1, true
	case latency:
		figure = f.Micros
	}
	if isNone(figure) {
		return 0, 0, false
	}
	l := &k.levels[t.metric-1]
	return float32(l.speed(figure, t.metric)), l.slow, true
}

// capacity returns an element's speed: its best flow's, less the deviation that the best
// has by chance.
func (t *trial) capacity(x element) float64 {
	chance := math.Sqrt(2 * math.Log(float64(max(t.count[x], 2))))
	return float64(t.best[x]) * math.Exp(-t.sigma*chance)
}

// isSuspect reports whether no good flow clears an element.
func (t *trial) isSuspect(x element) bool {
	return t.count[x] > 0 && t.capacity(x) < suspectShare
}

// explains reports whether a flow is as slow as a suspect: a much slower flow has another
// cause.
func (t *trial) explains(x element, f *slowFlow) bool {
	if t.metric == noMetric {
		return true
	}
	low := math.Exp(-tolerance * t.sigma)
	if t.metric == latency {
		low -= latencySlack
	}
	return float64(f.speed) >= t.capacity(x)*low
}

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
			if t.isSuspect(x) && t.explains(x, f) {
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
