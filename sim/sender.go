package sim

import (
	"math/rand/v2"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Sender is a place in a fabric that packets are sent from. As the fabric, it
// is not safe for concurrent use.
type Sender struct {
	fabric *Fabric
	at     *Port
	chance *rand.Rand
}

// NewSender returns a place to send from. What chance does to its packets
// depends on the seed, on the port and on how often one was made for the port,
// but not on what others do.
func (f *Fabric) NewSender(at *Port) *Sender {
	if !f.inUse {
		f.begin()
	}
	f.senders[at]++
	return &Sender{
		fabric: f,
		at:     at,
		chance: rand.New(rand.NewPCG(f.Model.Seed, uint64(at.GUID)+f.senders[at]<<48)),
	}
}

// begin is what comes before the first sender. Whoever is the subnet manager now
// is the fabric's own; one that a client brings comes later.
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

// A Destination is where a packet ends.
type Destination struct {
	node  *Node
	entry uint8 // the port by which it came in
	hops  int
	from  *Port // that sent it
}

// Port returns the port by which the packet came in.
func (d Destination) Port() *Port { return &d.node.Ports[d.entry] }

// Route finds out where a packet ends that goes to a LID and queue pair or, a
// directed one, where its path leads, and fills in the path back. It reports
// false where the packet is lost on the way or the node is silent. Events of
// the fabric that are due happen before.
func (s *Sender) Route(lid ib.LID, qpn uint32, p *mad.Packet) (Destination, bool) {
	s.fabric.step()
	d, ok := s.fabric.route(s.at, lid, qpn == 0, p)
	d.from = s.at
	return d, ok && !d.node.Silent && !s.at.Node.off
}

// Back returns where the response to a request that came along a directed path
// of some hops ends: at the port that sent it.
func (s *Sender) Back(to *Port, hops int) Destination {
	return Destination{node: to.Node, entry: to.Number, hops: hops}
}

// Carry takes a packet on its way, and hands it to arrive with the time when it
// gets there: as often as it does, which may be never. The zero time is at once.
func (s *Sender) Carry(d Destination, p *mad.Packet, arrive func(time.Time, *mad.Packet)) {
	m := &s.fabric.Model
	if m.isExact() {
		arrive(time.Time{}, p)
		return
	}
	way := m.travel(s.chance, d.hops, time.Now())
	for _, at := range way.times() {
		q := *p
		arrive(m.time(at), &q)
	}
}

// time returns a time of arrival, or the zero time where nothing takes time.
func (m *Model) time(at time.Time) time.Time {
	if !m.isTimed() {
		return time.Time{}
	}
	return at
}

// Exchange takes a request to the agents of a node, and hands what comes back
// to deliver with the time when it does, as Carry does. What the agents do not
// answer is handed over as well, with false and the time when it got there. p is
// overwritten.
func (s *Sender) Exchange(d Destination, p *mad.Packet, deliver func(due time.Time, p *mad.Packet, answered bool)) {
	f := s.fabric
	if f.Model.isExact() {
		f.exchange(d, time.Time{}, p, deliver)
		return
	}
	way := f.Model.travel(s.chance, d.hops, time.Now())
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
			back := f.Model.travel(s.chance, d.hops, served)
			for _, due := range back.times() {
				deliver(f.Model.time(due), r, true)
			}
		})
	}
}

// exchange has the agents of a node answer a packet that they have taken up.
func (f *Fabric) exchange(d Destination, at time.Time, p *mad.Packet, deliver func(time.Time, *mad.Packet, bool)) {
	deliver(at, p, f.answer(d, p))
	for i := range f.more {
		deliver(at, &f.more[i], true)
	}
	f.more = f.more[:0]
}
