package mesh

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/report"
)

// A ReportBaseline is the comparison with an earlier run in JSON.
type ReportBaseline struct {
	Flows     int      `json:"flows"`     // that both runs have
	Bandwidth *float64 `json:"bandwidth"` // median relative to the earlier run; null: no figure
	Latency   *float64 `json:"latency"`
}

// Limits on figures relative to an earlier run. A host needs several flows.
const (
	baselineBandwidth = 0.93
	baselineLatency   = 1.3
	minBaselineFlows  = 3
)

// A change is the figures of flows relative to an earlier run.
type change struct{ bandwidth, latency []float32 }

// add adds a flow's figures, if both runs have them.
func (c *change) add(now, before Flow) {
	if ratio := now.Gbps / before.Gbps; !isNone(ratio) {
		c.bandwidth = append(c.bandwidth, ratio)
	}
	if ratio := now.Micros / before.Micros; !isNone(ratio) {
		c.latency = append(c.latency, ratio)
	}
}

// medians returns the median figures; nil: too few.
func (c *change) medians(least int) (bandwidth, latency *float64) {
	median := func(ratios []float32) *float64 {
		if len(ratios) < least {
			return nil
		}
		slices.Sort(ratios)
		return new(round(quantile(ratios, 0.5)))
	}
	return median(c.bandwidth), median(c.latency)
}

// compareBaseline compares the flows with those of an earlier run, and adds the hosts that
// became slower, or that all did.
func (j *judge) compareBaseline(before *Results) {
	if before == nil {
		return
	}
	var all change
	hosts, common := make([]change, len(j.endpoints)), 0
	earlier := j.flowsOf(before)
	for i := range j.results.Flows {
		f := &j.results.Flows[i]
		old, ok := earlier[[2]int32{f.From, f.To}]
		if !ok {
			continue
		}
		common++
		all.add(*f, old)
		hosts[f.From].add(*f, old)
		hosts[f.To].add(*f, old)
	}
	b := &ReportBaseline{Flows: common}
	b.Bandwidth, b.Latency = all.medians(1)
	j.result.Baseline = b
	if common == 0 {
		j.fail("", "the baseline has no flow between hosts of the results")
	}
	if text := changeText(b.Bandwidth, b.Latency, nil, nil); text != "" {
		j.add(report.New(report.BelowBaseline, "", fmt.Sprintf("%s: %s", plural.Count(common, "flow", "flows"), text)))
	}
	for i := range hosts {
		bandwidth, latency := hosts[i].medians(minBaselineFlows)
		if text := changeText(bandwidth, latency, b.Bandwidth, b.Latency); text != "" {
			j.add(report.New(report.BelowBaseline, j.endpoint(int32(i)), text))
		}
	}
}

// flowsOf returns the flows of an earlier run by the endpoints of this. Names may have other
// forms there. A flow with a figure for both directions counts for each.
func (j *judge) flowsOf(before *Results) map[[2]int32]Flow {
	number, byEnd := map[string]int32{}, map[int32]int32{}
	for i, name := range j.endpoints {
		number[name] = int32(i)
		byEnd[j.elements.at[i]] = int32(i)
	}
	at := make([]int32, len(before.Names))
	for i, name := range before.Names {
		n, ok := number[name]
		if found := j.elements.wiring.resolve(name); !ok && len(found) == 1 {
			n, ok = byEnd[found[0]]
		}
		if at[i] = n; !ok {
			at[i] = -1
		}
	}
	flows := make(map[[2]int32]Flow, len(before.Flows))
	for _, f := range before.Flows {
		from, to := at[f.From], at[f.To]
		if from < 0 || to < 0 {
			continue
		}
		flows[[2]int32{from, to}] = f
		if before.Mutual {
			flows[[2]int32{to, from}] = f
		}
	}
	return flows
}

// changeText describes the medians that are worse than before, and than those of all flows if
// these are worse too; "": none.
func changeText(bandwidth, latency, allBandwidth, allLatency *float64) string {
	var parts []string
	if limit := baselineBandwidth * min(1, ratioOr1(allBandwidth)); bandwidth != nil && *bandwidth < limit {
		parts = append(parts, fmt.Sprintf("%.0f %% of the bandwidth in the baseline", 100**bandwidth))
	}
	if limit := baselineLatency * max(1, ratioOr1(allLatency)); latency != nil && *latency > limit {
		parts = append(parts, fmt.Sprintf("%.1f times the latency in the baseline", *latency))
	}
	return strings.Join(parts, ", ")
}

// ratioOr1 returns a ratio, 1 if it is unknown.
func ratioOr1(v *float64) float64 {
	if v == nil {
		return 1
	}
	return *v
}
