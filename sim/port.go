package sim

import (
	"container/heap"
	"math/rand/v2"
	"os"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// clientPort is a place in a fabric to send from.
type clientPort struct {
	fabric *Fabric
	at     *Port
	chance *rand.Rand

	replies replies
	sent    uint64
	wake    chan struct{}
}

// Open returns a port of the fabric to send from: that of a node, as
// [Fabric.Place] finds it.
func (f *Fabric) Open(node string) (umad.Port, error) {
	at, err := f.Place(node)
	if err != nil {
		return nil, err
	}
	return &clientPort{fabric: f, at: at, chance: f.Model.chance(), wake: make(chan struct{}, 1)}, nil
}

// firstPort returns the port that a node sends from unless told otherwise.
func (n *Node) firstPort() *Port {
	if n.IsSwitch() {
		return &n.Ports[0]
	}
	for i := range n.Ports {
		if n.Ports[i].up() {
			return &n.Ports[i]
		}
	}
	return &n.Ports[1]
}

// Attr describes the port.
func (p *clientPort) Attr() umad.PortAttr {
	i := &p.at.Info
	return umad.PortAttr{
		Device:    "sim0",
		Number:    p.at.Number,
		LinkLayer: "InfiniBand",
		NodeGUID:  p.at.Node.Info.NodeGUID,
		LID:       i.LID,
		LMC:       i.LMC,
		SMLID:     i.SMLID,
		SMSL:      i.SMSL,
		State:     i.State,
		PhysState: i.PhysState,
		GIDPrefix: i.GIDPrefix,
	}
}

// Send hands a MAD to the fabric, which answers it at once; the reply waits
// here until it is due.
func (p *clientPort) Send(m *umad.Message) error {
	f := p.fabric
	if f.lost(p.chance) {
		return nil
	}
	d, ok := f.route(p.at, m)
	if !ok || d.node.Silent {
		return nil
	}
	var r *reply
	if f.Model.isTimed() {
		due, ok := p.due(d)
		if !ok {
			return nil
		}
		r = &reply{due: due, order: p.sent}
	} else {
		r = p.replies.add()
	}
	p.sent++
	r.message.Addr = umad.Addr{LID: m.Addr.LID, QPN: m.Addr.QPN, QKey: m.Addr.QKey}
	r.message.MAD = m.MAD
	answered := f.answer(d, &r.message.MAD) && !f.lost(p.chance)
	switch {
	case r.due.IsZero() && !answered:
		p.replies.drop()
	case !r.due.IsZero() && answered:
		heap.Push(&p.replies.heap, r)
	}
	return nil
}

// due returns when the reply to a request that leaves now is back, and false
// where the agent has no room for it.
func (p *clientPort) due(d destination) (time.Time, bool) {
	model := &p.fabric.Model
	way := time.Duration(d.hops) * model.Hop
	served, ok := model.serve(d.node, time.Now().Add(way))
	due := served.Add(way)
	if model.Jitter > 0 {
		due = due.Add(time.Duration(p.chance.Int64N(int64(model.Jitter))))
	}
	return due, ok
}

func (f *Fabric) lost(chance *rand.Rand) bool {
	return f.Model.Loss > 0 && chance.Float64() < f.Model.Loss
}

// answer makes a request into its reply. It reports false where there is none.
func (f *Fabric) answer(d destination, p *mad.Packet) bool {
	switch p.Class() {
	case mad.ClassSMPDirected, mad.ClassSMPLIDRouted:
		return f.manage(d, p)
	}
	return false
}

// Recv returns the next reply that is due.
func (p *clientPort) Recv(m *umad.Message, deadline time.Time) error {
	for {
		until := deadline
		if p.replies.len() > 0 {
			due := p.replies.first().due
			if due.IsZero() || !time.Now().Before(due) {
				p.replies.pop(m)
				return nil
			}
			if until.IsZero() || due.Before(until) {
				until = due
			}
		}
		if !deadline.IsZero() && !time.Now().Before(deadline) || !p.sleep(until) {
			return os.ErrDeadlineExceeded
		}
	}
}

// sleep waits until a time, the zero time meaning for ever. It reports false
// where it was interrupted.
func (p *clientPort) sleep(until time.Time) bool {
	if until.IsZero() {
		<-p.wake
		return false
	}
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-p.wake:
		return false
	case <-t.C:
		return true
	}
}

// Interrupt ends a Recv that waits.
func (p *clientPort) Interrupt() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Close does nothing: the fabric goes on.
func (p *clientPort) Close() error { return nil }

// replies are those that wait, the next one due first; among equals, in the
// order of the requests.
type replies struct {
	fifo []reply // without a clock: a ring of what is due at once
	head int
	heap replyHeap
}

type reply struct {
	due     time.Time // zero: at once
	order   uint64
	message umad.Message
}

func (q *replies) len() int { return len(q.fifo) - q.head + len(q.heap) }

// add makes room for a reply that is due at once, to be filled in place.
func (q *replies) add() *reply {
	q.fifo = append(q.fifo, reply{})
	return &q.fifo[len(q.fifo)-1]
}

// drop takes back what add made.
func (q *replies) drop() { q.fifo = q.fifo[:len(q.fifo)-1] }

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
