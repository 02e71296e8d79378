package inflight

import (
	"math/rand/v2"
	"testing"
	"time"
)

// send adds n requests and returns their IDs.
func send(t *Tracker[int], n int) (tids []uint32) {
	for i := range n {
		e := t.Add(time.Duration(i))
		e.Data = i
		tids = append(tids, e.TID)
	}
	return tids
}

func TestTracker_Answer(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(*Tracker[int], *Entry[int])
		want    State
	}{
		{"first reply", func(*Tracker[int], *Entry[int]) {}, Waiting},
		{"first reply to a slow request", (*Tracker[int]).Release, Waiting},
		{"late reply", (*Tracker[int]).Expire, Expired},
		{"duplicate", func(k *Tracker[int], e *Entry[int]) { k.Answer(e) }, Answered},
		{"duplicate of a late reply", func(k *Tracker[int], e *Entry[int]) { k.Expire(e); k.Answer(e) }, Answered},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := New[int](7)
			e := k.Find(send(k, 1)[0])
			tt.prepare(k, e)
			if got := k.Answer(e); got != tt.want {
				t.Errorf("got state %d, want %d", got, tt.want)
			}
			if e.State != Answered {
				t.Errorf("after the reply: got state %d, want %d", e.State, Answered)
			}
			if k.Outstanding() != 0 || k.InFlight() != 0 || k.expired != 0 {
				t.Errorf("got %d outstanding, %d in flight, %d expired, want none", k.Outstanding(), k.InFlight(), k.expired)
			}
		})
	}
}

func TestTracker_Cancel(t *testing.T) {
	k := New[int](7)
	tid := send(k, 1)[0]
	k.Cancel(k.Find(tid))
	if k.Find(tid) != nil || k.Outstanding() != 0 || k.InFlight() != 0 || k.Oldest() != nil {
		t.Errorf("got entry %v, %d outstanding, want no trace of the request", k.Find(tid), k.Outstanding())
	}
	if next := k.Add(0).TID; next == tid {
		t.Errorf("got transaction ID %d again, want a new one", next)
	}
}

func TestTracker_TransactionIDs(t *testing.T) {
	const first = 1<<32 - 3 // about to wrap
	k := New[int](first)
	seen := map[uint32]bool{}
	for _, tid := range send(k, 10*minPlaces) {
		if tid == 0 || seen[tid] {
			t.Fatalf("got transaction ID %d, want neither 0 nor an ID twice", tid)
		}
		seen[tid] = true
		if e := k.Find(tid); e == nil || e.TID != tid {
			t.Fatalf("ID %d: got %v, want its entry", tid, e)
		}
	}
	if k.Outstanding() != 10*minPlaces {
		t.Errorf("got %d outstanding, want %d", k.Outstanding(), 10*minPlaces)
	}
}

func TestTracker_Oldest(t *testing.T) {
	k := New[int](1<<32 - 100)
	tids := send(k, 1000)
	k.Release(k.Find(tids[0]))
	k.Release(k.Find(tids[0])) // without effect
	if got, want := k.Oldest().TID, tids[0]; got != want {
		t.Errorf("oldest: got ID %d, want %d", got, want)
	}
	if got, want := k.OldestOnTime().TID, tids[1]; got != want {
		t.Errorf("oldest on time: got ID %d, want %d", got, want)
	}
	if got := k.InFlight(); got != 999 {
		t.Errorf("got %d in flight, want 999", got)
	}
	for _, tid := range tids[:500] {
		k.Answer(k.Find(tid))
	}
	if a, b := k.Oldest(), k.OldestOnTime(); a != b || a.TID != tids[500] {
		t.Errorf("got IDs %d and %d, want %d", a.TID, b.TID, tids[500])
	}
	for _, tid := range tids[500:] {
		k.Answer(k.Find(tid))
	}
	if k.Oldest() != nil || k.OldestOnTime() != nil {
		t.Error("got an oldest request, want none")
	}
}

// A late reply is recognised as such after many later requests, as long as no
// more requests than there is room for have expired.
func TestTracker_KeepsExpired(t *testing.T) {
	tests := []struct {
		name    string
		expired int
		later   int
		age     time.Duration
		kept    bool
	}{
		{"one", 1, 1 << 20, time.Second, true},
		{"ten thousand", 10000, 1 << 20, time.Second, true},
		{"one for too long", 1, 1 << 20, 2 * keepExpired, false},
		{"too many", maxPlaces, 1 << 20, time.Second, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := New[int](3)
			tids := send(k, tt.expired)
			for _, tid := range tids {
				k.Expire(k.Find(tid))
			}
			for range tt.later {
				k.Answer(k.Add(tt.age))
			}
			if got := k.Find(tids[0]) != nil; got != tt.kept {
				t.Errorf("entry kept: got %t, want %t", got, tt.kept)
			}
			if len(k.places) > 2*maxPlaces {
				t.Errorf("got %d places, want at most %d", len(k.places), 2*maxPlaces)
			}
		})
	}
}

// TestTracker_Random compares the tracker with a simple model.
func TestTracker_Random(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	k := New[int](1<<32 - 5000)
	waiting := map[uint32]bool{} // true: slow
	var order []uint32
	for step := range 200000 {
		now := time.Duration(step) * time.Millisecond
		switch n := random.IntN(10); {
		case n < 5 || len(waiting) == 0:
			e := k.Add(now)
			waiting[e.TID] = false
			order = append(order, e.TID)
		default:
			tid := order[random.IntN(min(len(order), 300))]
			slow, ok := waiting[tid]
			if !ok {
				continue
			}
			e := k.Find(tid)
			switch {
			case n == 5 && !slow:
				k.Release(e)
				waiting[tid] = true
				continue
			case n == 6:
				k.Expire(e)
			default:
				k.Answer(e)
			}
			delete(waiting, tid)
		}
		for len(order) > 0 {
			if _, ok := waiting[order[0]]; ok {
				break
			}
			order = order[1:]
		}
		inFlight := 0
		if step%997 == 0 {
			for _, slow := range waiting {
				if !slow {
					inFlight++
				}
			}
			if k.Outstanding() != len(waiting) || k.InFlight() != inFlight {
				t.Fatalf("step %d: got %d outstanding, %d in flight, want %d and %d", step, k.Outstanding(), k.InFlight(), len(waiting), inFlight)
			}
		}
		if got := k.Oldest(); len(order) > 0 && (got == nil || got.TID != order[0]) {
			t.Fatalf("step %d: oldest: got %v, want ID %d", step, got, order[0])
		}
	}
}
