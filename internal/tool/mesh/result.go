package mesh

import (
	"cmp"
	"slices"
	"time"

	"github.com/ibkit/ibkit/report"
)

// Schema is the schema of the [Analyze] result in JSON.
const Schema = "ibkit/mesh-analyze/1"

// A Result is the judgement on results.
type Result struct {
	report.Head
	Format    Format     `json:"format"`
	Paths     PathSource `json:"paths"`
	Adaptive  bool       `json:"adaptive"`
	Endpoints int        `json:"endpoints"` // names in the results
	Unknown   int        `json:"unknown"`   // of them not in the fabric
	Ambiguous int        `json:"ambiguous"` // of them fit several ports
	Missing   int        `json:"missing"`   // hosts in the fabric, but not in the results
	Flows     int        `json:"flows"`
	Failed    int        `json:"failed"`   // flows without a figure
	Unrouted  int        `json:"unrouted"` // flows with an unknown path
	Slow      int        `json:"slow"`     // flows that are slower than their class
	Damaged   int        `json:"damaged"`  // parts of the file that could not be read
	Sums      bool       `json:"sums"`     // most bandwidths exceed the data rate: sums of both directions

	Loopbacks *ReportLoopbacks `json:"loopbacks,omitempty"`

	Classes   []ReportClass `json:"classes"`
	SlowFlows []SlowFlow    `json:"slow_flows"` // the slowest, at most 1,000

	Congestion *Congestion     `json:"congestion,omitempty"`
	Baseline   *ReportBaseline `json:"baseline,omitempty"`

	BadHosts []BadHost `json:"bad_hosts"` // by ListHosts

	judge *judge
}

// A ReportClass is a class of flows in JSON.
type ReportClass struct {
	Rail      *string      `json:"rail"` // null: several, or unknown
	PortGbps  *float64     `json:"port_gbps"`
	Hops      *int         `json:"hops"` // links between switches; null: various, or unknown
	Loopback  bool         `json:"loopback,omitempty"`
	Flows     int          `json:"flows"`
	Bandwidth *ReportLevel `json:"bandwidth"`
	Latency   *ReportLevel `json:"latency"`
}

// A ReportLevel is a figure's distribution in a class.
type ReportLevel struct {
	Flows     int     `json:"flows"`
	Median    float64 `json:"median"`    // Gbit/s or µs
	Deviation float64 `json:"deviation"` // relative
	Limit     float64 `json:"limit"`     // beyond which a flow is slow
}

// A SlowFlow is a flow that is slower than its class.
type SlowFlow struct {
	ReportFlow
	Bandwidth *float64 `json:"bandwidth_share"` // of the class median
	Latency   *float64 `json:"latency_ratio"`   // to the class median
}

// maxSlowFlows limits Result.SlowFlows.
const maxSlowFlows = 1000

// newResult returns a result with the contents of the file.
func newResult(r *Results, w *Wiring, o Options) *Result {
	result := &Result{
		Head: report.NewHead(Schema, cmp.Or(o.Began, time.Unix(0, 0))), Format: r.Format, Paths: w.Paths, Adaptive: w.Adaptive,
		Damaged: r.Damaged, Classes: []ReportClass{}, SlowFlows: []SlowFlow{}, BadHosts: []BadHost{},
	}
	result.Fail(w.routing.ReportFailures(w.names)...)
	for _, err := range r.Damage {
		result.Fail(report.Failure{Error: err.Error()})
	}
	return result
}

// addClasses adds the classes with flows, the largest first.
func (j *judge) addClasses() {
	w := j.elements.wiring
	for i, k := range slices.Concat(j.classes.all, j.loopbacks.classes.all) {
		if k.flows == 0 {
			continue
		}
		c := ReportClass{Loopback: i >= len(j.classes.all), Flows: k.flows, Bandwidth: reportLevel(&k.levels[0], bandwidth), Latency: reportLevel(&k.levels[1], latency)}
		if k.key.rail >= 0 {
			c.Rail = &w.rails[k.key.rail]
		}
		if k.key.gbps > 0 {
			c.PortGbps = &k.key.gbps
		}
		if !c.Loopback && k.key.hops >= 0 && k.key.hops != anyHops {
			c.Hops = new(int(k.key.hops))
		}
		j.result.Classes = append(j.result.Classes, c)
	}
	slices.SortStableFunc(j.result.Classes, func(a, b ReportClass) int { return cmp.Compare(b.Flows, a.Flows) })
}

func reportLevel(l *level, m metric) *ReportLevel {
	if l.count == 0 {
		return nil
	}
	limit := l.median * l.slow
	if m == latency {
		limit = l.median / l.slow
	}
	return &ReportLevel{l.count, round(l.median), round(l.spread), round(limit)}
}

// addSlowFlows lists the slowest flows.
func (j *judge) addSlowFlows() {
	speeds := map[int32]float32{}
	for _, t := range j.trials {
		for i := range t.slow {
			f := &t.slow[i]
			if old, ok := speeds[f.flow]; !ok || f.speed < old {
				speeds[f.flow] = f.speed
			}
		}
	}
	j.result.Slow = len(speeds)
	slowest := make([]int32, 0, len(speeds))
	for i := range speeds {
		slowest = append(slowest, i)
	}
	slices.SortFunc(slowest, func(a, b int32) int {
		return cmp.Or(cmp.Compare(speeds[a], speeds[b]), cmp.Compare(a, b))
	})
	for _, i := range slowest[:min(len(slowest), maxSlowFlows)] {
		f, k := &j.results.Flows[i], j.classOf(i)
		s := SlowFlow{ReportFlow: j.reportFlow(f)}
		if !isNone(f.Gbps) {
			s.Bandwidth = new(round(k.levels[0].speed(f.Gbps, bandwidth)))
		}
		if !isNone(f.Micros) {
			s.Latency = new(round(1 / k.levels[1].speed(f.Micros, latency)))
		}
		j.result.SlowFlows = append(j.result.SlowFlows, s)
	}
}

// reportFlow returns a flow's JSON form.
func (j *judge) reportFlow(f *Flow) ReportFlow {
	return ReportFlow{Source: j.endpoint(f.From), Destination: j.endpoint(f.To), Gbps: figure(f.Gbps), Micros: figure(f.Micros)}
}

// figure returns a figure's JSON form.
func figure(v float32) *float32 {
	if isNone(v) {
		return nil
	}
	return &v
}
