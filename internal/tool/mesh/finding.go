package mesh

import (
	"fmt"
	"math"
	"slices"

	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
)

// Kinds are the finding kinds.
var Kinds = []report.Kind{
	report.SlowNode, report.SlowCable, report.SlowLink, report.SlowPair, report.Asymmetric, report.Congested,
	report.PacketLoss, report.Unreachable, report.Hung, report.MissingHost, report.Corrupt, report.BelowBaseline,
}

// CannotMeasure begins the details of [report.MissingHost] findings about hosts without a
// usable RDMA port.
const CannotMeasure = "it cannot measure"

// Details of [report.MissingHost] findings without information besides their kind.
const (
	NoFlow     = "the results have no flow from or to it"
	DidNotJoin = "it did not join"
)

// FindingData is the data of a finding.
type FindingData struct {
	Candidates []string   `json:"candidates"` // the places that no flow distinguishes
	Hosts      []string   `json:"hosts"`      // among them
	Evidence   []Evidence `json:"evidence"`
	Retests    []Retest   `json:"retests,omitempty"` // alone, of a suspect

	// Counters are those of the place that increased during the retests; null: not read.
	Counters []string `json:"counters,omitzero"`

	certain bool // no part of the fabric besides a single host is a candidate
}

// An Evidence is the flows against a place.
type Evidence struct {
	Metric    string   `json:"metric"`         // "bandwidth", "latency", "loss" or "reachability"
	Direction string   `json:"direction"`      // "send", "receive", "through", "loopback", or the input port of a link
	Flows     int      `json:"flows"`          // slow or failed flows that the place explains
	Crossing  int      `json:"crossing"`       // all flows that cross it
	Share     *float64 `json:"share"`          // speed relative to the class; null: no figure
	Median    *float64 `json:"median"`         // of the class, in Gbit/s or µs
	Sent      int      `json:"sent,omitempty"` // probes that cross it
	Lost      int      `json:"lost,omitempty"`
}

func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

func (j *judge) add(f report.Finding) {
	if f.Hint == "" {
		f.Hint = f.Kind.HintFor(f)
	}
	j.result.Add(f)
}

