package mesh

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// A place is a part of the fabric that may slow flows: elements without their directions.
type place struct {
	kind elementKind
	id   int // endpoint, host, switch, or the lower channel of a link
}

// A blame is a place with the evidence against it.
type blame struct {
	places   []place // that no flow distinguishes, the likeliest first
	evidence []evidence
}

// An evidence is a pick or deficit at a place.
type evidence struct {
	metric   metric
	element  element // the direction
	flows    int     // slow flows that it explains
	crossing int     // all flows that cross it
	share    float64 // speed relative to the class
	median   float64 // of the class
	slight   bool    // a deficit: the flows are not slow
	own      bool    // of a loopback
	slow     []int32 // the flows that it explains
	probes   Count   // of a loss
}

// placeOf returns an element's place.
func (e *elements) placeOf(x element) place {
	kind, number, _ := e.kind(x)
	if kind == linkElement {
		number = min(number, e.reverse(number))
	}
	return place{kind, number}
}

// reverse returns the channel in the opposite direction of a link.
func (e *elements) reverse(channel int) int {
	peer := e.wiring.channels.Port(channel).Peer
	if peer == nil {
		return channel
	}
	if back, ok := e.wiring.channels.Of(peer); ok {
		return back
	}
	return channel
}

// places returns the places of elements, the smallest part first.
func (e *elements) places(all []element) []place {
	var places []place
	for _, x := range all {
		if p := e.placeOf(x); !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return int(a.kind) - int(b.kind) })
	return places
}

// port returns the port that an element's subject names: a link's output port in its
// direction, or an end port; nil if there is none.
func (e *elements) port(x element) *route.Port {
	switch kind, number, _ := e.kind(x); kind {
	case linkElement:
		return e.wiring.channels.Port(number)
	case endElement:
		if at := e.at[number]; at >= 0 && e.wiring.Paths != FromNames {
			return e.wiring.ends[at].port
		}
	}
	return nil
}

// placeText describes a place as an alternative to others.
func (j *judge) placeText(p place) string {
	w := j.elements.wiring
	switch p.kind {
	case linkElement:
		return w.cable(w.channels.Port(p.id))
	case hostElement:
		return w.hosts[p.id].name
	case switchElement:
		return w.nodeName(w.channels.Switches()[p.id])
	}
	return j.endpoint(int32(p.id))
}

// cable names a cable by its ends.
func (w *Wiring) cable(p *route.Port) string {
	if p.Peer == nil {
		return "cable " + w.portName(p)
	}
	return fmt.Sprintf("cable %s - %s", w.portName(p), w.portName(p.Peer))
}

// endpoint names an endpoint: its node, the port of a node with several, or the name in the
// results if the fabric lacks it.
func (j *judge) endpoint(i int32) string {
	at := j.elements.at[i]
	if at < 0 {
		return j.endpoints[i]
	}
	e := &j.elements.wiring.ends[at]
	if e.port.Number > 1 || len(e.port.Node.Ports) > 2 {
		return j.elements.wiring.portName(e.port)
	}
	return e.label
}

// addBlame merges picks and deficits by their places.
func (j *judge) addBlame(places []place, add ...evidence) {
	for _, b := range j.blames {
		if slices.Equal(b.places, places) {
			b.evidence = append(b.evidence, add...)
			return
		}
	}
	j.blames = append(j.blames, &blame{places, add})
}
