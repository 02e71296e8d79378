package loop

import (
	"slices"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// An answerer is a queue pair whose other side answers each write with one, both
// of which may get lost.
type answerer struct {
	lane           *Lane
	lost, unheard  []int // numbers of this side's writes, and of the other side's
	sent, answered int
	skips          int // of which the other side sees none, as its own were lost
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

// write is the other side's.
func (a *answerer) write() {
	b, last := a.lane.In.Bytes, a.lane.Size-1
	Fill(b[:last], a.lane.PeerSeed, uint64(a.answered))
	b[last] = byte(a.answered)
}

func (a *answerer) PostRecv(wrs []verbs.RecvWR) (int, error) { return len(wrs), nil }

func newAnswerer() *answerer {
	const size = 16
	a := &answerer{}
	a.lane = &Lane{
		Queue: a, Size: size, Walk: Walk{size, 1}, InWalk: Walk{size, 1}, Message: verbs.SendWR{Opcode: verbs.OpWrite}, PeerSeed: 1,
		Out: Area{Bytes: make([]byte, size)}, In: Area{Bytes: make([]byte, size)}, Verify: true,
	}
	a.lane.Prepare(0, 1)
	return a
}

// Round trips of writes go on after one of them, or its answer, was lost.
func TestLostWrites(t *testing.T) {
	a := newAnswerer()
	a.lost, a.unheard = []int{1, 10, 11, 600}, []int{20, 256, 300}
	w := NewWatch(t.Context(), time.Millisecond)
	defer w.Stop()
	p := &PingPong{Lane: a.lane, CQ: newEcho(16, 1, verbs.OpWrite), Watch: w, Depth: 1 << 12, Plan: Plan{Count: 1000}, Lossy: true}
	if err := p.LeadWrites(); err != nil {
		t.Fatal(err)
	}
	lost := uint64(len(a.lost) + len(a.unheard))
	if sent, came := a.lane.Posted(), a.lane.Received(); p.Lost != lost || sent != 1000 || came != 1000-lost {
		t.Errorf("%d lost, %d sent, %d came", p.Lost, sent, came)
	}
	// Who follows takes what comes, whatever was lost before.
	a = newAnswerer()
	a.skips = 1
	a.answered = 2
	a.write()
	p = &PingPong{Lane: a.lane, CQ: p.CQ, Watch: watch(t), Depth: 1 << 12, Plan: Plan{Count: 1000}, Lossy: true}
	if err := p.FollowWrites(); err != nil {
		t.Fatal(err)
	}
	if sent, came := a.lane.Posted(), a.lane.Received(); sent != 1000 || came != 1000 {
		t.Errorf("%d sent, %d came", sent, came)
	}
}

// A lateEcho is an echo whose answer to one message comes after the next one.
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

// An answer that comes late is not taken for that of a later message from then on.
func TestLateAnswer(t *testing.T) {
	e := &lateEcho{echo: newEcho(64, 1, verbs.OpSend), late: 5}
	e.lane.Queue = e
	if err := e.lane.Receive(8); err != nil {
		t.Fatal(err)
	}
	w := NewWatch(t.Context(), time.Millisecond)
	defer w.Stop()
	p := &PingPong{Lane: e.lane, CQ: e, Watch: w, Depth: 16, Plan: Plan{Count: 10}, Lossy: true}
	if err := p.LeadSends(); err != nil {
		t.Fatal(err)
	}
	// Neither the one that was lost counts nor the one that began anew.
	if p.Lost != 1 || p.arrived != 0 || e.lane.Received() != 10 || p.Samples.Count != 8 {
		t.Errorf("%d lost, %d too many, %d received, %d samples", p.Lost, p.arrived, e.lane.Received(), p.Samples.Count)
	}
}
