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

	best   []float32 // highest speed by element: bandwidth, or relative speed
	count  []int32   // flows by element
	slow   []slowFlow
	sigma  float64 // typical deviation of logarithms, at most
	spread float64 // typical deviation of logarithms

	picks []pick
}

// A slowFlow is a flow that is slower than its class.
type slowFlow struct {
	flow   int32
	speed  float32 // relative to the class
	figure float32 // bandwidth, or relative speed
	full   float32 // figure at the speed of the class
	path   []element
	done   bool // a pick explains it
}

// A pick is the elements that explain slow flows. No flow distinguishes them.
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
	t.sigma = t.typical(func(l *level) float64 { return l.sigma })
	t.spread = t.typical(func(l *level) float64 { return l.spread })
	if !hasMetric(r, m) {
		return t
	}
	var path []element
	for i := range r.Flows {
		f := &r.Flows[i]
		k := c.all[c.of[i]]
		speed, limit, ok := t.speed(f, k)
		if !ok {
			continue
		}
		// A slow link may be fast enough for slower ports, so that bandwidths of
		// different classes are compared as such. Latencies depend on the class.
		figure, full := speed, float32(1)
		if m == bandwidth {
			figure, full = f.Gbps, float32(k.levels[0].median)
		}
		path, _ = e.of(path[:0], f)
		for _, x := range path {
			t.count[x]++
			if figure > t.best[x] {
				t.best[x] = figure
			}
		}
		if float64(speed) < limit {
			t.slow = append(t.slow, slowFlow{flow: int32(i), speed: speed, figure: figure, full: full, path: slices.Clone(path)})
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

// typical returns the deviation in most flows' classes.
func (t *trial) typical(deviation func(*level) float64) float64 {
	if t.metric == noMetric {
		return minSigma
	}
	sum, count := 0.0, 0
	for _, k := range t.classes.all {
		l := &k.levels[t.metric-1]
		sum, count = sum+deviation(l)*float64(l.count), count+l.count
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
	return float64(t.best[x]) * math.Exp(-t.spread*chance)
}

// explains reports whether an element is a suspect for a slow flow: no flow clears it that
// is as fast as the slow flow's class, and the slow flow is about as fast as its best one. A
// much slower flow has another cause.
func (t *trial) explains(x element, f *slowFlow) bool {
	if t.metric == noMetric {
		return t.best[x] == 0
	}
	low := math.Exp(-tolerance * t.sigma)
	if t.metric == latency {
		low -= latencySlack
	}
	capacity := t.capacity(x)
	return capacity < suspectShare*float64(f.full) && float64(f.figure) >= capacity*low
}
