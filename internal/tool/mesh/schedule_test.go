package mesh

import (
	"fmt"
	"testing"
)

// roundsOf returns the rounds of a schedule for the members of a fabric.
func roundsOf(t *testing.T, w *Wiring, text string) (m *members, rounds [][]pair) {
	t.Helper()
	s, err := ParseSchedule(text)
	if err != nil {
		t.Fatal(err)
	}
	m = newMembers(w, nil)
	for round := range s.rounds(m) {
		rounds = append(rounds, append([]pair(nil), round...))
	}
	return m, rounds
}

// Each of these schedules has each ordered pair exactly once, with odd counts, too.
func TestSchedule_AllPairs(t *testing.T) {
	for _, fabric := range []string{"single-switch:hosts=1", "single-switch:hosts=2", "single-switch:hosts=7", "single-switch:hosts=8", "torus:x=3,y=3,hosts=1"} {
		w := wire(t, fabric)
		for _, schedule := range []string{"shift", "circle", "aware", "alltoall", "rail"} {
			t.Run(fabric+" "+schedule, func(t *testing.T) {
				m, rounds := roundsOf(t, w, schedule)
				seen := map[pair]int{}
				for _, round := range rounds {
					for _, p := range round {
						seen[p]++
					}
				}
				for p, n := range seen {
					if n != 1 || p.from == p.to {
						t.Errorf("got the pair %v %d times, want different members once", p, n)
					}
				}
				if n := len(m.ends); len(seen) != n*(n-1) {
					t.Errorf("got %d pairs, want %d", len(seen), n*(n-1))
				}
			})
		}
	}
}

// A member sends to and receives from at most one other at a time.
func TestSchedule_OneAtATime(t *testing.T) {
	w := wire(t, "torus:x=3,y=3,hosts=2")
	for _, schedule := range []string{"shift", "circle", "aware", "quick:8", "rail", "bisect", "random:8"} {
		t.Run(schedule, func(t *testing.T) {
			_, rounds := roundsOf(t, w, schedule)
			if len(rounds) == 0 {
				t.Fatal("got no rounds")
			}
			for k, round := range rounds {
				sends, receives := map[int32]bool{}, map[int32]bool{}
				for _, p := range round {
					if sends[p.from] || receives[p.to] {
						t.Fatalf("round %d: got %v, want a member once", k, round)
					}
					sends[p.from], receives[p.to] = true, true
				}
			}
		})
	}
}

// aware and quick use no directed link twice per round.
func TestSchedule_NoSharedLinks(t *testing.T) {
	for _, fabric := range []string{"fat-tree:radix=8,pods=4,spines=2", "torus:x=4,y=4", "dragonfly"} {
		w := wire(t, fabric)
		for _, schedule := range []string{"aware", "quick:16"} {
			t.Run(fabric+" "+schedule, func(t *testing.T) {
				s, err := ParseSchedule(schedule)
				if err != nil {
					t.Fatal(err)
				}
				p, err := NewPlan(t.Context(), w, PlanOptions{Schedule: s})
				if err != nil {
					t.Fatal(err)
				}
				if p.Sharing.Flows != 0 || p.Sharing.Most != 1 || p.Flows == 0 {
					t.Errorf("got %+v in %d flows, want no shared links", p.Sharing, p.Flows)
				}
			})
		}
	}
}

// In an incast, members of a group send to one of them, and each member receives once.
func TestSchedule_Incast(t *testing.T) {
	w := wire(t, small)
	for schedule, receiver := range map[string]func(pair) int32{
		"incast:3": func(p pair) int32 { return p.to }, "outcast:3": func(p pair) int32 { return p.from },
	} {
		t.Run(schedule, func(t *testing.T) {
			_, rounds := roundsOf(t, w, schedule)
			times := map[int32]int{}
			for _, round := range rounds {
				flows := map[int32]int{}
				for _, p := range round {
					flows[receiver(p)]++
				}
				for member, n := range flows {
					if times[member]++; n != 3 {
						t.Errorf("got %d flows at %d, want 3", n, member)
					}
				}
			}
			if len(rounds) != 4 || len(times) != 16 {
				t.Errorf("got %d rounds and %d members, want 4 and 16", len(rounds), len(times))
			}
			for member, n := range times {
				if n != 1 {
					t.Errorf("got %d rounds for %d, want 1", n, member)
				}
			}
		})
	}
}

// Rails do not mix, and halves only meet each other.
func TestSchedule_Groups(t *testing.T) {
	rails := wire(t, "rails:hosts=6,rails=3")
	m, rounds := roundsOf(t, rails, "rail")
	for _, round := range rounds {
		for _, p := range round {
			if rails.ends[m.ends[p.from]].rail != rails.ends[m.ends[p.to]].rail {
				t.Fatalf("got a pair on two rails: %v", p)
			}
		}
	}
	if len(rounds) != 5 || len(rounds[0]) != 18 {
		t.Errorf("got %d rounds of %d flows, want 5 of 18", len(rounds), len(rounds[0]))
	}
	_, rounds = roundsOf(t, wire(t, small), "bisect")
	for _, round := range rounds {
		for _, p := range round {
			if (p.from < 8) == (p.to < 8) {
				t.Fatalf("got the pair %v within a half", p)
			}
		}
	}
}

// In the oversubscribed tree, half of the spines serve all flows: two flows share each
// uplink when all hosts of a leaf send to other leaves.
func TestNewPlan(t *testing.T) {
	w := wire(t, "fat-tree:radix=8,pods=4,spines=2")
	p, err := NewPlan(t.Context(), w, PlanOptions{Schedule: Schedule{Name: "bisect"}, Nodes: []string{"host*"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(p.Members, p.Rounds, p.Flows, p.Coverage.Links, p.Sharing.Flows), "16 4 64 16 64"; got != want || p.Sharing.Most < 2 {
		t.Errorf("got %s, at most %d on a link; want %s and at least 2", got, p.Sharing.Most, want)
	}
	few, err := NewPlan(t.Context(), w, PlanOptions{Schedule: Schedule{Name: "shift"}, Nodes: []string{"host0000[12]"}})
	if err != nil {
		t.Fatal(err)
	}
	if few.Members != 2 || few.Flows != 2 || few.Coverage.Used != 0 || few.Sharing.Link != nil || len(few.Coverage.Unused) != 16 {
		t.Errorf("got %+v, want 2 members at a leaf that use no link between switches", few)
	}
}

func TestParseSchedule(t *testing.T) {
	for text, want := range map[string]string{"shift": "shift", "quick": "quick:8", "random:3": "random:3"} {
		if s, err := ParseSchedule(text); err != nil || s.String() != want {
			t.Errorf("%s: got %v, %v; want %s", text, s, err, want)
		}
	}
	for _, text := range []string{"", "x", "shift:1", "random:", "random:0", "random:x", "random:99999"} {
		if s, err := ParseSchedule(text); err == nil {
			t.Errorf("%s: got %v, want an error", text, s)
		}
	}
}