// report adds the findings and the summary.
func (j *judge) report() {
	j.reportFailed()
	for _, b := range j.blames {
		j.reportBlame(b)
	}
	for _, t := range j.trials {
		j.reportUnknownLinks(t)
		j.reportRest(t)
	}
	j.reportLostPairs()
	j.reportLoopbacks()
	j.reportCongestion()
	j.compareBaseline(j.options.Baseline)
	j.addClasses()
	j.addSlowFlows()
	j.result.Unrouted, j.result.judge = j.classes.unrouted, j
	order := report.Severities()
	slices.SortStableFunc(j.result.Findings, func(a, b report.Finding) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
	j.result.NameHints(j.elements.wiring.UniqueNames())
}

// reportBlame adds the findings about a place.
func (j *judge) reportBlame(b *blame) {
	slight := !slices.ContainsFunc(b.evidence, func(e evidence) bool { return !e.slight })
	kind := j.kindOf(b)
	cause := kind
	if !slices.ContainsFunc(b.evidence, func(e evidence) bool { return e.metric != loss }) {
		kind = report.PacketLoss
	}
	f := j.finding(kind, b, j.evidencesText(b.evidence)+j.rateText(b)+j.loopbackText(b)+j.alternatives(b))
	if f.Hint == "" {
		f.Hint = cause.HintFor(f)
	}
	if slight {
		f.Severity = report.Warning
	}
	j.add(f)
	if at := b.places[0]; at.kind == endElement && !j.results.Mutual {
		j.compareDirections(b, f)
	}
}

// compareDirections adds a finding if a host is slow in one direction only.
func (j *judge) compareDirections(b *blame, f report.Finding) {
	if len(b.evidence) != 1 || b.evidence[0].metric != bandwidth || b.evidence[0].slight {
		return
	}
	e, slow, good := b.evidence[0], "sends", "receives"
	other := e.element + 1
	if _, _, receives := j.elements.kind(e.element); receives {
		other, slow, good = e.element-1, good, slow
	}
	t := j.trials[0]
	if t.count[other] == 0 || t.capacity(other) < suspectShare*e.median {
		return
	}
	f.Kind, f.Severity, f.Hint = report.Asymmetric, report.Asymmetric.Info().Severity, ""
	f.Detail = fmt.Sprintf("%s at %.0f %% of its class, %s without loss", slow, 100*e.share, good)
	j.add(f)
}

// kindOf returns the kind of a place's finding. An end port is a cable if other adapters
// of the host or its loopback are good, or if its link is slower than on most hosts.
func (j *judge) kindOf(b *blame) report.Kind {
	p := b.places[0]
	switch p.kind {
	case linkElement:
		return report.SlowLink
	case endElement:
		switch own := j.loopbackOf(b); {
		case own != nil && own.isSlow:
			return report.SlowNode
		case own != nil, j.elements.host[p.id] >= 0, j.slowPort(p) != 0:
			return report.SlowCable
		}
	}
	return report.SlowNode
}

// slowPort returns the rate of most ports if an end port's link is slower, otherwise 0.
func (j *judge) slowPort(p place) float64 {
	at := j.elements.at[p.id]
	if at < 0 {
		return 0
	}
	w := j.elements.wiring
	if most := commonRates(w)[at]; w.ends[at].gbps < most {
		return most
	}
	return 0
}

// rateText describes an end port's link that is slower than others.
func (j *judge) rateText(b *blame) string {
	if p := b.places[0]; p.kind == endElement {
		if most := j.slowPort(p); most != 0 {
			return fmt.Sprintf("; its link is at %.0f Gbit/s, most are at %.0f", j.elements.wiring.ends[j.elements.at[p.id]].gbps, most)
		}
	}
	return ""
}

// finding returns a finding about a place.
func (j *judge) finding(kind report.Kind, b *blame, detail string) report.Finding {
	w, x := j.elements.wiring, b.evidence[0].element
	f := report.New(kind, j.placeText(b.places[0]), detail)
	switch p := b.places[0]; p.kind {
	case linkElement:
		f = j.atPort(f, w.channels.Port(j.number(x)))
	case switchElement:
		if w.Paths == FromNames {
			f = f.WithHint("on its hosts: ibkit counters --local --window 10s")
			break
		}
		f = f.At(w.channels.Switches()[p.id].GUID, -1)
		f = f.WithHint("ibkit counters {node} --window 10s")
	case endElement:
		switch at := j.elements.at[p.id]; {
		case w.Paths == FromNames && kind == report.Unreachable:
			f = f.WithHint("on this host: ibkit doctor; then from another host: ibkit perf")
		case w.Paths == FromNames && kind == report.SlowCable:
			f = f.WithHint("on this host: ibkit counters --local --window 10s; then reseat or replace the cable")
		case at < 0 || w.Paths == FromNames:
		case kind == report.SlowCable:
			f = j.atPort(f, w.ends[at].port.Peer)
		default:
			f = f.At(w.ends[at].port.Node.GUID, -1)
		}
	}
	if f.NodeGUID == nil && kind == report.Hung {
		f = f.WithHint("check that the host runs")
	}
	data := &FindingData{Candidates: j.candidates(b), Evidence: j.reportEvidence(b)}
	j.blameHosts(data, b.places)
	j.suspect(data, b)
	f.Data = data
	return f
}

func (j *judge) number(x element) int {
	_, number, _ := j.elements.kind(x)
	return number
}

// atPort sets a finding's subject to a port.
func (j *judge) atPort(f report.Finding, p *route.Port) report.Finding {
	f.Subject = j.elements.wiring.portName(p)
	return f.At(p.Node.GUID, int(p.Number))
}

// reportRest adds the findings about slow flows that no element explains.
func (j *judge) reportRest(t *trial) {
	crowds, rest := t.crowds()
	for _, c := range crowds {
		e := j.evidenceOf(t, []element{c.element}, c.flows)
		b := &blame{places: j.elements.places([]element{c.element}), evidence: []evidence{e}}
		good := e.crossing - e.flows
		kind, cause := report.Congested, "not the link, but flows that share it"
		if j.elements.wiring.Paths == FromNames {
			kind, cause = report.SlowPair, "a link that these flows share is slow, or congested"
		}
		f := j.finding(kind, b, fmt.Sprintf("%s; the other %d are good: %s", j.evidencesText(b.evidence), good, cause))
		if p := j.elements.port(c.element); p != nil {
			if kind, _, receives := j.elements.kind(c.element); kind == endElement && receives && p.Peer != nil {
				p = p.Peer // the switch port queues
			}
			f = j.atPort(f, p)
		}
		j.add(f)
	}
	for _, i := range rest {
		s := &t.slow[i]
		if !t.isPairSlow(s, len(j.results.Flows)) {
			continue
		}
		e := evidence{metric: t.metric, flows: 1, share: float64(s.speed), median: j.classOf(s.flow).levels[t.metric-1].median}
		text := fmt.Sprintf("%.0f %% of its class (median %s Gbit/s)", 100*e.share, GbpsText(e.median))
		if t.metric == latency {
			text = fmt.Sprintf("%.1f times the latency of its class (median %.2f µs)", 1/e.share, e.median)
		}
		j.addPair(report.SlowPair, t.metric, &j.results.Flows[s.flow], text)
	}
}

// addPair adds a finding about a flow. Its next step shows the path if both ends are known.
func (j *judge) addPair(kind report.Kind, m metric, f *Flow, detail string) {
	pair := report.New(kind, j.endpoint(f.From)+" to "+j.endpoint(f.To), detail)
	w := j.elements.wiring
	if a, b := j.elements.at[f.From], j.elements.at[f.To]; a >= 0 && b >= 0 && kind != report.Corrupt && w.Paths != FromNames {
		pair.Hint = fmt.Sprintf("ibkit route %s %s", w.address(a), w.address(b))
		if kind == report.SlowPair {
			pair.Hint += "; then measure the pair alone: ibkit perf --serve on a host, ibkit perf HOST on the other"
		}
	}
	if kind != report.Corrupt {
		data := &FindingData{Candidates: []string{}, Evidence: []Evidence{}, Hosts: []string{}}
		j.suspects = append(j.suspects, suspect{data: data, metric: m, flows: []Flow{*f}, isPair: true})
		pair.Data = data
	}
	j.add(pair)
}
