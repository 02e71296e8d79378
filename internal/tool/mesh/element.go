package mesh

import "slices"

// An element is a directed part of paths: a link between switches, a switch, an end port
// that sends or receives, with its cable, or a host with several end ports that does.
type element int32

// elements numbers the elements: links by channel, then switches, end ports, hosts.
type elements struct {
	wiring   *Wiring
	at       []int32 // end port by endpoint; -1: unknown
	host     []int32 // host with several end ports by endpoint; -1: none
	switches element // the first switch
	ends     element // the first endpoint: it sends, the next element receives
	hosts    element
	count    element
	mutual   bool
	path     []int32
}

// newElements numbers the elements for endpoints, given their end ports.
func newElements(w *Wiring, at []int32, mutual bool) *elements {
	e := &elements{wiring: w, at: at, mutual: mutual}
	e.switches = element(w.channels.Count())
	e.ends = e.switches + element(len(w.channels.Switches()))
	e.hosts = e.ends + 2*element(len(at))
	e.count = e.hosts + 2*element(len(w.hosts))
	for _, end := range at {
		host := int32(-1)
		if end >= 0 && len(w.hosts[w.ends[end].host].ends) > 1 {
			host = w.ends[end].host
		}
		e.host = append(e.host, host)
	}
	return e
}

// An elementKind is a kind of element.
type elementKind uint8

const (
	linkElement elementKind = iota
	endElement
	hostElement
	switchElement
)

// kind returns an element's kind and its number: a channel, switch, endpoint or host.
func (e *elements) kind(x element) (kind elementKind, number int, receives bool) {
	switch {
	case x < e.switches:
		return linkElement, int(x), false
	case x < e.ends:
		return switchElement, int(x - e.switches), false
	case x < e.hosts:
		return endElement, int(x-e.ends) / 2, (x-e.ends)%2 == 1
	}
	return hostElement, int(x-e.hosts) / 2, (x-e.hosts)%2 == 1
}

func (e *elements) send(endpoint int32) element { return e.ends + 2*element(endpoint) }

// of appends the elements on a flow's path. known is false if the links are unknown.
func (e *elements) of(b []element, f *Flow) (all []element, known bool) {
	first := len(b)
	b, known = e.direction(b, f.From, f.To)
	if !e.mutual || !known {
		return b, known
	}
	b, known = e.direction(b, f.To, f.From)
	slices.Sort(b[first:]) // switches are on the path there and back
	return b[:first+len(slices.Compact(b[first:]))], known
}

// direction appends the elements from one endpoint to another. A loopback crosses none.
func (e *elements) direction(b []element, from, to int32) ([]element, bool) {
	if from == to {
		return b, true
	}
	b = append(b, e.send(from), e.send(to)+1)
	if host := e.host[from]; host >= 0 {
		b = append(b, e.hosts+2*element(host))
	}
	if host := e.host[to]; host >= 0 {
		b = append(b, e.hosts+2*element(host)+1)
	}
	a, z := e.at[from], e.at[to]
	if a < 0 || z < 0 {
		return b, false
	}
	switch e.wiring.Paths {
	case FromNames:
		if e.wiring.grouped {
			b = append(b, e.switches+element(e.wiring.channels.At(int(a))), e.switches+element(e.wiring.channels.At(int(z))))
		}
		return b, true
	case FromShortest:
		return e.common(b, int(a), int(z))
	}
	path, ok := e.wiring.channels.Path(e.path[:0], int(a), int(z))
	e.path = path
	if !ok {
		return b, false
	}
	b = append(b, e.switches+element(e.wiring.channels.At(int(a))))
	for _, channel := range path {
		b = append(b, element(channel), e.switches+element(e.wiring.channels.Ahead(int(channel))))
	}
	return b, true
}

// common appends the elements that all shortest paths share.
func (e *elements) common(b []element, from, to int) ([]element, bool) {
	w := e.wiring
	c := w.shortest.Common(w.channels.At(from), w.channels.At(to))
	for _, channel := range c.Channels {
		b = append(b, element(channel))
	}
	for _, s := range c.Switches {
		b = append(b, e.switches+element(s))
	}
	return b, c.Links >= 0
}

// hops returns the link count between the switches of a flow's ends, -1 if it is unknown.
// b holds the flow's elements.
func (e *elements) hops(f *Flow, b []element, known bool) int {
	if !known {
		return -1
	}
	if e.wiring.Paths == FromShortest {
		w := e.wiring
		return w.shortest.Common(w.channels.At(int(e.at[f.From])), w.channels.At(int(e.at[f.To]))).Links
	}
	links := 0
	for _, x := range b {
		if x < e.switches {
			links++
		}
	}
	return links
}
