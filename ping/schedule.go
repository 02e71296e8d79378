package ping

import "time"

// A slot is a probe to be sent.
type slot struct {
	target   *Target
	due      time.Duration
	seq      int
	attempts uint8 // so far
}

// A schedule is a slot queue in due time order. All targets have the same interval, so the
// target that was served last is due last.
type schedule struct {
	ring []slot // the length is a power of two
	head int
	len  int
}

func (q *schedule) push(s slot) {
	if q.len == len(q.ring) {
		ring := make([]slot, max(2*len(q.ring), 64))
		for i := range q.len {
			ring[i] = *q.at(i)
		}
		q.ring, q.head = ring, 0
	}
	q.len++
	*q.at(q.len - 1) = s
}

func (q *schedule) at(i int) *slot { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

// first returns the slot that is due first. The schedule must not be empty.
func (q *schedule) first() *slot { return q.at(0) }

func (q *schedule) pop() {
	q.head++
	q.len--
}
