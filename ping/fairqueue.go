package ping

import (
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// maxWaiting is the maximum number of pings waiting for replies at a port.
const maxWaiting = 1024

// pending is a ping that waits for its reply.
type pending struct {
	addr   umad.Addr
	grh    umad.GRH // target of addr.GRH
	packet mad.Packet
	next   *pending
}

// A backlog is the ping queue of a source.
type backlog struct {
	head, tail *pending
	waiting    int

	before, after *source // in the ring of sources with a backlog
}

// A fairQueue serves the sources in turn, with one reply each, regardless of how many pings
// they send. If the queue is full, a source with more than an equal share loses a ping for
// each new ping.
type fairQueue struct {
	turn   *source // next in the ring of sources with a backlog
	active int     // ring length
	len    int
	free   *pending
	grh    umad.GRH // address of the last popped ping
}

// push adds a ping. It returns the source that lost a ping for it, which may be s
// itself, or nil.
func (q *fairQueue) push(s *source, m *umad.Message) (loser *source) {
	if q.len == maxWaiting {
		if loser = q.loser(s); loser == s {
			return s
		}
		q.drop(loser)
	}
	p := q.newPending(m)
	if s.tail == nil {
		s.head = p
	} else {
		s.tail.next = p
	}
	s.tail = p
	q.added(s)
	return loser
}

// putBack reverses the last pop.
func (q *fairQueue) putBack(s *source, m *umad.Message) {
	p := q.newPending(m)
	p.next = s.head
	s.head = p
	if s.tail == nil {
		s.tail = p
	}
	q.added(s)
	q.turn = s
}

// pop removes the next ping, fills m with it and returns its source, or nil if the
// queue is empty. Pointers in m are valid until the next pop.
func (q *fairQueue) pop(m *umad.Message) *source {
	s := q.turn
	if s == nil {
		return nil
	}
	q.turn = s.after
	p := s.head
	m.Addr, m.MAD, m.Timeout = p.addr, p.packet, 0
	if m.Addr.GRH != nil {
		q.grh = p.grh
		m.Addr.GRH = &q.grh
	}
	q.drop(s)
	return s
}

// loser returns the source that loses a ping for a new ping from s: s itself if it has used
// up an equal share, else a source with more than an equal share. Such a source exists
// because the queue is full.
func (q *fairQueue) loser(s *source) *source {
	active := q.active
	if s.waiting == 0 {
		active++
	}
	share := maxWaiting / active
	if s.waiting >= share {
		return s
	}
	v := q.turn
	for v.waiting <= share {
		if v = v.after; v == q.turn {
			return s
		}
	}
	return v
}

// newPending returns a copy of m.
func (q *fairQueue) newPending(m *umad.Message) *pending {
	p := q.free
	if p == nil {
		p = new(pending)
	} else {
		q.free = p.next
	}
	p.addr, p.packet, p.next = m.Addr, m.MAD, nil
	if m.Addr.GRH != nil {
		p.grh = *m.Addr.GRH
		p.addr.GRH = &p.grh
	}
	return p
}

// added counts a ping that was added to s's backlog.
func (q *fairQueue) added(s *source) {
	q.len++
	if s.waiting++; s.waiting > 1 {
		return
	}
	q.active++
	if q.turn == nil {
		s.before, s.after, q.turn = s, s, s
		return
	}
	// Insert at the end of the round.
	s.before, s.after = q.turn.before, q.turn
	s.before.after, s.after.before = s, s
}

// drop removes s's oldest ping.
func (q *fairQueue) drop(s *source) {
	p := s.head
	if s.head = p.next; s.head == nil {
		s.tail = nil
	}
	p.next = q.free
	q.free = p
	q.len--
	if s.waiting--; s.waiting > 0 {
		return
	}
	q.active--
	s.before.after, s.after.before = s.after, s.before
	if q.turn == s {
		q.turn = s.after
	}
	if q.active == 0 {
		q.turn = nil
	}
	s.before, s.after = nil, nil
}
