package sim

import (
	"container/heap"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// replies are the queued replies, ordered by the time when they are due and then by the
// time when they were made.
type replies struct {
	fifo  []reply // replies without a delay
	head  int
	heap  replyHeap
	count uint64 // for replies added to the heap
	mad   mad.Packet
}

type reply struct {
	due     time.Time // zero: immediately
	order   uint64
	message umad.Message
}

// scratch returns a buffer in which a request can be turned into a reply without an
// allocation.
func (q *replies) scratch() *mad.Packet { return &q.mad }

func (q *replies) len() int { return len(q.fifo) - q.head + len(q.heap) }

func (q *replies) add(due time.Time, from umad.Addr, p *mad.Packet) {
	if due.IsZero() {
		// If the queue never becomes empty, reuse the space of replies already read.
		if len(q.fifo) == cap(q.fifo) && q.head > len(q.fifo)/2 {
			n := copy(q.fifo, q.fifo[q.head:])
			q.fifo, q.head = q.fifo[:n], 0
		}
		q.fifo = append(q.fifo, reply{})
		m := &q.fifo[len(q.fifo)-1].message
		m.Addr, m.MAD = from, *p
		return
	}
	heap.Push(&q.heap, &reply{due: due, order: q.count, message: umad.Message{Addr: from, MAD: *p}})
	q.count++
}

func (q *replies) first() *reply {
	if q.head < len(q.fifo) {
		return &q.fifo[q.head]
	}
	return q.heap[0]
}

func (q *replies) pop(m *umad.Message) {
	if q.head == len(q.fifo) {
		*m = heap.Pop(&q.heap).(*reply).message
		return
	}
	*m = q.fifo[q.head].message
	if q.head++; q.head == len(q.fifo) {
		q.fifo, q.head = q.fifo[:0], 0
	}
}

type replyHeap []*reply

func (h replyHeap) Len() int { return len(h) }
func (h replyHeap) Less(i, j int) bool {
	if h[i].due.Equal(h[j].due) {
		return h[i].order < h[j].order
	}
	return h[i].due.Before(h[j].due)
}
func (h replyHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *replyHeap) Push(x any)   { *h = append(*h, x.(*reply)) }
func (h *replyHeap) Pop() any {
	old := *h
	r := old[len(old)-1]
	*h = old[:len(old)-1]
	return r
}
