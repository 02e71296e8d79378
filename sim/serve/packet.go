package serve

import (
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// The version of all MADs, and the highest of those that their classes have.
const (
	baseVersion     = 1
	maxClassVersion = 2
)

// slotShift is where in a transaction ID the server keeps the slot of the client
// that asked, as ibsim does: responses find back by it.
const slotShift = 48

// handlePacket does with a datagram of a client what the fabric would do.
func (s *Server) handlePacket(c *client, b []byte) {
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
	if to := s.pass(c, p, m); to != nil && !to.send(p) {
		s.overflowed.Add(1)
	}
}

// pass takes a packet through the fabric and returns who is to have what became
// of it.
func (s *Server) pass(c *client, p *ibsimproto.Packet, m *mad.Packet) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[c.slot] != c {
		return nil
	}
	if p.SLID() == 0 {
		p.SetLIDs(p.DLID(), c.at.Info.LID)
	}
	to := s.reply
	if !m.Method().IsResponse() {
		m.SetTID(m.TID()&(1<<slotShift-1) | uint64(c.slot)<<slotShift)
		to = s.request
	}
	if receiver := to(c, p, m); receiver != nil {
		return receiver
	}
	s.unanswered.Add(1)
	p.SetStatus(ibsimproto.StatusDropped)
	return c
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
	return h.HopPointer == 0 && m.Returning() == h.Method.IsResponse() && m.DrDLID() == umad.PermissiveLID
}

// request makes a request into its reply, or leaves it for a client to answer.
// It returns who is to have the packet; nil: nobody answers.
func (s *Server) request(c *client, p *ibsimproto.Packet, m *mad.Packet) *client {
	at := s.reach(c, p, m)
	if at == nil {
		return nil
	}
	manager := s.managers[at.Management()]
	// Whoever is the subnet manager knows better than the agent what it is up
	// to.
	if manager != nil && m.Class().IsSMP() && m.Attr() == mad.AttrSMInfo {
		return manager
	}
	if !s.fabric.Answer(at, m) {
		return manager
	}
	p.SetLIDs(p.SLID(), p.DLID())
	p.SetQueuePairs(p.SQP(), p.DQP())
	p.SetStatus(0)
	return c
}

// reply returns the client that waits for a response; nil where there is none,
// or none where the response goes. A directed one takes the way back of its
// request, which got there.
func (s *Server) reply(c *client, p *ibsimproto.Packet, m *mad.Packet) *client {
	asked := s.clients[uint32(m.TID()>>slotShift)]
	if asked == nil || m.Class() == mad.ClassSMPDirected {
		return asked
	}
	if at := s.reach(c, p, m); at == nil || at.Management() != asked.at {
		return nil
	}
	return asked
}

// reach returns where a client's packet ends.
func (s *Server) reach(c *client, p *ibsimproto.Packet, m *mad.Packet) *sim.Port {
	return s.fabric.Reach(c.at, &umad.Message{Addr: umad.Addr{LID: p.DLID(), QPN: p.DQP()}, MAD: *m})
}
