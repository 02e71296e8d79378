package loop

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// A shuffled is an echo with completions in reverse order.
type shuffled struct{ *echo }

func (s shuffled) Poll(into []verbs.Completion) (int, error) {
	slices.Reverse(s.done)
	return s.echo.Poll(into)
}

// TestUnordered checks that messages and completions in any order are verified in the
// slots that they belong to, and counted once.
func TestUnordered(t *testing.T) {
	for _, op := range []verbs.Opcode{verbs.OpSend, verbs.OpRead} {
		t.Run(op.String(), func(t *testing.T) {
			const count = 1000
			e := newEcho(100, 4, op)
			e.flow.Verify, e.flow.Unordered = true, true
			e.flow.Prepare(0, 4)
			s := &Stream{
				Flows: []*QPFlow{e.flow}, CQ: shuffled{e}, Supervisor: supervise(t, time.Minute), Depth: 16, List: 4, Moderation: 1,
				Plan: Plan{Count: count}, Batch: 16,
			}
			if op == verbs.OpSend {
				s.Receives, s.Expect = true, count
				if err := e.flow.Receive(32); err != nil {
					t.Fatal(err)
				}
			} else if err := e.flow.FillTarget(); err != nil {
				t.Fatal(err)
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			if e.sent != count || e.signaled != count || e.flow.completed != count || op == verbs.OpSend && e.flow.Received() != count {
				t.Errorf("got %d messages, %d with a completion, %d complete, %d received, want %d each",
					e.sent, e.signaled, e.flow.completed, e.flow.Received(), count)
			}
			e.damage, e.deaf = true, true
			e.flow.Prepare(0, 4)
			if err := s.Run(); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUntouched) {
				t.Errorf("damaged messages: got error %v, want one of their payload", err)
			}
		})
	}
}

// TestUnordered_window checks that no message is posted to the slot of one that is still
// in flight.
func TestUnordered_window(t *testing.T) {
	f := &QPFlow{Unordered: true, Ring: Ring{64, 4}}
	f.Prepare(0, 1)
	s := &Stream{Flows: []*QPFlow{f}, Depth: 4, List: 4, Plan: Plan{Count: 100}, counting: true}
	f.posted = 4
	for _, step := range []struct{ id, left, room uint64 }{{2, 0, 0}, {4, 0, 0}, {1, 2, 2}, {3, 2, 4}} {
		if left := f.complete(step.id); left != step.left || s.room(f) != int(step.room) {
			t.Errorf("after message %d: got %d complete and room for %d, want %d and %d", step.id, left, s.room(f), step.left, step.room)
		}
	}
}

// TestUnordered_latency checks that each message of a latency test has a completion, in
// whatever order they arrive.
func TestUnordered_latency(t *testing.T) {
	e := newEcho(100, 1, verbs.OpSend)
	e.flow.Verify, e.flow.Unordered = true, true
	e.flow.Prepare(0, 1)
	if err := e.flow.Receive(4); err != nil {
		t.Fatal(err)
	}
	p := &PingPong{Flow: e.flow, CQ: shuffled{e}, Supervisor: supervise(t, time.Minute), Depth: 16, Plan: Plan{Count: 100}}
	if err := p.LeadSends(); err != nil {
		t.Fatal(err)
	}
	if err := p.Drain(); err != nil || e.signaled != 100 || e.flow.completed != 100 {
		t.Errorf("got %d with a completion, %d complete, error %v, want 100 each", e.signaled, e.flow.completed, err)
	}
}
