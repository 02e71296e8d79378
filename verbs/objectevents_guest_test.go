//go:build inguest

package verbs_test

import (
	"context"
	"testing"

	"github.com/ibkit/ibkit/verbs"
)

// Object events contain the objects' IDs.
func TestGuestObjectEvents(t *testing.T) {
	a := newEndpoint(t, open(t), verbs.QPTypeRC, true)
	small := must(a.context.CreateCQ(verbs.CQInit{Entries: 1}))(t)
	qp := must(a.pd.CreateQP(verbs.QPInit{
		Type: verbs.QPTypeRC, SendCQ: small, RecvCQ: a.cq, SRQ: a.srq, Cap: verbs.QPCap{MaxSendWR: depth, MaxSendSGE: 1},
	}))(t)
	b := *a
	b.qp = qp
	a.connect(&b)
	b.begin()
	b.finish(a)
	events := must(a.context.Events())(t)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	next := func(want verbs.Event) {
		t.Helper()
		for {
			e, err := events.Next(ctx)
			if err != nil {
				t.Fatalf("got error %v, want %v", err, want)
			}
			t.Log(e)
			if e == want {
				return
			}
		}
	}
	// A shared receive queue runs low.
	for id := range uint64(4) {
		a.receive(id)
	}
	if err := a.srq.SetLimit(3); err != nil {
		t.Fatal(err)
	}
	if s := must(a.srq.Query())(t); s.Limit != 3 || s.MaxWR < depth || s.MaxSGE < maxSGE {
		t.Errorf("got SRQ %+v, want limit 3 and at least %d work requests of %d SGEs", s, depth, maxSGE)
	}
	for range 2 {
		a.send(verbs.SendWR{Opcode: verbs.OpSend})
		for range 2 {
			if c := a.completion(); c.Err() != nil {
				t.Fatal(c.Err())
			}
		}
	}
	next(verbs.Event{Type: verbs.EventSRQLimitReached, Element: a.srq.ID()})

	// A completion queue overflows.
	for range small.Entries() + 1 {
		if n, err := qp.PostSend([]verbs.SendWR{{Opcode: verbs.OpWrite, Flags: verbs.SendSignaled}}); n != 1 || err != nil {
			t.Fatalf("got %d posted, error %v, want 1", n, err)
		}
	}
	next(verbs.Event{Type: verbs.EventCQErr, Element: small.ID()})

	// A send queue is drained. Work requests that are posted then are sent later.
	a.modify(verbs.QPStateSQD, verbs.QPAttr{EnableSQDNotify: new(true)})
	next(verbs.Event{Type: verbs.EventSQDrained, Element: a.qp.ID()})
	a.send(verbs.SendWR{ID: 9, Opcode: verbs.OpWrite})
	if n, err := a.cq.Poll(make([]verbs.Completion, 1)); n != 0 || err != nil {
		t.Errorf("drained queue: got %d completions, error %v, want 0", n, err)
	}
	a.modify(verbs.QPStateRTS, verbs.QPAttr{})
	a.send(verbs.SendWR{ID: 10, Opcode: verbs.OpWrite})
	a.ok(9, verbs.CompletedWrite)
	a.ok(10, verbs.CompletedWrite)
}
