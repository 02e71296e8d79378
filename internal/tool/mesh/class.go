package mesh

import (
	"cmp"
	"math"
	"slices"
)

// A classKey groups flows that should be equally fast.
type classKey struct {
	rail int32   // of both ends; -1: different rails
	gbps float64 // rate of the slower end port
	hops int16   // links between switches; -1: unknown; anyHops: all
}

// anyHops is the hop count of the class that takes the flows of small classes.
const anyHops = 1000

// minClass is the flow count below which a class is merged with others.
const minClass = 24

// A class is the flows with equal conditions.
type class struct {
	key    classKey
	flows  int
	levels [2]level // by metric: bandwidth, latency
}

// A level is a figure's distribution in a class.
type level struct {
	count  int
	median float64
	sigma  float64 // of the logarithm
	slow   float64 // relative speed below which a flow is slow
}

// quantile returns the value below which a share of sorted values is.
func quantile(sorted []float32, share float64) float64 {
	return float64(sorted[min(int(share*float64(len(sorted))), len(sorted)-1)])
}

// logSigma returns the standard deviation of sorted values' logarithms by the median
// absolute deviation: half of the values are within it around the median.
func logSigma(sorted []float32, median float64) float64 {
	inside := func(deviation float64) bool {
		factor := math.Exp(deviation)
		low, _ := slices.BinarySearch(sorted, float32(median/factor))
		high, _ := slices.BinarySearch(sorted, float32(median*factor))
		return 2*(high-low) >= len(sorted)
	}
	low, high := 0.0, 1.0
	for !inside(high) && high < 16 {
		low, high = high, 2*high
	}
	for range 20 {
		if middle := (low + high) / 2; inside(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return max(minSigma, madSigma*high)
}

// Limits on figures relative to their class.
const (
	slowShare    = 0.93 // bandwidth, as ClusterKit's tolerance
	slowLatency  = 2.1  // times the low latencies, as ClusterKit's tolerance
	minSigma     = 0.002
	madSigma     = 1.4826 // standard deviations per median absolute deviation
	broadSigma   = 0.10   // above it, a class has several speeds: the fastest counts
	slowSigmas   = 4.5
	latencyNoise = 6
)

// bandwidthLevel returns the level of bandwidths, which it sorts. If the class has several
// speeds, because flows share links, the fastest counts.
func bandwidthLevel(values []float32) (l level) {
	if len(values) == 0 {
		return l
	}
	slices.Sort(values)
	l.count, l.median = len(values), quantile(values, 0.5)
	l.sigma = logSigma(values, l.median)
	if l.sigma > broadSigma {
		first, _ := slices.BinarySearch(values, float32(slowShare*quantile(values, 0.95)))
		l.median = quantile(values[first:], 0.5)
		l.sigma = logSigma(values[first:], l.median)
	}
	l.slow = min(slowShare, math.Exp(-slowSigmas*l.sigma))
	return l
}

// latencyLevel returns the level of latencies, which it sorts.
func latencyLevel(values []float32) (l level) {
	if len(values) == 0 {
		return l
	}
	slices.Sort(values)
	l.count, l.median = len(values), quantile(values, 0.5)
	l.sigma = logSigma(values, l.median)
	low := quantile(values, 0.05)
	l.slow = min(l.median/(slowLatency*low), math.Exp(-latencyNoise*l.sigma))
	return l
}

// speed returns a figure relative to its class: 1 is normal, less is slower.
func (l *level) speed(v float32, m metric) float64 {
	if m == latency {
		return l.median / float64(v)
	}
	return float64(v) / l.median
}

// commonRates returns for each end port the rate of its class: its own if several have it,
// otherwise the rate of most, so that a port that is slower than others stands out.
func commonRates(w *Wiring) []float64 {
	counts := map[float64]int{}
	for i := range w.ends {
		counts[w.ends[i].gbps]++
	}
	most := 0.0
	for rate, n := range counts {
		if cmp.Or(cmp.Compare(n, counts[most]), cmp.Compare(rate, most)) > 0 {
			most = rate
		}
	}
	rates := make([]float64, len(w.ends))
	for i := range w.ends {
		if rates[i] = w.ends[i].gbps; counts[rates[i]] < max(3, len(w.ends)/20) {
			rates[i] = most
		}
	}
	return rates
}

// classes are the classes of a result's flows.
type classes struct {
	all      []*class
	of       []uint16 // class by flow
	unrouted int      // flows with an unknown path
}

// classify finds each flow's class and the classes' levels.
func classify(r *Results, e *elements) *classes {
	c := &classes{of: make([]uint16, len(r.Flows))}
	rates := commonRates(e.wiring)
	byKey := map[classKey]uint16{}
	var last classKey
	lastClass, known := uint16(0), false
	var b []element
	for i := range r.Flows {
		f := &r.Flows[i]
		var ok bool
		if b, ok = e.of(b[:0], f); !ok {
			c.unrouted++
		}
		key := e.classKey(f, rates, b, ok)
		if !known || key != last {
			n, found := byKey[key]
			if !found {
				n = c.add(byKey, key)
			}
			last, lastClass, known = key, n, true
		}
		c.of[i] = lastClass
		c.all[lastClass].flows++
	}
	c.mergeSmall(byKey)
	bandwidths := c.collect(r, func(f *Flow) float32 { return f.Gbps })
	for i, k := range c.all {
		k.levels[0] = bandwidthLevel(bandwidths[i])
	}
	latencies := c.collect(r, func(f *Flow) float32 { return f.Micros })
	for i, k := range c.all {
		k.levels[1] = latencyLevel(latencies[i])
	}
	return c
}

// collect returns a figure's values by class.
func (c *classes) collect(r *Results, figure func(*Flow) float32) [][]float32 {
	values := make([][]float32, len(c.all))
	for i := range r.Flows {
		if v := figure(&r.Flows[i]); !isNone(v) {
			k := c.of[i]
			if values[k] == nil {
				values[k] = make([]float32, 0, c.all[k].flows)
			}
			values[k] = append(values[k], v)
		}
	}
	return values
}

// add adds a class.
func (c *classes) add(byKey map[classKey]uint16, key classKey) uint16 {
	n := uint16(min(len(c.all), math.MaxUint16))
	if len(c.all) > math.MaxUint16 {
		return n // the last class takes the rest
	}
	c.all = append(c.all, &class{key: key})
	byKey[key] = n
	return n
}

// mergeSmall moves the flows of small classes to a class with any hop count.
func (c *classes) mergeSmall(byKey map[classKey]uint16) {
	to := make([]uint16, len(c.all))
	for i, k := range slices.Clone(c.all) {
		to[i] = uint16(i)
		if k.flows >= minClass || k.key.hops == anyHops {
			continue
		}
		key := k.key
		key.hops = anyHops
		n, found := byKey[key]
		if !found {
			n = c.add(byKey, key)
		}
		c.all[n].flows += k.flows
		k.flows, to[i] = 0, n
	}
	for i := range c.of {
		c.of[i] = to[c.of[i]]
	}
}

// classKey returns a flow's class.
func (e *elements) classKey(f *Flow, rates []float64, b []element, known bool) classKey {
	key := classKey{rail: -1, hops: int16(e.hops(f, b, known))}
	a, z := e.at[f.From], e.at[f.To]
	if a < 0 || z < 0 {
		return key
	}
	if ends := e.wiring.ends; ends[a].rail == ends[z].rail {
		key.rail = ends[a].rail
	}
	key.gbps = min(rates[a], rates[z])
	return key
}
