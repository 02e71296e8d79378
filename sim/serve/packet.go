package serve

import (
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// The base version in all MADs and the highest class version.
const (
	baseVersion     = 1
	maxClassVersion = 2
)

// slotShift is the requester slot's position in a transaction ID, as in ibsim. Responses
// are returned to this slot.
const slotShift = 48

// A delivery is a packet to a client.
type delivery struct {
	to     *client
	due    time.Time // zero: immediately
	packet ibsimproto.Packet
}

// handlePacket handles a packet from a client. Only the client's reader calls it.
func (s *Server) handlePacket(c *client, b []byte) {
	s.received.Add(1)
	if len(b) != ibsimproto.PacketSize {
		s.malformed.Add(1)
		return
	}
	p := (*ibsimproto.Packet)(b)
	m := (*mad.Packet)(p.MAD())
	if !isWellFormed(m) {
		s.malformed.Add(1)
		return
	}
	c.out = c.out[:0]
	s.forward(c, p, m)
	s.deliver(c.out)
}

// deliver sends the packets that are due and delays the others.
func (s *Server) deliver(out []delivery) {
	for i := range out {
		d := &out[i]
		switch {
		case !d.due.IsZero():
			due := d.due
			d.due = time.Time{}
			s.delayed.Add(due, *d)
		case !d.to.send(&d.packet):
			s.overflowed.Add(1)
		}
	}
}

// isWellFormed reports whether an adapter would forward a MAD.
func isWellFormed(m *mad.Packet) bool {
	h := m.Header()
	if h.BaseVersion != baseVersion || h.ClassVersion > maxClassVersion {
		return false
	}
	if h.Class != mad.ClassSMPDirected {
		return true
	}
	// Clients receive a request with the hop pointer after the path.
	atStart := h.HopPointer == 0 || h.Method.IsResponse() && h.HopPointer == h.HopCount+1
	return atStart && m.Returning() == h.Method.IsResponse() && m.DrDLID() == ib.PermissiveLID
}

// forward passes a packet through the fabric and adds the results to the client's output.
func (s *Server) forward(c *client, p *ibsimproto.Packet, m *mad.Packet) {
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
		sent = s.forwardResponse(c, p, m)
	} else {
		m.SetTID(m.TID()&(1<<slotShift-1) | uint64(c.slot)<<slotShift)
		sent = s.request(c, p, m) || isRMPPControl(m)
	}
	if !sent && m.Method() != mad.MethodTrapRepress { // agents do not repeat traps
		s.unanswered.Add(1)
		p.SetStatus(ibsimproto.StatusDropped)
		c.add(c, s.timeout(), p, m)
	}
	c.out = s.notifications(c.out)
}

// timeout returns the time when a client is notified of a lost request.
func (s *Server) timeout() time.Time {
	if t := s.fabric.Model.Timeout; t > 0 {
		return time.Now().Add(t)
	}
	return time.Time{}
}

// add adds a packet with p's header and the MAD m to the output.
func (c *client) add(to *client, due time.Time, p *ibsimproto.Packet, m *mad.Packet) {
	c.out = append(c.out, delivery{to: to, due: due, packet: *p})
	copy(c.out[len(c.out)-1].packet.MAD(), m[:])
}

// request passes a request to a node's agents or to a client. It reports false if
// neither answers.
func (s *Server) request(c *client, p *ibsimproto.Packet, m *mad.Packet) (sent bool) {
	d, ok := c.sender.Route(p.DLID(), p.DQP(), m)
	if !ok {
		return false
	}
	manager := s.managers[d.Port().Management()]
	handOver := func(due time.Time, m *mad.Packet) {
		c.add(manager, due, p, m)
		if m.Class() == mad.ClassSMPDirected {
			mad := c.out[len(c.out)-1].packet.MAD()
			mad[offHopPointer] = mad[offHopCount] + 1
		}
		sent = true
	}
	if manager != nil && manager.takesFirst(m) {
		c.sender.Carry(d, m, handOver)
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
			handOver(due, r)
		}
	})
	return sent
}

// length returns the number of valid bytes in a reply. A subnet administration table that
// is cut to one packet contains the table length.
func length(p *mad.Packet) int {
	if h := p.RMPP(); p.Class() == mad.ClassSA && h.Flags.Has(mad.RMPPActive) && h.Type == mad.RMPPNone {
		return min(mad.Size-mad.RMPPPayloadSize+int(h.Length), mad.Size)
	}
	return mad.Size
}

// Offsets in directed-route packets.
const (
	offHopPointer = 6
	offHopCount   = 7
)

// takesFirst reports whether a request goes to the client before the node's agents: a
// request for a subnet manager, unless the fabric's own runs at the node.
func (c *client) takesFirst(m *mad.Packet) bool {
	if c.hadSM {
		return false
	}
	return m.Class().IsSMP() && m.Attr() == mad.AttrSMInfo || m.Class() == mad.ClassSA
}

// forwardResponse passes a response to the client with the request. It reports false if
// there is no such client or no route to it. The response to a directed-route request
// returns by the request's route.
func (s *Server) forwardResponse(c *client, p *ibsimproto.Packet, m *mad.Packet) bool {
	requester := s.clients[uint32(m.TID()>>slotShift)]
	if requester == nil {
		return false
	}
	var d sim.Destination
	if m.Class() == mad.ClassSMPDirected {
		d = c.sender.Back(requester.at, int(m[offHopCount]))
		m[offHopPointer] = 0
	} else {
		var ok bool
		if d, ok = c.sender.Route(p.DLID(), p.DQP(), m); !ok || d.Port().Management() != requester.at {
			return false
		}
	}
	c.sender.Carry(d, m, func(due time.Time, m *mad.Packet) { c.add(requester, due, p, m) })
	return true // response loss is not reported
}

// isRMPPControl reports whether a packet is an RMPP acknowledgement, stop or abort, which
// may have no reply.
func isRMPPControl(m *mad.Packet) bool {
	const (
		offType, offFlags = 25, 26
		active            = 1
		data              = 1
	)
	return m.Class() == mad.ClassSA && m[offFlags]&active != 0 && m[offType] > data
}
