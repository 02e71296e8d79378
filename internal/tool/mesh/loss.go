package mesh

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ibkit/ibkit/report"
)

// A Count is the probes of a flow in a window.
type Count struct{ Sent, Lost int }

func (c *Count) add(o Count) { c.Sent, c.Lost = c.Sent+o.Sent, c.Lost+o.Lost }

// Limits on losses.
const (
	// normalLoss is the loss that needs no cause, and so is that of commonFlows of the
	// flows if it is higher.
	normalLoss  = 1e-3
	commonFlows = 0.4

	// minGain is the logarithm of the likelihood ratio above which an element is a
	// cause, besides the logarithm of the element count.
	minGain = 8

	// sameGain is the difference below which probes do not distinguish two elements.
	sameGain = 3

	// flowChance is the gain by chance of a separate cause for a flow.
	flowChance = 2
)

// gain returns how much more likely the losses are with the observed loss share than with
// the normal one: the logarithm of the likelihood ratio.
func (c Count) gain(normal float64) float64 {
	share := c.share()
	if share <= normal {
		return 0
	}
	gain := float64(c.Lost) * math.Log(share/normal)
	if good := c.Sent - c.Lost; good > 0 {
		gain += float64(good) * math.Log((1-share)/(1-normal))
	}
	return gain
}

func (c Count) share() float64 { return float64(c.Lost) / float64(max(c.Sent, 1)) }

// SetCount stores the probes of a flow between two names. Figures of flows with probes are for
// round trips, in both directions.
func (r *Results) SetCount(from, to int32, c Count) {
	if r.counts == nil {
		r.counts = map[[2]string]Count{}
	}
	r.counts[[2]string{r.Names[from], r.Names[to]}] = c
	r.Mutual = true
}

// A lossVote finds the elements that explain lost probes. Each flow votes for all elements on
// its path there and back; the element with the least likely losses is picked, and its flows
// have no further vote.
type lossVote struct {
	judge  *judge
	normal float64
	least  float64 // gain of a pick
	flows  []lossFlow
	counts []Count // by element

	// By element: the gains of its flows with a cause for each, and the flow count.
	apart    []float64
	crossing []float64
}

// A lossFlow is a flow with probes.
type lossFlow struct {
	Count
	flow int32 // in Results.Flows
	path []element
	done bool
}

// judgeLosses blames the elements that lose probes.
func (j *judge) judgeLosses() {
	if len(j.results.counts) == 0 {
		return
	}
	v := j.newLossVote()
	j.lossy = map[int32]bool{}
	for {
		best, gain := v.best()
		pair, pairGain := v.worst()
		switch {
		case max(gain, pairGain) < v.least:
			return
		case pairGain > gain+sameGain:
			v.blamePair(pair)
		default:
			v.blame(best, gain)
		}
	}
}

// mergeCounts renames counts by endpoints, given their numbers by name.
func (j *judge) mergeCounts(to []int32) {
	if len(j.results.counts) == 0 {
		return
	}
	endpoint := map[string]string{}
	for i, name := range j.results.Names {
		endpoint[name] = j.endpoints[to[i]]
	}
	merged := map[[2]string]Count{}
	for ends, c := range j.results.counts {
		ends = [2]string{endpoint[ends[0]], endpoint[ends[1]]}
		c.add(merged[ends])
		merged[ends] = c
	}
	j.results.counts = merged
}

