package ping

import "time"

// A turn is a probe that is to be sent.
type turn struct {
	target  *Target
	due     time.Duration
	seq     int
	attempt uint8 // how often it was sent already
}

// turns is a queue of them, in the order of their times: as all targets have the
// same interval, whoever was served last is due last.
type turns struct {
	ring []turn // a power of two
	head int
	len  int
}

func (q *turns) push(t turn) {
	if q.len == len(q.ring) {
		ring := make([]turn, max(2*len(q.ring), 64))
		for i := range q.len {
			ring[i] = *q.at(i)
		}
		q.ring, q.head = ring, 0
	}
	q.len++
	*q.at(q.len - 1) = t
}

func (q *turns) at(i int) *turn { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

// first returns the turn that is due first. There has to be one.
func (q *turns) first() *turn { return q.at(0) }

func (q *turns) pop() {
	q.head++
	q.len--
}
