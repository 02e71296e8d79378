package mesh

import "math"

// A deficit is a host port that sends or receives slightly slower than its class, too
// little for its flows to be slow.
type deficit struct {
	endpoint int32
	receives bool
	share    float64 // relative speed
	error    float64 // standard error of share
	flows    int
}

// Limits on deficits.
const (
	minDeficit      = 0.02
	minDeficitFlows = 8
	deficitErrors   = 6 // standard errors
	polishRounds    = 3
)

// deficits splits each good flow's deviation from its class into a part of the sender and
// a part of the receiver (Tukey's median polish, with means, because slow flows
// are left out), and returns the parts that are clearly below the rest.
func (t *trial) deficits(r *Results) []deficit {
	n := len(t.elements.at)
	parts := [2][]float64{make([]float64, n), make([]float64, n)}
	counts := [2][]int{make([]int, n), make([]int, n)}
	for round := range polishRounds {
		for side := range parts {
			sums := make([]float64, n)
			clear(counts[side])
			for i := range r.Flows {
				f := &r.Flows[i]
				speed, limit, ok := t.speed(f, t.classes.all[t.classes.of[i]])
				if !ok || float64(speed) < limit || float64(speed) > 2-limit {
					continue // without the flows of other speeds
				}
				at, other := f.From, f.To
				if side == 1 {
					at, other = other, at
				}
				sums[at] += float64(speed) - 1 - parts[1-side][other]
				counts[side][at]++
				if t.elements.mutual {
					sums[other] += float64(speed) - 1 - parts[1-side][at]
					counts[side][other]++
				}
			}
			for k := range sums {
				parts[side][k] = 0
				if counts[side][k] > 0 {
					parts[side][k] = sums[k] / float64(counts[side][k])
				}
			}
			if side == 1 || round == 0 {
				centre(parts[side], counts[side])
			}
		}
	}
	return t.pronounced(parts, counts)
}

// centre moves the parts so that most are about 0.
func centre(parts []float64, counts []int) {
	sum, n := 0.0, 0
	for k, v := range parts {
		if counts[k] > 0 && math.Abs(v) < 0.05 {
			sum, n = sum+v, n+1
		}
	}
	for k := range parts {
		parts[k] -= sum / float64(max(n, 1))
	}
}

// pronounced returns the parts that are clearly negative.
func (t *trial) pronounced(parts [2][]float64, counts [2][]int) (all []deficit) {
	for k := range parts[0] {
		for side := range parts {
			n := counts[side][k]
			if n < minDeficitFlows {
				continue
			}
			deviation := t.sigma / math.Sqrt(float64(n))
			if parts[side][k] < -max(minDeficit, deficitErrors*deviation) {
				all = append(all, deficit{int32(k), side == 1, 1 + parts[side][k], deviation, n})
			}
		}
	}
	return all
}
