package mesh

import (
	"fmt"
	"math"
	"strings"

	"github.com/ibkit/ibkit/internal/plural"
)

// reportEvidence returns the evidence's JSON form.
func (j *judge) reportEvidence(b *blame) (all []Evidence) {
	for _, e := range b.evidence {
		r := Evidence{Metric: [...]string{"reachability", "bandwidth", "latency", "loss"}[e.metric], Flows: e.flows, Crossing: e.crossing}
		kind, number, receives := j.elements.kind(e.element)
		switch {
		case kind == linkElement:
			r.Direction = j.elements.wiring.portName(j.elements.wiring.channels.Port(number).Peer)
		case kind == switchElement:
			r.Direction = "through"
		case e.own:
			r.Direction = "loopback"
		case receives:
			r.Direction = "receive"
		default:
			r.Direction = "send"
		}
		if e.metric != noMetric {
			r.Share = new(round(e.share))
		}
		r.Sent, r.Lost = e.probes.Sent, e.probes.Lost
		if e.median != 0 {
			r.Median = new(round(e.median))
		}
		all = append(all, r)
	}
	return all
}

// evidencesText describes all evidence against a place. Directions with the same speed share a
// text.
func (j *judge) evidencesText(all []evidence) string {
	var parts []string
	for i := range all {
		if i > 0 && all[i].isAsSlow(&all[i-1]) {
			parts[len(parts)-1] += " and " + j.flowsText(&all[i])
			continue
		}
		parts = append(parts, all[i].speedText()+", "+j.flowsText(&all[i]))
	}
	return strings.Join(parts, ", ")
}

// isAsSlow reports whether two directions have about the same speed.
func (e *evidence) isAsSlow(o *evidence) bool {
	const same = 0.01
	return e.metric == o.metric && e.slight == o.slight && math.Abs(e.share-o.share) < same && math.Abs(e.median-o.median) <= same*o.median
}

// speedText describes the speed of the flows of an evidence.
func (e *evidence) speedText() string {
	switch {
	case e.slight:
		return fmt.Sprintf("%.1f %% of its class on average", 100*e.share)
	case e.metric == loss:
		return e.probes.String()
	case e.metric == latency:
		return fmt.Sprintf("%.1f times the latency of its class (median %.2f µs)", 1/e.share, e.median)
	}
	return fmt.Sprintf("%.0f %% of its class (median %s Gbit/s)", 100*e.share, GbpsText(e.median))
}

// flowsText describes the flows of an evidence.
func (j *judge) flowsText(e *evidence) string {
	if e.own {
		return "its loopback"
	}
	return fmt.Sprintf("%d of %s %s", e.flows, plural.Count(e.crossing, "flow", "flows"), j.direction(e.element))
}

// GbpsText formats a bandwidth: with a decimal, or with three digits below 1 Gbit/s.
func GbpsText(gbps float64) string {
	if gbps < 1 {
		return fmt.Sprintf("%.3g", gbps)
	}
	return fmt.Sprintf("%.1f", gbps)
}

// direction describes the flows that cross an element.
func (j *judge) direction(x element) string {
	kind, number, receives := j.elements.kind(x)
	switch {
	case kind == linkElement:
		return "to " + j.elements.wiring.portName(j.elements.wiring.channels.Port(number).Peer)
	case kind == switchElement:
		return "through it"
	}
	name := j.placeText(j.elements.placeOf(x))
	if receives {
		return "to " + name
	}
	return "from " + name
}

// alternatives lists the places that no flow distinguishes from the first.
func (j *judge) alternatives(b *blame) string {
	all := j.candidates(b)
	if len(all) == 1 {
		return ""
	}
	const maxNamed = 4
	more := ""
	if len(all) > maxNamed {
		all, more = all[:maxNamed], fmt.Sprintf(" and %d more", len(all)-maxNamed)
	}
	return "; one of: " + strings.Join(all, ", ") + more
}

// candidates names the places that no flow distinguishes: an end port stands for the adapter
// and its cable, unless its loopback excludes either.
func (j *judge) candidates(b *blame) (all []string) {
	own := j.loopbackOf(b)
	for i, p := range b.places {
		w := j.elements.wiring
		hasCable := p.kind == endElement && j.elements.at[p.id] >= 0 && w.Paths != FromNames
		if i > 0 || !hasCable || own == nil || own.isSlow {
			all = append(all, j.placeText(p))
		}
		if hasCable && (i > 0 || own == nil || !own.isSlow) {
			all = append(all, w.cable(w.ends[j.elements.at[p.id]].port.Peer))
		}
		if end := j.soleEnd(p); end >= 0 {
			all = append(all, j.placeText(place{endElement, end}))
		}
	}
	return all
}