// newLossVote collects the flows that no unreachable element explains.
func (j *judge) newLossVote() *lossVote {
	n := j.elements.count
	v := &lossVote{judge: j, counts: make([]Count, n), apart: make([]float64, n), crossing: make([]float64, n)}
	explained := map[int32]bool{}
	for i := range j.reachable.slow {
		if f := &j.reachable.slow[i]; f.done {
			explained[f.flow] = true
		}
	}
	var shares []float32
	for i := range j.results.Flows {
		f := &j.results.Flows[i]
		count, ok := j.results.counts[[2]string{j.endpoints[f.From], j.endpoints[f.To]}]
		if !ok || explained[int32(i)] {
			continue
		}
		path, _ := j.elements.of(nil, f)
		slices.Sort(path)
		v.flows = append(v.flows, lossFlow{Count: count, flow: int32(i), path: path})
		for _, x := range path {
			v.counts[x].add(count)
		}
		shares = append(shares, float32(count.share()))
	}
	v.normal = normalLoss
	if len(shares) > 0 {
		slices.Sort(shares)
		v.normal = max(v.normal, quantile(shares, commonFlows))
	}
	v.least = minGain + math.Log(float64(j.elements.count))
	for i := range v.flows {
		f := &v.flows[i]
		for _, x := range f.path {
			v.apart[x] += f.gain(v.normal)
			v.crossing[x]++
		}
	}
	return v
}

// gain returns the gain of an element as the cause. Flows with very different losses have
// several causes: the gain of separate causes beyond chance counts against it.
func (v *lossVote) gain(x element) float64 {
	gain := v.counts[x].gain(v.normal)
	return gain - max(0, v.apart[x]-gain-flowChance*v.crossing[x]-minGain)
}

// best returns the element with the least likely losses.
func (v *lossVote) best() (best element, most float64) {
	for x := range v.counts {
		if gain := v.gain(element(x)); gain > most {
			best, most = element(x), gain
		}
	}
	return best, most
}

// worst returns the flow with the least likely losses.
func (v *lossVote) worst() (worst *lossFlow, most float64) {
	for i := range v.flows {
		if f := &v.flows[i]; !f.done {
			if gain := f.gain(v.normal); gain > most {
				worst, most = f, gain
			}
		}
	}
	return worst, most
}

// take ends a flow's vote.
func (v *lossVote) take(f *lossFlow) {
	f.done = true
	v.judge.lossy[f.flow] = true
	for _, x := range f.path {
		v.counts[x].add(Count{-f.Sent, -f.Lost})
		v.apart[x] -= f.gain(v.normal)
		v.crossing[x]--
	}
}

func (v *lossVote) blamePair(f *lossFlow) {
	v.judge.lostPairs = append(v.judge.lostPairs, *f)
	v.take(f)
}

// blame blames an element, and others that the probes do not distinguish from it: most of
// their losses are on the same flows.
func (v *lossVote) blame(best element, gain float64) {
	total, lost, crossing := v.counts[best], map[element]int{}, 0
	var slow []int32
	for i := range v.flows {
		f := &v.flows[i]
		if _, crosses := slices.BinarySearch(f.path, best); f.done || !crosses {
			continue
		}
		crossing++
		if f.Lost > 0 {
			slow = append(slow, f.flow)
		}
		for _, x := range f.path {
			lost[x] += f.Lost
		}
	}
	var equal []element
	for x, n := range lost {
		if v.gain(x) > gain-sameGain && 10*n >= 9*v.counts[x].Lost {
			equal = append(equal, x)
		}
	}
	slices.SortFunc(equal, func(a, b element) int {
		return cmp.Or(cmp.Compare(v.gain(b), v.gain(a)), cmp.Compare(a, b))
	})
	v.judge.addBlame(v.judge.elements.places(equal), evidence{
		metric: loss, element: best, flows: len(slow), crossing: crossing, share: 1 - total.share(), slow: slow, probes: total,
	})
	for i := range v.flows {
		if _, crosses := slices.BinarySearch(v.flows[i].path, best); crosses && !v.flows[i].done {
			v.take(&v.flows[i])
		}
	}
}

// reportLostPairs adds the findings about pairs that lose probes, although others on their
// path do not.
func (j *judge) reportLostPairs() {
	for _, f := range j.lostPairs {
		j.addPair(report.PacketLoss, loss, &j.results.Flows[f.flow], f.Count.String()+", although others over all parts of the path are not")
	}
}

// String describes the losses.
func (c Count) String() string {
	return fmt.Sprintf("%.3g %% of %d probes lost", 100*c.share(), c.Sent)
}
