package ping

import (
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// maxWaiting is how many pings wait to be answered at a port.
const maxWaiting = 1024

// pending is a ping that waits for its answer.
type pending struct {
	addr   umad.Addr
	grh    umad.GRH // what addr points to
	packet mad.Packet
	next   *pending
}

// A line is what of a source waits, in the order in which it came.
type line struct {
	head, tail    *pending
	waiting       int
	before, after *source // in the ring of those with something waiting
}

// A fairQueue gives each source one answer in turn, however much the others
// sent. Once it is full, whoever has more than an equal share waiting loses for
// each ping that comes in.
type fairQueue struct {
	turn   *source // in a ring of those with something waiting
	active int     // length of the ring
	len    int
	free   *pending
	grh    umad.GRH // of the ping that was taken out last
}

// push has a ping wait. It returns the source that lost one for it, which may be
// s and this ping, nil where none did.
func (q *fairQueue) push(s *source, m *umad.Message) (loser *source) {
	if q.len == maxWaiting {
		if loser = q.loser(s); loser == s {
			return s
		}
		q.drop(loser)
	}
	p := q.take(m)
	if s.tail == nil {
		s.head = p
	} else {
		s.tail.next = p
	}
	s.tail = p
	q.count(s)
	return loser
}

// putBack has a ping wait that was taken from the queue last, as if it had not
// been.
func (q *fairQueue) putBack(s *source, m *umad.Message) {
	p := q.take(m)
	p.next = s.head
	s.head = p
	if s.tail == nil {
		s.tail = p
	}
	q.count(s)
	q.turn = s
}

// pop takes the ping out whose turn it is, and returns its source; nil where
// none waits. What m points to is valid until the next pop.
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

// loser returns the source that is to lose a ping where another of s comes: s
// where it has its share, else one that has more. There is one then, for the
// queue is full.
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

// take returns what keeps m.
func (q *fairQueue) take(m *umad.Message) *pending {
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

// count takes in that one more of s waits.
func (q *fairQueue) count(s *source) {
	q.len++
	if s.waiting++; s.waiting > 1 {
		return
	}
	q.active++
	if q.turn == nil {
		s.before, s.after, q.turn = s, s, s
		return
	}
	// Behind all others.
	s.before, s.after = q.turn.before, q.turn
	s.before.after, s.after.before = s, s
}

// drop takes out what of s waits for longest.
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
