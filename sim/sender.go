package sim

import (
	"math/rand/v2"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Sender sends packets from a fabric port. It must not be used concurrently with the fabric.
type Sender struct {
	fabric *Fabric
	at     *Port
	rng    *rand.Rand
}

// NewSender returns a sender at a port. Random losses and delays depend on the seed, the
// port and how many senders were made for the port before, but not on other senders.
func (f *Fabric) NewSender(at *Port) *Sender {
	if !f.inUse {
		f.begin()
	}
	f.senders[at]++
	return &Sender{
		fabric: f,
		at:     at,
		rng:    rand.New(rand.NewPCG(f.Model.Seed, uint64(at.GUID)+f.senders[at]<<48)),
	}
}

// begin prepares the fabric for its first sender. The current subnet manager is the
// fabric's own; clients may start others later.
func (f *Fabric) begin() {
	f.inUse = true
	f.senders = map[*Port]uint64{}
	for _, n := range f.Nodes {
		for i := range n.Ports {
			if p := &n.Ports[i]; p.Info.CapMask.Has(mad.CapSM) && p.Info.LID == p.Info.SMLID {
				f.master = p
			}
		}
	}
}

// A Destination is the end of a packet's path.
type Destination struct {
	node  *Node
	entry uint8 // port at which the packet arrives
	hops  int
	from  *Port // sender
	qpn   uint32
}

// Port returns the port at which the packet arrives.
func (d Destination) Port() *Port { return &d.node.Ports[d.entry] }

// Route returns the destination for a packet to a LID and queue pair, or along its directed
// route, and fills in the return path. It reports false if the packet is lost or the node
// is silent. Due events are applied first.
func (s *Sender) Route(lid ib.LID, qpn uint32, p *mad.Packet) (Destination, bool) {
	s.fabric.step()
	d, ok := s.fabric.route(s.at, lid, qpn == 0, p)
	d.from, d.qpn = s.at, qpn
	return d, ok && !d.node.Silent && !s.at.Node.off
}

// Back returns the destination for the response to a directed-route request: the
// requester's port.
func (s *Sender) Back(to *Port, hops int) Destination {
	return Destination{node: to.Node, entry: to.Number, hops: hops}
}

// Carry delivers a packet: arrive is called with each arrival time, which can be never,
// once or twice. The zero time means immediately.
func (s *Sender) Carry(d Destination, p *mad.Packet, arrive func(time.Time, *mad.Packet)) {
	m := &s.fabric.Model
	if m.isExact() {
		arrive(time.Time{}, p)
		return
	}
	way := m.travel(s.rng, d.hops, time.Now())
	for _, at := range way.times() {
		q := *p
		arrive(m.time(at), &q)
	}
}

// time returns an arrival time, or the zero time if the model has no delays.
func (m *Model) time(at time.Time) time.Time {
	if !m.isTimed() {
		return time.Time{}
	}
	return at
}

// Exchange passes a request to a node's agents. deliver is called with each reply and the
// arrival time, as in Carry. If no agent answers, deliver is called with the request, the
// request's arrival time and false. Exchange overwrites p.
func (s *Sender) Exchange(d Destination, p *mad.Packet, deliver func(due time.Time, p *mad.Packet, answered bool)) {
	f := s.fabric
	if f.Model.isExact() {
		f.exchange(d, time.Time{}, p, deliver)
		return
	}
	way := f.Model.travel(s.rng, d.hops, time.Now())
	for _, at := range way.times() {
		served, ok := f.Model.serve(d.node, at)
		if !ok {
			continue
		}
		q := *p
		f.exchange(d, served, &q, func(served time.Time, r *mad.Packet, answered bool) {
			if !answered {
				deliver(f.Model.time(at), r, false)
				return
			}
			back := f.Model.travel(s.rng, d.hops, served)
			for _, due := range back.times() {
				if d.node.perf.late == 0 {
					due = f.Model.time(due)
				}
				deliver(due, r, true)
			}
		})
	}
}

// exchange lets a node's agents answer a packet.
func (f *Fabric) exchange(d Destination, at time.Time, p *mad.Packet, deliver func(time.Time, *mad.Packet, bool)) {
	if late := d.node.perf.late; late > 0 && p.Class() == mad.ClassPM {
		if at.IsZero() {
			at = time.Now()
		}
		at = at.Add(late)
	}
	deliver(at, p, f.answer(d, p))
	for i := range f.extra {
		deliver(at, &f.extra[i], true)
	}
	f.extra = f.extra[:0]
}
