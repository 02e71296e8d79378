package mesh

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/report"
)

// A suspect is a finding with flows that confirm or refute it when they are measured alone.
type suspect struct {
	data   *FindingData
	metric metric // noMetric: the flows failed
	flows  []Flow
	isPair bool
	// loops are loopbacks, also of partners: they distinguish the adapter from its cable.
	loops []Flow
}

// A Retest is a flow of a suspect that was measured alone.
type Retest struct {
	ReportFlow
	Share *float64 `json:"share"` // speed relative to the class; null: no figure
	Error string   `json:"error,omitempty"`
	Signs []string `json:"signs"` // counters that increased, and changes of links

	flow Flow
}

// NewRetest returns a retest of a flow, with its figures.
func NewRetest(f Flow, err string, signs []string) Retest {
	return Retest{Error: err, Signs: signs, flow: f}
}

// Retests per suspect, and suspects with retests.
const (
	retestsEach = 2
	maxSuspects = 16
)

// flows returns the flows of slow flows.
func (t *trial) flows(slow []int32) []int32 {
	all := make([]int32, len(slow))
	for i, k := range slow {
		all[i] = t.slow[k].flow
	}
	return all
}

// suspect chooses flows that a finding blames on a place: with partners that no finding
// blames, under different leaf switches if possible.
func (j *judge) suspect(data *FindingData, b *blame) {
	i := slices.IndexFunc(b.evidence, func(e evidence) bool { return !e.slight && len(e.slow) > 0 })
	if i < 0 || slices.ContainsFunc(j.suspects, func(s suspect) bool { return s.data == data }) {
		return
	}
	s := suspect{data: data, metric: b.evidence[i].metric}
	own := j.endpointsOf(b.places[0])
	var partners []int32
	for _, fresh := range []bool{true, false} { // under another leaf, any
		for _, k := range b.evidence[i].slow {
			f := j.results.Flows[k]
			other := j.otherEnd(f, own)
			if len(s.flows) < retestsEach && !slices.Contains(partners, other) && !j.isBlamed(f, own) && (!fresh || !j.sharesLeaf(other, partners)) {
				s.flows, partners = append(s.flows, f), append(partners, other)
			}
		}
	}
	if len(s.flows) == 0 {
		return
	}
	if b.places[0].kind == endElement && s.metric != noMetric && j.loopbackOf(b) == nil {
		for _, end := range append(own, partners...) {
			s.loops = append(s.loops, Flow{end, end, none, none})
		}
	}
	j.suspects = append(j.suspects, s)
}

// endpointsOf returns the endpoints of a host or adapter.
func (j *judge) endpointsOf(p place) (all []int32) {
	for i, host := range j.elements.host {
		if p.kind == endElement && i == p.id || p.kind == hostElement && int(host) == p.id {
			all = append(all, int32(i))
		}
	}
	return all
}

func (j *judge) otherEnd(f Flow, own []int32) int32 {
	if slices.Contains(own, f.From) {
		return f.To
	}
	return f.From
}

// isBlamed reports whether another end of a flow has a finding.
func (j *judge) isBlamed(f Flow, own []int32) bool {
	for _, b := range slices.Concat(j.blames, j.failed) {
		for _, i := range j.endpointsOf(b.places[0]) {
			if (i == f.From || i == f.To) && !slices.Contains(own, i) {
				return true
			}
		}
	}
	return false
}

func (j *judge) sharesLeaf(endpoint int32, others []int32) bool {
	w, at := j.elements.wiring, j.elements.at
	return w.Paths != FromNames && slices.ContainsFunc(others, func(other int32) bool {
		return at[endpoint] >= 0 && at[other] >= 0 && w.channels.At(int(at[endpoint])) == w.channels.At(int(at[other]))
	})
}

// Suspects returns the flows to measure alone, and loopbacks. Their ends are numbers of the
// results' names.
func (r *Result) Suspects() (all []Flow) {
	for _, s := range r.judge.suspects[:min(len(r.judge.suspects), maxSuspects)] {
		all = append(append(all, s.flows...), s.loops...)
	}
	return all
}

