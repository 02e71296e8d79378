package serve

import (
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// The version of all MADs, and the highest of those that their classes have.
const (
	baseVersion     = 1
	maxClassVersion = 2
)

// slotShift is where in a transaction ID the server keeps the slot of the client
// that asked, as ibsim does: responses find back by it.
const slotShift = 48

// A delivery is a packet on its way to a client.
type delivery struct {
	to     *client
	due    time.Time // zero: at once
	packet ibsimproto.Packet
}

// handlePacket does with a datagram of a client what the fabric would do. The
// client's reader calls it, nobody else.
func (s *Server) handlePacket(c *client, b []byte) {
	s.received.Add(1)
	if len(b) != ibsimproto.PacketSize {
		s.malformed.Add(1)
		return
	}
	p := (*ibsimproto.Packet)(b)
	m := (*mad.Packet)(p.MAD())
	if m.Method() == mad.MethodTrapRepress {
		return // tells an agent to be quiet, and none of ours is loud
	}
	if !isWellFormed(m) {
		s.malformed.Add(1)
		return
	}
	c.out = c.out[:0]
	s.pass(c, p, m)
	s.deliver(c.out)
}

// deliver sends what is due at once, and the rest when it is.
func (s *Server) deliver(out []delivery) {
	for i := range out {
		d := &out[i]
		switch {
		case !d.due.IsZero():
			due := d.due
			d.due = time.Time{}
			s.later.Add(due, *d)
		case !d.to.send(&d.packet):
			s.overflowed.Add(1)
		}
	}
}

// isWellFormed reports whether a MAD is one that an adapter would send on.
func isWellFormed(m *mad.Packet) bool {
	h := m.Header()
	if h.BaseVersion != baseVersion || h.ClassVersion > maxClassVersion {
		return false
	}
	if h.Class != mad.ClassSMPDirected {
		return true
	}
	// The other end has got a request with the pointer behind the path.
	atStart := h.HopPointer == 0 || h.Method.IsResponse() && h.HopPointer == h.HopCount+1
	return atStart && m.Returning() == h.Method.IsResponse() && m.DrDLID() == ib.PermissiveLID
}

// pass takes a packet through the fabric, and leaves with its sender what came
// of it.
func (s *Server) pass(c *client, p *ibsimproto.Packet, m *mad.Packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[c.slot] != c {
		return
	}
	if p.SLID() == 0 {
		p.SetLIDs(p.DLID(), c.at.Info.LID)
	}
	sent := false
	if m.Method().IsResponse() {
		sent = s.respond(c, p, m)
	} else {
		m.SetTID(m.TID()&(1<<slotShift-1) | uint64(c.slot)<<slotShift)
		sent = s.request(c, p, m) || isRMPPControl(m)
	}
	if !sent {
		s.unanswered.Add(1)
		p.SetStatus(ibsimproto.StatusDropped)
		c.add(c, s.timeout(), p, m)
	}
	c.out = s.traps(c.out)
}

// timeout returns when a client is to learn that nobody answers.
func (s *Server) timeout() time.Time {
	if t := s.fabric.Model.Timeout; t > 0 {
		return time.Now().Add(t)
	}
	return time.Time{}
}

// add leaves a packet to be sent, which is p with the MAD m.
func (c *client) add(to *client, due time.Time, p *ibsimproto.Packet, m *mad.Packet) {
	c.out = append(c.out, delivery{to: to, due: due, packet: *p})
	copy(c.out[len(c.out)-1].packet.MAD(), m[:])
}

// request has a request answered by the agents of a node, or handed to a client
// to answer. It reports false where neither does.
func (s *Server) request(c *client, p *ibsimproto.Packet, m *mad.Packet) (sent bool) {
	d, ok := c.sender.Route(p.DLID(), p.DQP(), m)
	if !ok {
		return false
	}
	manager := s.managers[d.Port().Management()]
	hand := func(due time.Time, m *mad.Packet) {
		c.add(manager, due, p, m)
		if m.Class() == mad.ClassSMPDirected {
			mad := c.out[len(c.out)-1].packet.MAD()
			mad[offHopPointer] = mad[offHopCount] + 1
		}
		sent = true
	}
	if manager != nil && manager.answersFor(m) {
		c.sender.Carry(d, m, hand)
		return sent
	}
	c.sender.Exchange(d, m, func(due time.Time, r *mad.Packet, answered bool) {
		switch {
		case answered:
			reply := *p
			reply.SetLIDs(p.SLID(), p.DLID())
			reply.SetQueuePairs(p.SQP(), p.DQP())
			reply.SetStatus(0)
			reply.SetLength(length(r))
			c.add(c, due, &reply, r)
			sent = true
		case manager != nil:
			hand(due, r)
		}
	})
	return sent
}

// length returns how many bytes of a reply count: of subnet administration's
// tables, those of the records.
func length(p *mad.Packet) int {
	if h := p.RMPP(); p.Class() == mad.ClassSA && h.Flags.Has(mad.RMPPActive) {
		return min(mad.Size-mad.RMPPPayloadSize+int(h.Length), mad.Size)
	}
	return mad.Size
}

// Where directed-route packets count hops.
const (
	offHopPointer = 6
	offHopCount   = 7
)

// answersFor reports whether a client is asked before the agents of its node
// are: a subnet manager knows better than an agent what it is up to. A client
// that came to a node with a subnet manager is no other one.
func (c *client) answersFor(m *mad.Packet) bool {
	if c.hadSM {
		return false
	}
	return m.Class().IsSMP() && m.Attr() == mad.AttrSMInfo || m.Class() == mad.ClassSA
}

// respond sends a response on to the client that waits for it. It reports false
// where there is none, or none where the response goes. A directed one takes the
// way back of its request, which got there.
func (s *Server) respond(c *client, p *ibsimproto.Packet, m *mad.Packet) bool {
	asked := s.clients[uint32(m.TID()>>slotShift)]
	if asked == nil {
		return false
	}
	var d sim.Destination
	if m.Class() == mad.ClassSMPDirected {
		d = c.sender.Back(asked.at, int(m[offHopCount]))
		m[offHopPointer] = 0
	} else {
		var ok bool
		if d, ok = c.sender.Route(p.DLID(), p.DQP(), m); !ok || d.Port().Management() != asked.at {
			return false
		}
	}
	c.sender.Carry(d, m, func(due time.Time, m *mad.Packet) { c.add(asked, due, p, m) })
	return true // nobody waits for word that it was lost
}

// isRMPPControl reports whether a packet tells the sender of a long reply how
// far it has come: nobody answers those.
func isRMPPControl(m *mad.Packet) bool {
	const (
		offType, offFlags = 25, 26
		active            = 1
		data              = 1
	)
	return m.Class() == mad.ClassSA && m[offFlags]&active != 0 && m[offType] > data
}
