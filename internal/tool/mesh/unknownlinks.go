package mesh

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/report"
)

// A leafSide is the links between a leaf switch and other switches, in a direction.
type leafSide struct {
	leaf     int
	receives bool // from other switches
}

// sides returns the links of unknown use for a flow between leaf switches.
func (j *judge) sides(f *Flow) (sides [2]leafSide, ok bool) {
	a, z := j.elements.at[f.From], j.elements.at[f.To]
	if a < 0 || z < 0 {
		return sides, false
	}
	w := j.elements.wiring
	from, to := w.channels.At(int(a)), w.channels.At(int(z))
	return [2]leafSide{{from, false}, {to, true}}, from != to
}

// reportUnknownLinks adds findings about slow flows that may use the same link: without
// tables the links of a leaf switch are named together.
func (j *judge) reportUnknownLinks(t *trial) {
	if j.elements.wiring.Paths != FromShortest {
		return
	}
	flows := map[leafSide][]int32{}
	for _, i := range t.unexplained() {
		if sides, ok := j.sides(&j.results.Flows[t.slow[i].flow]); ok {
			for _, s := range sides {
				flows[s] = append(flows[s], i)
			}
		}
	}
	for len(flows) > 0 {
		best, most := leafSide{}, -1
		for s, all := range flows {
			flows[s] = slices.DeleteFunc(all, func(i int32) bool { return t.slow[i].done })
			if n := len(flows[s]); n > most || n == most && s.before(best) {
				best, most = s, n
			}
		}
		if most < minCrowd {
			return
		}
		for _, i := range flows[best] {
			t.slow[i].done = true
		}
		j.reportSide(t, best, flows[best])
		delete(flows, best)
	}
}

// before orders sides, so that results repeat.
func (s leafSide) before(o leafSide) bool {
	if s.leaf != o.leaf {
		return s.leaf < o.leaf
	}
	return !s.receives && o.receives
}

// reportSide adds a finding about the links of a leaf switch.
func (j *judge) reportSide(t *trial, s leafSide, flows []int32) {
	w := j.elements.wiring
	leaf := w.channels.Switches()[s.leaf]
	data := &FindingData{Candidates: []string{}, Evidence: []Evidence{}, Hosts: []string{}}
	for i := range leaf.Ports {
		if p := &leaf.Ports[i]; p.Peer != nil && p.Peer.Node.IsSwitch() {
			data.Candidates = append(data.Candidates, w.cable(p))
		}
	}
	crossing := 0
	for i := range j.results.Flows {
		if sides, ok := j.sides(&j.results.Flows[i]); ok && slices.Contains(sides[:], s) {
			crossing++
		}
	}
	e := j.evidenceOf(t, []element{j.elements.switches + element(s.leaf)}, flows)
	e.crossing = crossing
	b := &blame{places: []place{{switchElement, s.leaf}}, evidence: []evidence{e}}
	f := j.finding(report.SlowLink, b, "")
	f.Severity = report.Warning
	direction := "from its hosts to other switches"
	if s.receives {
		direction = "from other switches to its hosts"
	}
	reason := "without forwarding tables"
	f.Hint = "ibkit check routes --save FILE; then judge again with --from FILE"
	if w.Adaptive {
		reason = "with adaptive routing"
		f = f.WithHint("ibkit counters {node} --window 10s")
	}
	f.Detail = fmt.Sprintf("%s %s: a link of this switch, or a link behind it; the paths are unknown %s", j.evidencesText(b.evidence), direction, reason)
	data.Evidence = j.reportEvidence(b)
	f.Data = data
	j.add(f)
}