// AddRetests adds the retests to the findings that they confirm.
func (r *Result) AddRetests(all []Retest) {
	for _, s := range r.judge.suspects {
		r.judge.addRetests(s, all)
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Data == s.data && len(s.data.Retests) > 0 {
				f.Detail += "; alone: " + s.data.retestText()
			}
		}
	}
}

// AddRefuted adds the findings about places that are good alone: other flows slow them. first
// is the judgement without retests.
func (r *Result) AddRefuted(first *Result, all []Retest) {
	for _, s := range first.judge.suspects {
		if isGood := first.judge.addRetests(s, all); !isGood || s.isPair || s.metric == noMetric {
			continue
		}
		for _, f := range first.Findings {
			if f.Data != s.data || slices.ContainsFunc(r.Findings, func(other report.Finding) bool { return other.Subject == f.Subject }) {
				continue
			}
			f.Kind, f.Severity, f.Hint = report.Congested, report.Congested.Info().Severity, ""
			f.Hint = f.Kind.HintFor(f)
			f.Detail += "; good alone: " + s.data.retestText() + ": other flows slow it"
			r.Add(f)
		}
	}
}

// addRetests adds the retests of a suspect's flows to its data, and reports whether there are
// some and all are good.
func (j *judge) addRetests(s suspect, all []Retest) (isGood bool) {
	isGood = len(s.flows) > 0
	for _, f := range s.flows {
		i := slices.IndexFunc(all, func(t Retest) bool { return t.flow.From == f.From && t.flow.To == f.To })
		if i < 0 {
			isGood = false
			continue
		}
		t := all[i]
		t.ReportFlow = j.reportFlow(&t.flow)
		speed, isSlow := j.retest(s, t.flow)
		if speed != 0 {
			t.Share = new(round(speed))
		}
		isGood = isGood && !isSlow
		s.data.Retests = append(s.data.Retests, t)
	}
	return isGood
}

// retest returns a flow's speed relative to its class, 0 without a figure, and whether it is
// slow.
func (j *judge) retest(s suspect, f Flow) (speed float64, isSlow bool) {
	i := slices.IndexFunc(j.results.Flows, func(old Flow) bool { return old.From == f.From && old.To == f.To })
	l, figure := &j.classOf(int32(i)).levels[0], f.Gbps
	if s.metric == latency {
		l, figure = &j.classOf(int32(i)).levels[1], f.Micros
	}
	if isNone(figure) {
		return 0, true
	}
	if speed = l.speed(figure, max(s.metric, bandwidth)); math.IsNaN(speed) || math.IsInf(speed, 0) {
		speed = 0 // no other flow of the class has a figure
	}
	return speed, s.metric != noMetric && speed < l.slow
}

// CountersText describes the counters.
func (d *FindingData) CountersText() string {
	const most = 4
	switch n := len(d.Counters); {
	case n == 0:
		return "; no error counter of its ports increased meanwhile"
	case n > most:
		return fmt.Sprintf("; meanwhile %s and %d more", strings.Join(d.Counters[:most], ", "), n-most)
	}
	return "; meanwhile " + strings.Join(d.Counters, ", ")
}

// retestText describes the retests, with the first signs.
func (d *FindingData) retestText() string {
	const most = 4
	var parts, signs []string
	for _, t := range d.Retests {
		text := "no figure"
		if t.Share != nil {
			text = fmt.Sprintf("%.0f %%", 100**t.Share)
		}
		parts = append(parts, fmt.Sprintf("%s from %s to %s", text, t.Source, t.Destination))
		for _, sign := range t.Signs {
			if !slices.Contains(signs, sign) && len(signs) < most {
				signs = append(signs, sign)
			}
		}
	}
	text := strings.Join(parts, ", ")
	if len(signs) > 0 {
		text += " (" + strings.Join(signs, ", ") + ")"
	}
	return text
}
