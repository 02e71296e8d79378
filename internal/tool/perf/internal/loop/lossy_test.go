package loop

import (
	"slices"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// An answerer is a queue pair with a peer that answers each write with a write. Both
// may be lost.
type answerer struct {
	flow           *QPFlow
	lost, unheard  []int // numbers of own and of the peer's lost writes
	sent, answered int
	skips          int // numbers that the peer skips at each answer
}

func (a *answerer) PostSend(wrs []verbs.SendWR) (int, error) {
	a.sent++
	if slices.Contains(a.lost, a.sent) {
		return len(wrs), nil
	}
	a.answered += 1 + a.skips
	if !slices.Contains(a.unheard, a.answered) {
		a.write()
	}
	return len(wrs), nil
}

// write is a write of the peer.
func (a *answerer) write() {
	b, last := a.flow.In.Bytes, a.flow.Size-1
	Fill(b[:last], a.flow.PeerSeed, uint64(a.answered))
	b[last] = byte(a.answered)
}

func (a *answerer) PostRecv(wrs []verbs.RecvWR) (int, error) { return len(wrs), nil }

func newAnswerer() *answerer {
	const size = 16
	a := &answerer{}
	a.flow = &QPFlow{
		Queue: a, Size: size, Ring: Ring{size, 1}, InRing: Ring{size, 1}, Message: verbs.SendWR{Opcode: verbs.OpWrite}, PeerSeed: 1,
		Out: Area{Bytes: make([]byte, size)}, In: Area{Bytes: make([]byte, size)}, Verify: true,
	}
	a.flow.Prepare(0, 1)
	return a
}

// TestLostWrites_lead checks that round trips of writes continue after a write or its
// answer was lost.
func TestLostWrites_lead(t *testing.T) {
	const count = 1000
	a := newAnswerer()
	a.lost, a.unheard = []int{1, 10, 11, 600}, []int{20, 256, 300}
	p := &PingPong{
		Flow: a.flow, CQ: newEcho(16, 1, verbs.OpWrite), Supervisor: supervise(t, time.Millisecond), Depth: 1 << 12,
		Plan: Plan{Count: count}, Lossy: true,
	}
	if err := p.LeadWrites(); err != nil {
		t.Fatal(err)
	}
	lost := uint64(len(a.lost) + len(a.unheard))
	if sent, received := a.flow.Posted(), a.flow.Received(); p.Lost != lost || sent != count || received != count-lost {
		t.Errorf("got %d lost, %d sent and %d received, want %d, %d and %d", p.Lost, sent, received, lost, count, count-lost)
	}
}

// TestLostWrites_follow checks that a following side accepts writes of any number.
func TestLostWrites_follow(t *testing.T) {
	const count = 1000
	a := newAnswerer()
	a.skips = 1
	a.answered = 2
	a.write()
	p := &PingPong{
		Flow: a.flow, CQ: newEcho(16, 1, verbs.OpWrite), Supervisor: supervise(t, time.Minute), Depth: 1 << 12,
		Plan: Plan{Count: count}, Lossy: true,
	}
	if err := p.FollowWrites(); err != nil {
		t.Fatal(err)
	}
	if sent, received := a.flow.Posted(), a.flow.Received(); sent != count || received != count {
		t.Errorf("got %d sent and %d received, want %d each", sent, received, count)
	}
}

// A lateEcho is an echo with an answer that arrives after the next message.
type lateEcho struct {
	*echo
	late int
	kept []verbs.Completion
}

func (e *lateEcho) PostSend(wrs []verbs.SendWR) (int, error) {
	e.done = append(e.done, e.kept...)
	e.kept = nil
	n, err := e.echo.PostSend(wrs)
	if e.sent == e.late {
		e.kept, e.done = e.done, nil
	}
	return n, err
}

// TestLateAnswer checks that a late answer does not count as the answer to a later
// message.
func TestLateAnswer(t *testing.T) {
	e := &lateEcho{echo: newEcho(64, 1, verbs.OpSend), late: 5}
	e.flow.Queue = e
	if err := e.flow.Receive(8); err != nil {
		t.Fatal(err)
	}
	p := &PingPong{Flow: e.flow, CQ: e, Supervisor: supervise(t, time.Millisecond), Depth: 16, Plan: Plan{Count: 10}, Lossy: true}
	if err := p.LeadSends(); err != nil {
		t.Fatal(err)
	}
	// Neither the lost round trip nor the next counts.
	if p.Lost != 1 || p.arrived != 0 || e.flow.Received() != 10 || p.Samples.Count != 8 {
		t.Errorf("got %d lost, %d surplus, %d received and %d samples, want 1, 0, 10 and 8", p.Lost, p.arrived, e.flow.Received(), p.Samples.Count)
	}
}
