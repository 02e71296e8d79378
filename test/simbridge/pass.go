package main

import (
	"slices"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// A delivery is a record on its route to a host.
type delivery struct {
	to     *device
	due    time.Time // zero: immediately
	record record
}

// deliver writes records that are due and delays the others. A write error needs no
// handling: the next device read returns it as well.
func (b *Bridge) deliver(out []delivery) {
	for i := range out {
		d := &out[i]
		if due := d.due; !due.IsZero() {
			d.due = time.Time{}
			b.delayed.Add(due, *d)
			continue
		}
		_ = d.to.write(d.record)
	}
}

// handle passes a device record through the fabric. The returned deliveries are valid
// until the next call. The caller holds the lock.
func (b *Bridge) handle(d *device, r *record) []delivery {
	b.out = b.out[:0]
	if h := d.hosts[r.port()]; h != nil {
		switch r.kind() {
		case sent:
			b.forward(h, r)
		case query:
			b.answerQuery(h, r)
		case caps:
			h.add(mad.PortCapMask(r.added()))
		}
	}
	return b.addPending(b.out)
}

// addPending adds the packets that agents have sent and, in front of all other records,
// the state of ports that changed.
func (b *Bridge) addPending(out []delivery) []delivery {
	for _, t := range b.fabric.Notifications() {
		if h := b.hosts[t.To.Management()]; h != nil {
			r := newRecord(arrived, h.number)
			r.setLIDs(t.From, t.At)
			r.setQueuePairs(t.QPN)
			*r.mad() = t.MAD
			out = append(out, delivery{to: h.device, record: r})
		}
	}
	for _, h := range b.hosts {
		if h.changed() {
			out = append([]delivery{{to: h.device, record: h.describe()}}, out...)
		}
	}
	return out
}

// forward routes a datagram that left a host.
func (b *Bridge) forward(from *host, r *record) {
	m := *r.mad()
	if !from.sends(&m) {
		return // the requester times out
	}
	if m.Method().IsResponse() {
		b.forwardResponse(from, r, &m)
		return
	}
	directed := m.Class() == mad.ClassSMPDirected
	if directed {
		m[offHopPointer] = 0 // the value that agents expect
	}
	d, ok := from.sender.Route(r.dlid(), r.destQP(), &m)
	if !ok || !b.accepts(from, r) {
		return // the requester times out
	}
	to := b.hosts[d.Port().Management()]
	handOver := func(due time.Time, p *mad.Packet) {
		q := r.arrival(to.number, p)
		if directed {
			q.mad()[offHopPointer] = q.mad()[offHopCount]
		}
		b.out = append(b.out, delivery{to.device, due, q})
	}
	if to != nil && to.manages(&m) {
		from.sender.Carry(d, &m, handOver)
		return
	}
	from.sender.Exchange(d, &m, func(due time.Time, p *mad.Packet, answered bool) {
		switch {
		case answered:
			q := r.arrival(from.number, p)
			q.turn()
			if directed {
				q.mad()[offHopPointer] = min(1, q.mad()[offHopCount])
			}
			b.out = append(b.out, delivery{from.device, due, q})
		case to != nil:
			handOver(due, p)
		}
	})
}

// accepts reports whether a redirection's queue pair accepts a datagram: it must have the
// redirection's partition key and, if the redirection has a GID, a global route header
// with the GID (InfiniBand Architecture, Volume 1, 9.6.1 and 13.5.2).
func (b *Bridge) accepts(from *host, r *record) bool {
	to := b.fabric.PerfRedirect(r.destQP())
	if to == nil {
		return true
	}
	want, index := to.RedirectPKey, int(r.pkeyIndex())
	if want == 0 {
		want = mad.PKey(0xffff) // the default partition
	}
	if index >= len(from.at.PKeys) || from.at.PKeys[index].Base() != want.Base() {
		return false
	}
	return to.RedirectGID == [gidSize]uint8{} || r[offHasGRH] != 0 && [gidSize]uint8(r[offDGID:]) == to.RedirectGID
}

// Hop pointer and hop count in directed-route packets (InfiniBand Architecture, Volume 1,
// 14.2.1.2). The pointer equals the count before the last hop, and is 1 before the first
// hop on the return path.
const (
	offHopPointer = 6
	offHopCount   = 7
)

// loses reports whether a packet with a segment gets lost.
func (b *Bridge) loses(m *mad.Packet) bool {
	h := m.RMPP()
	if b.LoseEvery == 0 || !m.Class().HasRMPP() || !h.Flags.Has(mad.RMPPActive) || h.Type != mad.RMPPData {
		return false
	}
	b.segments++
	return b.segments%b.LoseEvery == 0
}

// forwardResponse routes a host's response to the requesting host. Agents send no
// requests.
func (b *Bridge) forwardResponse(from *host, r *record, m *mad.Packet) {
	route := m
	if m.Class() == mad.ClassSMPDirected {
		route = back(m)
		m[offHopPointer] = min(1, m[offHopCount])
	}
	d, ok := from.sender.Route(r.dlid(), r.destQP(), route)
	to := b.hosts[d.Port().Management()]
	if !ok || to == nil || b.loses(m) {
		return
	}
	from.sender.Carry(d, m, func(due time.Time, p *mad.Packet) {
		b.out = append(b.out, delivery{to.device, due, r.arrival(to.number, p)})
	})
}

// back returns a request that takes a response route: the ports at which the request came
// in, in reverse order.
func back(m *mad.Packet) *mad.Packet {
	path := m.ReturnPath().Ports()
	slices.Reverse(path)
	var route mad.Packet
	route.PutSMP(mad.SMPRequest{
		Method: mad.MethodGet, Directed: true, Route: mad.RouteOf(path...), DrSLID: permissive, DrDLID: permissive,
	})
	return &route
}

// answerQuery passes a query to the agents on the host's own port.
func (b *Bridge) answerQuery(h *host, r *record) {
	reply := func(due time.Time, k kind, p *mad.Packet) {
		q := newRecord(k, h.number)
		q.setCookieOf(r)
		*q.mad() = *p
		b.out = append(b.out, delivery{h.device, due, q})
	}
	m := *r.mad()
	if h.manages(&m) || !h.sends(&m) {
		reply(time.Time{}, decline, &m)
		return
	}
	d, ok := h.sender.Route(permissive, r.destQP(), &m)
	if !ok {
		return
	}
	h.sender.Exchange(d, &m, func(due time.Time, p *mad.Packet, answered bool) {
		if answered {
			reply(due, answer, p)
		} else {
			reply(due, decline, p)
		}
	})
}
