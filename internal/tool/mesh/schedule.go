package mesh

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A Schedule is which members send to which in each round.
type Schedule struct {
	Name string
	N    int // rounds, or hosts per group; 0: without a number
}

// A scheduleInfo describes a schedule.
type scheduleInfo struct {
	name, about string
	standard    int // of N; 0: the schedule has no number
	most        int
	rounds      func(*members, int) iter.Seq[[]pair]
}

var schedules = []scheduleInfo{
	{"shift", "all ordered pairs: in round k, member i sends to i+k", 0, 0, (*members).shift},
	{"circle", "all pairs in both directions at the same time", 0, 0, (*members).circle},
	{"aware", "all ordered pairs, no directed link twice per round", 0, 0, (*members).aware},
	{"quick", "some rounds without shared links: quick:ROUNDS", 8, 1 << 16, (*members).quick},
	{"rail", "all ordered pairs on the same rail, all rails at once", 0, 0, (*members).rail},
	{"bisect", "each half of the leaves with the other half", 0, 0, (*members).bisect},
	{"random", "random permutations: random:ROUNDS", 16, 1 << 16, (*members).random},
	{"incast", "groups in which several send to one: incast:SENDERS", 8, 1 << 12, (*members).incast},
	{"outcast", "groups in which one sends to several: outcast:RECEIVERS", 8, 1 << 12, (*members).outcast},
	{"alltoall", "all ordered pairs in a single round", 0, 0, (*members).allToAll},
}

// Schedules returns the schedule names, each with a tab and a description.
func Schedules() (all []string) {
	for _, s := range schedules {
		all = append(all, s.name+"\t"+s.about)
	}
	return all
}

// ParseSchedule parses a name with an optional number, such as "random:16".
func ParseSchedule(text string) (Schedule, error) {
	name, number, hasNumber := strings.Cut(text, ":")
	i := slices.IndexFunc(schedules, func(s scheduleInfo) bool { return s.name == name })
	if i < 0 {
		var names []string
		for _, s := range schedules {
			names = append(names, s.name)
		}
		return Schedule{}, fmt.Errorf("unknown schedule %q (known: %s)", text, strings.Join(names, ", "))
	}
	s := Schedule{name, schedules[i].standard}
	switch {
	case !hasNumber:
		return s, nil
	case s.N == 0:
		return s, fmt.Errorf("schedule %s has no number", name)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > schedules[i].most {
		return s, fmt.Errorf("schedule %s: got the number %q, want 1 to %d", name, number, schedules[i].most)
	}
	s.N = n
	return s, nil
}

// String returns the form that [ParseSchedule] parses.
func (s Schedule) String() string {
	if s.N == 0 {
		return s.Name
	}
	return fmt.Sprintf("%s:%d", s.Name, s.N)
}

// rounds returns a schedule's rounds. A round is valid until the next.
func (s Schedule) rounds(m *members) iter.Seq[[]pair] {
	for _, info := range schedules {
		if info.name == s.Name {
			return info.rounds(m, s.N)
		}
	}
	return func(func([]pair) bool) {}
}

// A pair is a flow between members.
type pair struct{ from, to int32 }

// members are the end ports that take part, in the order in which routing assigns paths:
// by leaf, then by LID.
type members struct {
	wiring *Wiring
	ends   []int32
}

// newMembers returns the hosts' ports. keep selects them; nil: all.
func newMembers(w *Wiring, keep func(*end) bool) *members {
	m := &members{wiring: w}
	first := map[int]int{} // lowest LID by leaf
	for i := range w.ends {
		e := &w.ends[i]
		if !e.expected() || keep != nil && !keep(e) {
			continue
		}
		m.ends = append(m.ends, int32(i))
		leaf, lid := w.channels.At(i), int(e.port.LID)
		if low, ok := first[leaf]; !ok || lid < low {
			first[leaf] = lid
		}
	}
	slices.SortStableFunc(m.ends, func(a, b int32) int {
		la, lb := w.channels.At(int(a)), w.channels.At(int(b))
		return cmp.Or(cmp.Compare(first[la], first[lb]), cmp.Compare(la, lb), cmp.Compare(w.ends[a].port.LID, w.ends[b].port.LID))
	})
	return m
}

func (m *members) count() int32 { return int32(len(m.ends)) }

func (m *members) shift(int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		n := m.count()
		round := make([]pair, n)
		for k := int32(1); k < n; k++ {
			for i := range n {
				round[i] = pair{i, (i + k) % n}
			}
			if !yield(round) {
				return
			}
		}
	}
}

// circle is the circle method: member 0 stays, the others rotate; with an odd count, one
// pauses.
func (m *members) circle(int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		n := m.count()
		even := n + n%2
		for k := range max(even-1, 0) {
			var round []pair
			at := func(i int32) int32 {
				if i == 0 {
					return 0
				}
				return 1 + (i-1+k)%(even-1)
			}
			for i := range even / 2 {
				a, b := at(i), at(even-1-i)
				if a < n && b < n {
					round = append(round, pair{a, b}, pair{b, a})
				}
			}
			if !yield(round) {
				return
			}
		}
	}
}

func (m *members) rail(int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		rails := make([][]int32, len(m.wiring.rails))
		longest := 0
		for i, end := range m.ends {
			r := m.wiring.ends[end].rail
			rails[r] = append(rails[r], int32(i))
			longest = max(longest, len(rails[r]))
		}
		for k := 1; k < longest; k++ {
			var round []pair
			for _, rail := range rails {
				for i := range rail {
					if k < len(rail) {
						round = append(round, pair{rail[i], rail[(i+k)%len(rail)]})
					}
				}
			}
			if !yield(round) {
				return
			}
		}
	}
}

// bisectRounds is the round count of bisect.
const bisectRounds = 4

func (m *members) bisect(int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		half := m.count() / 2
		for k := range min(bisectRounds, half) {
			var round []pair
			for i := range half {
				other := half + (i+k*half/bisectRounds)%half
				round = append(round, pair{i, other}, pair{other, i})
			}
			if !yield(round) {
				return
			}
		}
	}
}

// random returns the same permutations in each run.
func (m *members) random(rounds int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		n := m.count()
		to := make([]int32, n)
		for k := range rounds {
			for i := range to {
				to[i] = int32(i)
			}
			r := rand.New(rand.NewPCG(uint64(k), 0))
			r.Shuffle(len(to), func(i, k int) { to[i], to[k] = to[k], to[i] })
			var round []pair
			for i, j := range to {
				if int32(i) != j {
					round = append(round, pair{int32(i), j})
				}
			}
			if n < 2 || !yield(round) {
				return
			}
		}
	}
}

// incast makes groups across leaves, in which each member receives once.
func (m *members) incast(senders int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		size := min(int32(senders)+1, m.count())
		groups := m.count() / max(size, 1)
		for k := range size {
			var round []pair
			for g := range groups {
				for i := range size {
					if i != k {
						round = append(round, pair{g + i*groups, g + k*groups})
					}
				}
			}
			if size < 2 || !yield(round) {
				return
			}
		}
	}
}

func (m *members) outcast(receivers int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		for round := range m.incast(receivers) {
			for i, p := range round {
				round[i] = pair{p.to, p.from}
			}
			if !yield(round) {
				return
			}
		}
	}
}

func (m *members) allToAll(int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		var round []pair
		for i := range m.count() {
			for k := range m.count() {
				if i != k {
					round = append(round, pair{i, k})
				}
			}
		}
		if len(round) > 0 {
			yield(round)
		}
	}
}
