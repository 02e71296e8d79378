package mesh

import (
	"math"
	"slices"
)

// A level is a figure's distribution in a class.
type level struct {
	count  int
	median float64
	spread float64 // standard deviation of the logarithm
	sigma  float64 // at most, by the number of values
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
	fasterShare  = 1.25   // speed of a tenth of the flows, above which it is as well
	slowerShare  = 0.75   // speed of a quarter of the flows, below which it is too
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
	l.count = len(values)
	l.measure(values)
	if l.spread > broadSigma || quantile(values, 0.9) > fasterShare*l.median || quantile(values, 0.25) < slowerShare*quantile(values, 0.95) {
		first, _ := slices.BinarySearch(values, float32(slowShare*quantile(values, 0.95)))
		l.measure(values[first:])
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
	l.count = len(values)
	l.measure(values)
	low := quantile(values, 0.05)
	l.slow = min(l.median/(slowLatency*low), math.Exp(-latencyNoise*l.sigma))
	return l
}

// Few values describe their deviation badly.
const (
	fewFactor = 6
	fewSigma  = 0.1
)

// measure sets the median and the deviation of sorted values.
func (l *level) measure(sorted []float32) {
	n := float64(len(sorted))
	l.median = quantile(sorted, 0.5)
	l.spread = logSigma(sorted, l.median)
	l.sigma = l.spread*(1+fewFactor/n) + fewSigma/n
}

// speed returns a figure relative to its class: 1 is normal, less is slower.
func (l *level) speed(v float32, m metric) float64 {
	if m == latency {
		return l.median / float64(v)
	}
	return float64(v) / l.median
}
