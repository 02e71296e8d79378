package mesh

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/plural"
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
	for _, b := range blames {
		kind := report.Unreachable
		if j.isSilent(b.places[0]) {
			kind = report.Hung
		}
		j.add(j.finding(kind, b, j.failedText(b)))
	}
	for _, i := range t.unexplained() {
		j.addPair(report.Unreachable, &j.results.Flows[t.slow[i].flow], "the flow has no figure, although others to and from both ends have")
	}
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
		parts = append(parts, fmt.Sprintf("%d of %s %s have no figure", e.flows, plural.Count(e.crossing, "flow", "flows"), j.direction(e.element)))
	}
	return strings.Join(parts, ", ") + j.alternatives(b)
}
