package mesh

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// A Schedule is which members send to which in each round.
type Schedule struct {
	Name string
	N    int // rounds, or hosts per group; 0: without a number
	file *fileRounds
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
	{congestSchedule, "victims without and with congestors: congest:SENDERS", 8, 1 << 12, (*members).congest},
	{coverSchedule, "few pairs over all leaf pairs and links: cover:PAIRS", 2, 1 << 8, (*members).cover},
	{"loopback", "each adapter with itself: host or network?", 0, 0, (*members).loopback},
	{fileSchedule, "lines of ROUND SENDER RECEIVER: file:PATH", 0, 0, nil},
}

// congestSchedule is the schedule with [Part]s.
const congestSchedule = "congest"

// coverSchedule is the schedule of a standing probe.
const coverSchedule = "cover"

// Schedules returns the schedule names, each with a tab and a description.
func Schedules() (all []string) {
	for _, s := range schedules {
		all = append(all, s.name+"\t"+s.about)
	}
	return all
}

// ScheduleNames returns the schedule names.
func ScheduleNames() (all []string) {
	for _, s := range schedules {
		all = append(all, s.name)
	}
	return all
}

// ParseSchedule parses a name with an optional number, such as "random:16", or reads the file of
// "file:PATH".
func ParseSchedule(text string) (Schedule, error) {
	name, number, hasNumber := strings.Cut(text, ":")
	i := slices.IndexFunc(schedules, func(s scheduleInfo) bool { return s.name == name })
	if i < 0 {
		return Schedule{}, fmt.Errorf("unknown schedule %q (known: %s)", text, strings.Join(ScheduleNames(), ", "))
	}
	s := Schedule{Name: name, N: schedules[i].standard}
	switch {
	case name == fileSchedule:
		var err error
		if s.file, err = readSchedule(number); err != nil {
			return s, fmt.Errorf("schedule %s: %w", name, err)
		}
		return s, nil
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
	switch {
	case s.file != nil:
		return s.Name + ":" + s.file.path
	case s.N == 0:
		return s.Name
	}
	return fmt.Sprintf("%s:%d", s.Name, s.N)
}

// rounds returns a schedule's rounds. A round is valid until the next.
func (s Schedule) rounds(m *members) iter.Seq[[]pair] {
	if s.file != nil {
		return s.file.of(m)
	}
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
