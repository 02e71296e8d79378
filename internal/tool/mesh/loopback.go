package mesh

import (
	"fmt"

	"github.com/ibkit/ibkit/report"
)

// loopbacks are the flows of endpoints to themselves. No cable carries them: a slow loopback
// is a slow host.
type loopbacks struct {
	Results
	classes *classes
	of      map[int32]int32 // flow by endpoint
}

// A ReportLoopbacks is the loopbacks in JSON.
type ReportLoopbacks struct {
	Flows  int `json:"flows"`
	Slow   int `json:"slow"`
	Failed int `json:"failed"`
}

// minLoopbacks is the number of loopbacks in a class that can be compared.
const minLoopbacks = 3

// An ownSpeed is the speed of a loopback relative to its class.
type ownSpeed struct {
	share, median float64
	isSlow        bool
}

// takeLoopbacks separates the loopbacks from the other flows.
func (j *judge) takeLoopbacks() {
	others := j.results.Flows[:0]
	for _, f := range j.results.Flows {
		if f.isLoopback() {
			j.loopbacks.Flows = append(j.loopbacks.Flows, f)
		} else {
			others = append(others, f)
		}
	}
	j.results.Flows = others
}

// judgeLoopbacks compares the loopbacks with each other.
func (j *judge) judgeLoopbacks() {
	l := &j.loopbacks
	l.classes, l.of = classify(&l.Results, j.elements), map[int32]int32{}
	for i, f := range l.Flows {
		l.of[f.From] = int32(i)
	}
}

// speed returns the speed of an endpoint's loopback, nil without a figure or with too few
// others.
func (l *loopbacks) speed(endpoint int32, m metric) *ownSpeed {
	i, ok := l.of[endpoint]
	if !ok || m == noMetric || m == loss {
		return nil
	}
	k := l.classes.all[l.classes.of[i]]
	level := &k.levels[m-1]
	speed, limit, ok := (&trial{metric: m}).speed(&l.Flows[i], k)
	if !ok || level.count < minLoopbacks {
		return nil
	}
	return &ownSpeed{float64(speed), level.median, float64(speed) < limit}
}

// loopbackOf returns the loopback that distinguishes an adapter from its cable, or nil. A good one
// does not clear the host of a deficit, which may be as slight there.
func (j *judge) loopbackOf(b *blame) *ownSpeed {
	if b.places[0].kind != endElement || b.evidence[0].own {
		return nil
	}
	own := j.loopbacks.speed(int32(b.places[0].id), b.evidence[0].metric)
	if own != nil && b.evidence[0].slight && !own.isSlow {
		return nil
	}
	return own
}

// loopbackText describes the loopback of a place.
func (j *judge) loopbackText(b *blame) string {
	switch own := j.loopbackOf(b); {
	case own == nil:
		return ""
	case own.isSlow:
		return fmt.Sprintf("; its loopback is at %.0f %%: the host, not its cable", 100*own.share)
	default:
		return fmt.Sprintf("; its loopback is good at %.0f %%: its cable or the ports, not the host", 100*own.share)
	}
}

// reportLoopbacks adds findings about loopbacks of hosts without other flows.
func (j *judge) reportLoopbacks() {
	l := &j.loopbacks
	if len(l.Flows) == 0 {
		return
	}
	j.result.Loopbacks = &ReportLoopbacks{Flows: len(l.Flows)}
	for i := range l.Flows {
		f := &l.Flows[i]
		if f.Failed() {
			j.result.Loopbacks.Failed++
			j.reportFailedLoopback(f)
			continue
		}
		var slow []evidence
		for _, m := range []metric{bandwidth, latency} {
			if own := l.speed(f.From, m); own != nil && own.isSlow {
				slow = append(slow, evidence{metric: m, element: j.elements.send(f.From), flows: 1, crossing: 1, share: own.share, median: own.median, own: true})
			}
		}
		if slow == nil {
			continue
		}
		j.result.Loopbacks.Slow++
		if !j.hasFlows(f.From) {
			b := &blame{places: []place{{endElement, int(f.From)}}, evidence: slow}
			found := j.finding(report.SlowNode, b, j.evidencesText(slow)+": the host, not its cable")
			found.Data.(*FindingData).Candidates = []string{j.endpoint(f.From)}
			j.add(found)
		}
	}
}

// reportFailedLoopback adds a finding if others have a figure: not all adapters can loop back.
func (j *judge) reportFailedLoopback(f *Flow) {
	l := &j.loopbacks
	k := l.classes.all[l.classes.of[l.of[f.From]]]
	if k.levels[0].count+k.levels[1].count == 0 || j.hasFlows(f.From) {
		return
	}
	text := "its loopback has no figure"
	if reason := j.results.reasons[[2]string{j.endpoints[f.From], j.endpoints[f.To]}]; reason != "" {
		text += ": " + reason
	}
	j.add(report.New(report.Unreachable, j.endpoint(f.From), text).WithHint("on this host: ibkit doctor"))
}

// hasFlows reports whether an endpoint has flows to or from others.
func (j *judge) hasFlows(endpoint int32) bool {
	x := j.elements.send(endpoint)
	for _, t := range append(j.trials[:], j.reachable) {
		if t.count[x]+t.count[x+1] > 0 {
			return true
		}
	}
	return false
}
