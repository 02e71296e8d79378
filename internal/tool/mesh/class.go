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
