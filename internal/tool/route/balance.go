package route

import (
	"math"
)

// uneven is the ratio between the highest destination count and the mean from which a
// group is an imbalance. A difference by a single destination never is.
const uneven = 1.25

// maxChance is the highest probability with which an imbalance may be chance. Fewer
// destinations than necessary for it cannot be judged.
const maxChance = 0.05

// Uneven reports whether the ports have uneven destination counts:
//
//   - The busiest port has more than 1.25 times the mean of the usable ports.
//   - If each destination selected one of the usable ports at random, the probability that
//     one of them is as busy, or as idle, is below 5 %.
//
// The usable ports are the ports that carry packets at the same time: at most as many as
// there are destinations, or sources for a destination. A leaf with two hosts cannot fill
// more than two uplinks.
func (b *PortGroup) Uneven() bool {
	n, usable := b.destinations(), b.usable()
	return b.Most-b.Least > 1 && float64(b.Most*usable) > uneven*float64(n) && b.chance(n, usable) < maxChance
}

// Judged reports whether the group has enough destinations for [PortGroup.Uneven]: it
// would be uneven if all had the same port.
func (b *PortGroup) Judged() bool {
	n, usable := b.destinations(), b.usable()
	all := PortGroup{Ports: b.Ports, Most: n}
	return usable > 1 && all.chance(n, usable) < maxChance
}

// destinations returns the sum of the ports' destinations.
func (b *PortGroup) destinations() (n int) {
	for _, l := range b.Ports {
		n += l.LIDs
	}
	return n
}

// usable returns how many ports packets can use at the same time.
func (b *PortGroup) usable() int {
	var paths uint64
	for _, l := range b.Ports {
		paths += l.Paths
	}
	n := b.destinations()
	if n == 0 {
		return 0
	}
	sources := (paths + uint64(n) - 1) / uint64(n) // for a destination, on average
	return min(len(b.Ports), n, int(sources))
}

// chance returns an upper bound for the probability that among some usable ports a port is
// at least as busy or as idle as the group's ports, if each of n destinations selects a
// port at random. Only all ports can show that a port is idle.
func (b *PortGroup) chance(n, usable int) float64 {
	p := 1 / float64(usable)
	tail := binomialTail(n, b.Most, p)
	if usable == len(b.Ports) {
		tail = min(tail, binomialTail(n, n-b.Least, 1-p))
	}
	return 2 * float64(usable) * tail
}

// binomialTail returns the probability of at least k successes in n trials of probability
// p each. k is not below the mean.
func binomialTail(n, k int, p float64) float64 {
	if p >= 1 || k <= 0 {
		return 1
	}
	logFactorial := func(n int) float64 {
		l, _ := math.Lgamma(float64(n) + 1)
		return l
	}
	term := math.Exp(logFactorial(n) - logFactorial(k) - logFactorial(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	sum := 0.0
	for ; k <= n && term > sum*1e-12; k++ {
		sum += term
		term *= float64(n-k) / float64(k+1) * p / (1 - p)
	}
	return min(sum, 1)
}
