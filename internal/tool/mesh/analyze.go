package mesh

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ibkit/ibkit/report"
)

// Options are the [Analyze] options.
type Options struct {
	Began time.Time

	// Nodes are patterns: only hosts with a matching name are expected in the results.
	// None: all.
	Nodes []string
	// Baseline is an earlier run to compare with, or nil.
	Baseline *Results
	// Hosts are host names by name in the results, where the fabric has others.
	Hosts map[string]string
}

// A judge analyses results. An endpoint is a name in the results with its end port.
type judge struct {
	options   Options
	results   *Results
	loopbacks loopbacks
	elements  *elements
	classes   *classes
	endpoints []string
	reachable *trial
	trials    [2]*trial // by metric
	blames    []*blame
	failed    []*blame
	suspects  []suspect
	lossy     map[int32]bool // flows with explained losses
	lostPairs []lossFlow
	result    *Result
}

// Analyze finds the elements of the fabric that explain slow and failed flows. It changes
// the results: names of the same end port become one endpoint.
func Analyze(r *Results, w *Wiring, o Options) *Result {
	j := &judge{options: o, results: r, result: newResult(r, w, o)}
	j.resolve(w)
	j.checkCorrupt()
	j.judgeLoopbacks()
	j.classes = classify(r, j.elements)
	for i := range r.Flows {
		if r.Flows[i].Failed() {
			j.result.Failed++
		}
	}
	j.reachable = newTrial(r, j.elements, j.classes, noMetric)
	j.reachable.cover()
	for i, m := range []metric{bandwidth, latency} {
		t := newTrial(r, j.elements, j.classes, m)
		t.cover()
		j.trials[i] = t
	}
	j.collect()
	j.report()
	return j.result
}

// resolve finds the end ports of the names in the results, and compares both sides.
func (j *judge) resolve(w *Wiring) {
	to := make([]int32, len(j.results.Names))
	byEnd, present := map[int32]int32{}, map[int32]bool{}
	var at []int32
	for i, name := range j.results.Names {
		found := w.resolve(name)
		end := int32(-1)
		switch len(found) {
		case 0:
			j.result.Unknown++
			j.fail(name, "the results name a host that the fabric does not have")
		case 1:
			end = found[0]
		default:
			j.result.Ambiguous++
			j.fail(name, fmt.Sprintf("the name fits %d ports, for example %s and %s: its paths are unknown", len(found), w.portName(w.ends[found[0]].port), w.portName(w.ends[found[1]].port)))
			for _, e := range found {
				present[e] = true // perhaps
			}
		}
		if n, known := byEnd[end]; known && end >= 0 {
			to[i] = n
			continue
		}
		to[i] = int32(len(at))
		if end >= 0 {
			byEnd[end] = to[i]
		}
		at, j.endpoints = append(at, end), append(j.endpoints, name)
	}
	for _, flows := range [][]Flow{j.results.Flows, j.results.Loaded} {
		for i := range flows {
			f := &flows[i]
			f.From, f.To = to[f.From], to[f.To]
		}
	}
	j.mergeCounts(to)
	j.results.Names = j.endpoints
	j.elements = newElements(w, at, j.results.Mutual)
	for i := range j.results.Flows {
		present[at[j.results.Flows[i].From]], present[at[j.results.Flows[i].To]] = true, true
	}
	j.takeLoopbacks()
	j.findMissing(present)
	j.result.Endpoints, j.result.Flows = len(at), len(j.results.Flows)
}

func (j *judge) fail(subject, text string) {
	j.result.Fail(report.Failure{Subject: subject, Error: text})
}

// findMissing reports the hosts in the fabric that the results do not have. Congestors have
// no figures.
func (j *judge) findMissing(present map[int32]bool) {
	if len(j.results.Loaded) > 0 {
		return
	}
	w := j.elements.wiring
	for i := range w.ends {
		e := &w.ends[i]
		if present[int32(i)] || !e.expected() || !w.selected(e, j.options.Nodes) {
			continue
		}
		j.result.Missing++
		j.add(report.New(report.MissingHost, e.label, NoFlow).At(e.port.Node.GUID, -1))
		j.result.Partial = true
	}
}

