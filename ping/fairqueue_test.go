package ping

import (
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// FuzzFairQueue adds packets from several sources in any order, removes some meanwhile, and
// compares the queue with a simple queue per source.
func FuzzFairQueue(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0x80, 1, 0xc0})
	f.Add([]byte("\x01\x01\x01\x02\x80\x80\x80\x80\x80"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		ops = ops[:min(len(ops), 256)]
		var q fairQueue
		sources := make([]source, 32)
		for i := range sources {
			sources[i].from.LID = ib.LID(i)
		}
		model := make([][]uint64, len(sources))
		var tid uint64
		var m umad.Message
		push := func(i int) {
			tid++
			in := pingFrom(ib.LID(i), tid)
			switch loser := q.push(&sources[i], &in); {
			case loser == &sources[i]:
				return
			case loser != nil:
				i := int(loser.from.LID)
				if len(model[i]) < maxWaiting/len(sources) {
					t.Fatalf("%d lost one of %d", i, len(model[i]))
				}
				model[i] = model[i][1:]
			}
			model[i] = append(model[i], tid)
		}
		for _, op := range ops {
			switch {
			case op < 0x60:
				push(int(op % 32))
			case op < 0x80: // a flood
				for range maxWaiting / 2 {
					push(int(op % 32))
				}
			default:
				s := q.pop(&m)
				if s == nil {
					break
				}
				i := int(s.from.LID)
				if m.MAD.TID() != model[i][0] || m.Addr.LID != ib.LID(i) {
					t.Fatalf("got %d from LID %d, want %d", m.MAD.TID(), m.Addr.LID, model[i][0])
				}
				if op >= 0xc0 {
					q.putBack(s, &m)
					break
				}
				model[i] = model[i][1:]
			}
			check(t, &q, sources, model)
		}
		// In the end each has its turn.
		for q.len > 0 {
			seen := map[*source]bool{}
			for range q.active {
				s := q.pop(&m)
				if seen[s] {
					t.Fatal("one has two turns in a round")
				}
				seen[s] = true
				i := int(s.from.LID)
				model[i] = model[i][1:]
			}
			check(t, &q, sources, model)
		}
	})
}

// check compares the queue's counts with the contents.
func check(t *testing.T, q *fairQueue, sources []source, model [][]uint64) {
	t.Helper()
	active, total := 0, 0
	for i := range sources {
		if sources[i].waiting != len(model[i]) {
			t.Fatalf("%d of source %d wait, want %d", sources[i].waiting, i, len(model[i]))
		}
		if len(model[i]) > 0 {
			active++
		}
		total += len(model[i])
	}
	if q.len != total || q.active != active || (q.turn == nil) != (total == 0) || total > maxWaiting {
		t.Fatalf("%d wait of %d sources, want %d of %d", q.len, q.active, total, active)
	}
	n := 0
	for s := q.turn; s != nil && n <= active; s = s.after {
		if n++; s.after == q.turn {
			break
		}
	}
	if n != active {
		t.Fatalf("%d are in the ring, want %d", n, active)
	}
}
