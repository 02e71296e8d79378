package bridge

import (
	"slices"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// A delivery is a record on its way to a host.
type delivery struct {
	to     *device
	due    time.Time // zero: at once
	record record
}

// deliver writes what is due at once, and keeps the rest until it is. A device
// that cannot be written to is about to be read from, which says so too.
func (b *Bridge) deliver(out []delivery) {
	for i := range out {
		d := &out[i]
		if due := d.due; !due.IsZero() {
			d.due = time.Time{}
			b.later.Add(due, *d)
			continue
		}
		_ = d.to.write(d.record)
	}
}

// handle takes a record of a device through the fabric and returns what comes of
// it, which is valid until the next one. The caller holds the lock.
func (b *Bridge) handle(d *device, r *record) []delivery {
	b.out = b.out[:0]
	if h := d.hosts[r.port()]; h != nil {
		switch r.kind() {
		case sent:
			b.pass(h, r)
		case query:
			b.ask(h, r)
		case caps:
			h.add(mad.PortCapMask(r.added()))
		}
	}
	return b.settle(b.out)
}

// settle adds what the kernel has to know of ports that changed, before what
// comes of the change, and the traps that agents have sent.
func (b *Bridge) settle(out []delivery) []delivery {
	for _, t := range b.fabric.Traps() {
		if h := b.hosts[t.To.Management()]; h != nil {
			r := newRecord(arrived, h.number)
			r.setLIDs(t.From, t.At)
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

// pass takes a datagram that left a host to where it goes.
func (b *Bridge) pass(from *host, r *record) {
	m := *r.mad()
	if m.Method().IsResponse() {
		b.respond(from, r, &m)
		return
	}
	directed := m.Class() == mad.ClassSMPDirected
	if directed {
		m[offHopPointer] = 0 // where agents look at it
	}
	d, ok := from.sender.Route(r.dlid(), r.destQP(), &m)
	if !ok {
		return // who asked has to lose patience
	}
	to := b.hosts[d.Port().Management()]
	hand := func(due time.Time, p *mad.Packet) {
		q := r.arrival(to.number, p)
		if directed {
			q.mad()[offHopPointer] = q.mad()[offHopCount]
		}
		b.out = append(b.out, delivery{to.device, due, q})
	}
	if to != nil && to.manages(&m) {
		from.sender.Carry(d, &m, hand)
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
			hand(due, p)
		}
	})
}

// Where directed-route packets count hops (InfiniBand Architecture, Volume 1,
// 14.2.1.2). Before the last hop the pointer is the count, before the first one
// on the way back it is 1.
const (
	offHopPointer = 6
	offHopCount   = 7
)

// respond takes a host's response to the host that asked. Agents never ask.
func (b *Bridge) respond(from *host, r *record, m *mad.Packet) {
	way := m
	if m.Class() == mad.ClassSMPDirected {
		way = back(m)
		m[offHopPointer] = min(1, m[offHopCount])
	}
	d, ok := from.sender.Route(r.dlid(), r.destQP(), way)
	to := b.hosts[d.Port().Management()]
	if !ok || to == nil {
		return
	}
	from.sender.Carry(d, m, func(due time.Time, p *mad.Packet) {
		b.out = append(b.out, delivery{to.device, due, r.arrival(to.number, p)})
	})
}

// back returns a request that goes the way that a response takes: by the ports
// at which its request came in, the last one first.
func back(m *mad.Packet) *mad.Packet {
	path := []byte(m.ReturnPath())
	slices.Reverse(path)
	var way mad.Packet
	way.PutSMP(mad.SMPRequest{
		Method: mad.MethodGet, Directed: true, Route: mad.Route(path), DrSLID: permissive, DrDLID: permissive,
	})
	return &way
}

// ask has the agents of a host's own port answer it.
func (b *Bridge) ask(h *host, r *record) {
	give := func(due time.Time, k kind, p *mad.Packet) {
		q := newRecord(k, h.number)
		q.setCookieOf(r)
		*q.mad() = *p
		b.out = append(b.out, delivery{h.device, due, q})
	}
	m := *r.mad()
	if h.manages(&m) {
		give(time.Time{}, decline, &m)
		return
	}
	d, ok := h.sender.Route(permissive, r.destQP(), &m)
	if !ok {
		return
	}
	h.sender.Exchange(d, &m, func(due time.Time, p *mad.Packet, answered bool) {
		if answered {
			give(due, answer, p)
		} else {
			give(due, decline, p)
		}
	})
}
