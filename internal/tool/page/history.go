package page

import (
	"math"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/top"
)

// historyLength is the sweep count that a history keeps. A port takes 6 bytes for each.
const historyLength = 60

// A history is ports' rates in the last sweeps, in rings.
type history struct {
	times [historyLength]time.Time
	sweep int // number of the last sweep, from 1
	ports map[portKey]*track
}

// A portKey identifies a port in all sweeps.
type portKey struct {
	guid ib.GUID
	port uint8
}

// A track is a port's rates by sweep number modulo historyLength.
type track struct {
	last   int // sweep with the port
	points [historyLength]point
}

// A point is a port's rates in a sweep: the upper halves of float32 values, with a precision
// of 8 bits.
type point struct{ errors, wait, transmit uint16 }

func upper(v float32) uint16 { return uint16(math.Float32bits(v) >> 16) }
func whole(v uint16) float32 { return math.Float32frombits(uint32(v) << 16) }

var (
	unknown      = float32(math.NaN())
	unknownPoint = point{upper(unknown), upper(unknown), upper(unknown)}
)

// add adds a sweep. It forgets ports that no sweep has any more.
func (h *history) add(s *top.Sample) {
	if h.ports == nil {
		h.ports = make(map[portKey]*track, len(s.Ports))
	}
	h.sweep++
	at := h.sweep % historyLength
	h.times[at] = s.Time
	for i := range s.Ports {
		p := &s.Ports[i]
		k := portKey{p.Port.Node.GUID, p.Number}
		t := h.ports[k]
		if t == nil {
			t = &track{last: max(h.sweep-historyLength, 0)}
			h.ports[k] = t
		}
		for n := max(t.last, h.sweep-historyLength) + 1; n < h.sweep; n++ { // sweeps without the port
			t.points[n%historyLength] = unknownPoint
		}
		v := s.Values[i]
		t.last, t.points[at] = h.sweep, point{upper(v.Errors), upper(v.Wait), upper(v.Xmit)}
	}
	for k, t := range h.ports {
		if t.last <= h.sweep-historyLength {
			delete(h.ports, k)
		}
	}
}

// of returns a port's values in all sweeps, the oldest first, NaN if unknown.
func (h *history) of(guid ib.GUID, port uint8) []top.Point {
	t := h.ports[portKey{guid, port}]
	var all []top.Point
	for n := max(1, h.sweep-historyLength+1); n <= h.sweep; n++ {
		from := unknownPoint
		if t != nil && n <= t.last {
			from = t.points[n%historyLength]
		}
		v := top.Value{Errors: whole(from.errors), Xmit: whole(from.transmit), Rcv: unknown, Wait: whole(from.wait)}
		all = append(all, top.Point{Time: h.times[n%historyLength], Value: v})
	}
	return all
}