// maxShare is how many times the data rate of its ports a figure may be: rates are rounded.
const maxShare = 1.02

// checkCorrupt removes figures that the end ports cannot reach. If most are above the data rate,
// they are sums of both directions.
func (j *judge) checkCorrupt() {
	above, all, most := 0, 0, maxShare
	for i := range j.results.Flows {
		if f := &j.results.Flows[i]; !isNone(f.Gbps) && j.rate(f) != 0 {
			all++
			if float64(f.Gbps) > most*j.rate(f) {
				above++
			}
		}
	}
	j.result.Sums = 2*above > all
	if j.result.Sums || j.results.Mutual {
		most *= 2
	}
	for i := range j.results.Flows {
		f := &j.results.Flows[i]
		rate := j.rate(f)
		if isNone(f.Gbps) || rate == 0 || float64(f.Gbps) <= most*rate {
			continue
		}
		j.addPair(report.Corrupt, bandwidth, f, fmt.Sprintf("%.1f Gbit/s, but the data rate of the ports is %.0f Gbit/s", f.Gbps, rate))
		j.result.Partial = true
		if f.Gbps = none; f.Failed() {
			f.To = f.From // removed below
		}
	}
	j.results.Flows = slices.DeleteFunc(j.results.Flows, Flow.isLoopback)
}

// rate returns the nominal rate of the slower end port, 0 if it is unknown.
func (j *judge) rate(f *Flow) float64 {
	a, b := j.elements.at[f.From], j.elements.at[f.To]
	if a < 0 || b < 0 {
		return 0
	}
	w := j.elements.wiring
	return min(w.ends[a].gbps, w.ends[b].gbps)
}

// collect gathers the evidence by places.
func (j *judge) collect() {
	for _, t := range j.trials {
		for _, p := range t.picks {
			places := j.elements.places(p.elements)
			j.addBlame(places, j.evidenceOf(t, p.elements, p.flows))
		}
	}
	t := j.trials[0]
	blamed := map[int32]bool{}
	for _, p := range t.picks {
		for _, x := range p.elements {
			if kind, number, _ := j.elements.kind(x); kind == endElement {
				blamed[int32(number)] = true
			}
		}
	}
	for _, d := range t.deficits(j.results) {
		if blamed[d.endpoint] {
			continue
		}
		x := j.elements.send(d.endpoint)
		if d.receives {
			x++
		}
		j.addBlame(j.elements.places([]element{x}), evidence{
			metric: bandwidth, element: x, flows: d.flows, crossing: int(t.count[x]), share: d.share, slight: true,
		})
	}
	j.judgeLosses()
	slices.SortStableFunc(j.blames, func(a, b *blame) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()))
	})
}

// weight orders blames: flows that are slower count more.
func (b *blame) weight() float64 {
	sum := 0.0
	for _, e := range b.evidence {
		if !e.slight {
			sum += float64(e.flows) * (1 - e.share)
		}
	}
	return sum
}

// evidenceOf summarizes the flows that elements explain.
func (j *judge) evidenceOf(t *trial, elements []element, flows []int32) evidence {
	x := slices.MinFunc(elements, func(a, b element) int {
		ka, _, _ := j.elements.kind(a)
		kb, _, _ := j.elements.kind(b)
		return cmp.Or(cmp.Compare(ka, kb), cmp.Compare(a, b))
	})
	speeds := make([]float32, len(flows))
	for i, k := range flows {
		speeds[i] = t.slow[k].speed
	}
	slices.Sort(speeds)
	e := evidence{metric: t.metric, element: x, flows: len(flows), crossing: int(t.count[x]), share: quantile(speeds, 0.5), slow: t.flows(flows)}
	if t.metric != noMetric {
		e.median = j.classOf(t.slow[flows[0]].flow).levels[t.metric-1].median
	}
	return e
}

// classOf returns a flow's class.
func (j *judge) classOf(flow int32) *class { return j.classes.all[j.classes.of[flow]] }
