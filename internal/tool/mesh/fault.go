package mesh

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/internal/tool/route"
)

// A Fault is a planted fault: a part of the fabric that is slow, or a host without
// figures.
type Fault struct {
	Subject string  `json:"subject"` // as in findings
	Share   float64 `json:"share"`   // speed; 1: full
	Micros  float64 `json:"delay_us"`
	Hangs   bool    `json:"hangs"`   // no flow from or to the host has a figure
	Missing bool    `json:"missing"` // no results from or to the host

	elements []element
	hosts    []int32 // end ports of hosts that are slow themselves, not only their cables
}

// faultForms describes the faults that [ParseFault] parses.
const faultForms = "SUBJECT=60%, SUBJECT=+2us, HOST=hang or HOST=missing"

// ParseFault parses a fault: a host, a switch, or a port, which stands for the direction
// that it sends in, and after an equals sign the speed as "60%", a delay as "+2us", "hang"
// or "missing".
func (w *Wiring) ParseFault(text string) (Fault, error) {
	i := strings.LastIndexByte(text, '=')
	if i < 1 {
		return Fault{}, fmt.Errorf("got %q, want %s", text, faultForms)
	}
	f := Fault{Subject: text[:i], Share: 1}
	switch value := text[i+1:]; {
	case value == "hang":
		f.Hangs = true
	case value == "missing":
		f.Missing = true
	case strings.HasSuffix(value, "%"):
		v, err := strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
		if err != nil || !(v > 0 && v <= 100) {
			return f, fmt.Errorf("fault %q: got %q, want a speed above 0%% up to 100%%", text, value)
		}
		f.Share = v / 100
	case strings.HasPrefix(value, "+") && strings.HasSuffix(value, "us"):
		v, err := strconv.ParseFloat(strings.TrimSuffix(value[1:], "us"), 64)
		if err != nil || !(v > 0 && v < 1e6) {
			return f, fmt.Errorf("fault %q: got %q, want a delay such as +2us", text, value)
		}
		f.Micros = v
	default:
		return f, fmt.Errorf("fault %q: got %q, want %s", text, value, faultForms)
	}
	return f, w.place(&f)
}

// place finds a fault's elements, numbered for all end ports of the fabric.
func (w *Wiring) place(f *Fault) error {
	e := w.allElements()
	isHost := false
	if found := w.byName[f.Subject]; len(found) > 0 {
		_, number, isPort := fabric.CutPort(f.Subject)
		for _, end := range found {
			f.elements = append(f.elements, e.send(end))
			if !isPort || number != int(w.ends[end].port.Number) {
				f.elements, isHost = append(f.elements, e.send(end)+1), true
				f.hosts = append(f.hosts, end)
			}
		}
	} else {
		w.placeAtSwitch(f, e)
	}
	switch {
	case len(f.elements) == 0 && !w.hasNode(f.Subject):
		return w.notFound(f.Subject)
	case len(f.elements) == 0:
		return fmt.Errorf("fault %q: no host, switch or linked port has this name", f.Subject)
	case (f.Hangs || f.Missing) && !isHost:
		return fmt.Errorf("fault %q: got a port or switch, want a host", f.Subject)
	}
	return nil
}

// hasNode reports whether a node has a subject's name, or a port's name begins with it.
func (w *Wiring) hasNode(subject string) bool {
	node, _, _ := fabric.CutPort(subject)
	return slices.ContainsFunc(w.routing.Nodes, func(n *route.Node) bool { name := w.nodeName(n); return name == subject || name == node })
}

// notFound returns the error for a name that no node has.
func (w *Wiring) notFound(name string) error {
	names := make([]string, len(w.routing.Nodes))
	for i, n := range w.routing.Nodes {
		names[i] = w.nodeName(n)
	}
	return lookup.NotFound(lookup.Address{Kind: lookup.Name, Name: name, Text: name}, lookup.FromScan, names, lookup.Gap{})
}

// placeAtSwitch finds the elements of a switch, or of a switch port.
func (w *Wiring) placeAtSwitch(f *Fault, e *elements) {
	name, number, isPort := fabric.CutPort(f.Subject)
	for s, n := range w.channels.Switches() {
		switch label := w.nodeName(n); {
		case label == f.Subject:
			f.elements = append(f.elements, e.switches+element(s))
		case isPort && label == name && number < len(n.Ports) && n.Ports[number].Peer != nil:
			port := &n.Ports[number]
			if end, ok := w.channels.EndOf(port.Peer); ok {
				f.elements = append(f.elements, e.send(int32(end))+1)
			} else if c, ok := w.channels.Of(port); ok && w.isFabricLink(c) {
				f.elements = append(f.elements, element(c))
			}
		}
	}
}

// allElements numbers the elements with all end ports as endpoints.
func (w *Wiring) allElements() *elements {
	at := make([]int32, len(w.ends))
	for i := range at {
		at[i] = int32(i)
	}
	return newElements(w, at, false)
}

// The speeds of faults that [Wiring.Plant] plants.
const (
	slowestFault = 0.30
	fastestFault = 0.85
)

// Plant returns faults at random places, which the seed determines: end ports that send or
// receive slowly, and links between switches that are slow in a direction.
func (w *Wiring) Plant(count int, seed uint64) (faults []Fault) {
	e, r := w.allElements(), rand.New(rand.NewPCG(seed, 1))
	var places []element
	for i := range w.ends {
		if w.ends[i].expected() {
			places = append(places, e.send(int32(i)), e.send(int32(i))+1)
		}
	}
	for c := range w.channels.Count() {
		if w.isFabricLink(c) {
			places = append(places, element(c))
		}
	}
	r.Shuffle(len(places), func(i, k int) { places[i], places[k] = places[k], places[i] })
	for _, x := range places[:min(count, len(places))] {
		share := slowestFault + (fastestFault-slowestFault)*r.Float64()
		faults = append(faults, Fault{Subject: w.faultSubject(e, x), Share: float64(int(1000*share)) / 1000, elements: []element{x}})
	}
	return faults
}

// faultSubject names the output port of an element.
func (w *Wiring) faultSubject(e *elements, x element) string {
	kind, number, receives := e.kind(x)
	switch {
	case kind == linkElement:
		return w.portName(w.channels.Port(number))
	case receives:
		return w.portName(w.ends[number].port.Peer)
	}
	return w.portName(w.ends[number].port)
}
