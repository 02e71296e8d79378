package mesh

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
)

// reportFailed adds the findings about flows without a figure.
func (j *judge) reportFailed() {
	t := j.reachable
	var blames []*blame
	for _, p := range t.picks {
		places, e := j.elements.places(p.elements), j.evidenceOf(t, p.elements, p.flows)
		i := slices.IndexFunc(blames, func(b *blame) bool { return slices.Equal(b.places, places) })
		if i < 0 {
			blames = append(blames, &blame{places: places, evidence: []evidence{e}})
			continue
		}
		blames[i].evidence = append(blames[i].evidence, e)
	}
	j.failed = blames
	for _, b := range blames {
		j.reportUnreachable(b)
	}
	for _, i := range t.unexplained() {
		if j.lossy[t.slow[i].flow] {
			continue
		}
		f := &j.results.Flows[t.slow[i].flow]
		j.addPair(report.Unreachable, noMetric, f, "the flow has no figure, although others to and from both ends have"+j.reasonText([]int32{t.slow[i].flow}))
	}
}

// reportUnreachable adds the finding about a place without figures. An inactive link is the
// reason; otherwise, other places may be.
func (j *judge) reportUnreachable(b *blame) {
	text := j.failedText(b)
	if reason := j.elements.wiring.inactiveText(j.elements.port(b.evidence[0].element)); reason != "" {
		f := j.finding(report.Unreachable, b, text+"; "+reason)
		f.Data.(*FindingData).certain = false
		f.Hint = "ibkit check fabric --only links"
		j.add(f)
		return
	}
	kind := report.Unreachable
	if j.isSilent(b.places[0]) {
		kind = report.Hung
	}
	j.add(j.finding(kind, b, text+j.alternatives(b)))
}

// isSilent reports whether no flow from or to a host has a figure.
func (j *judge) isSilent(p place) bool {
	t, x := j.reachable, element(0)
	switch p.kind {
	case endElement:
		x = j.elements.send(int32(p.id))
	case hostElement:
		x = j.elements.hosts + 2*element(p.id)
	default:
		return false
	}
	return t.best[x] == 0 && t.best[x+1] == 0
}

// failedText describes failed flows.
func (j *judge) failedText(b *blame) string {
	var parts []string
	for _, e := range b.evidence {
		parts = append(parts, j.flowsText(&e))
	}
	return strings.Join(parts, " and ") + " have no figure" + j.reasonText(b.evidence[0].slow)
}

// Inactive describes the links that carry no data: no flow over them has a figure.
func (w *Wiring) Inactive() (links []string) {
	for c := range w.channels.Count() {
		p := w.channels.Port(c)
		text := w.inactiveText(p)
		if text == "" {
			continue
		}
		if back, ok := w.channels.Of(p.Peer); !ok || back > c { // each link between switches once
			links = append(links, text)
		}
	}
	return links
}

// inactiveText describes a port's link if it carries no data.
func (w *Wiring) inactiveText(p *route.Port) string {
	if p == nil || p.Peer == nil || p.Inactive() == nil {
		return ""
	}
	at := p.Inactive()
	return fmt.Sprintf("the link of %s to %s is not active (%v)", w.portName(at), w.portName(at.Peer), at.State)
}

// reasonText returns the first reason of failed flows.
func (j *judge) reasonText(flows []int32) string {
	for _, i := range flows {
		f := &j.results.Flows[i]
		if reason := j.results.reasons[[2]string{j.endpoints[f.From], j.endpoints[f.To]}]; reason != "" {
			return ": " + reason
		}
	}
	return ""
}
