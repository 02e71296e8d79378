package mesh

import (
	"iter"
	"math"
	"math/bits"
)

// A traffic records which links a round's flows use.
type traffic struct {
	members *members
	paths   *elements
	used    []int32 // last round by element
	round   int32
	path    []element
}

func newTraffic(m *members) *traffic {
	t := &traffic{members: m, paths: newElements(m.wiring, m.ends, false)}
	t.used = make([]int32, t.paths.count)
	return t
}

// links returns the directed links, and the ends, that a flow uses. It is valid until the
// next call.
func (t *traffic) links(p pair) []element {
	all, _ := t.paths.of(t.path[:0], &Flow{From: p.from, To: p.to})
	t.path = all
	links := all[:0]
	for _, x := range all {
		if kind, _, _ := t.paths.kind(x); kind == linkElement || kind == endElement {
			links = append(links, x)
		}
	}
	return links
}

// begin starts a round.
func (t *traffic) begin() { t.round++ }

// add adds a flow to the round, and reports false if another flow uses one of its links.
func (t *traffic) add(p pair) bool {
	links := t.links(p)
	for _, x := range links {
		if t.used[x] == t.round {
			return false
		}
	}
	for _, x := range links {
		t.used[x] = t.round
	}
	return true
}

// aware puts each flow of shift into the first round in which its links are free. Without
// shared links that is shift itself.
func (m *members) aware(int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		t := newTraffic(m)
		fits := newFirstFit(int(t.paths.count))
		var flows []pair
		var at []int32 // round by flow
		rounds := 0
		for shift := range m.shift(0) {
			for _, p := range shift {
				round := fits.place(t.links(p))
				flows, at = append(flows, p), append(at, int32(round))
				rounds = max(rounds, round+1)
			}
		}
		ordered, ends := byRound(flows, at, rounds)
		begin := 0
		for _, end := range ends {
			if !yield(ordered[begin:end]) {
				return
			}
			begin = end
		}
	}
}

// byRound sorts flows by their rounds, and returns where each round ends.
func byRound(flows []pair, at []int32, rounds int) (ordered []pair, ends []int) {
	next := make([]int, rounds+1)
	for _, round := range at {
		next[round+1]++
	}
	for i := range rounds {
		next[i+1] += next[i]
	}
	ends = append(ends, next[1:]...)
	ordered = make([]pair, len(flows))
	for i, p := range flows {
		ordered[next[at[i]]] = p
		next[at[i]]++
	}
	return ordered, ends
}

// A firstFit finds the first round in which links are free.
type firstFit struct {
	used [][]uint64 // a bit for each round, by link
	full []int      // words before this one have no free round, by link
}

func newFirstFit(links int) *firstFit { return &firstFit{make([][]uint64, links), make([]int, links)} }

// place uses links in the first round in which all are free.
func (f *firstFit) place(links []element) int {
	word := 0
	for _, x := range links {
		word = max(word, f.full[x])
	}
	for ; ; word++ {
		var used uint64
		for _, x := range links {
			if word < len(f.used[x]) {
				used |= f.used[x][word]
			}
		}
		if used == math.MaxUint64 {
			continue
		}
		bit := bits.TrailingZeros64(^used)
		for _, x := range links {
			f.use(x, word, bit)
		}
		return word*64 + bit
	}
}

// use marks a link as used in a round.
func (f *firstFit) use(x element, word, bit int) {
	for len(f.used[x]) <= word {
		f.used[x] = append(f.used[x], 0)
	}
	f.used[x][word] |= 1 << bit
	for f.full[x] < len(f.used[x]) && f.used[x][f.full[x]] == math.MaxUint64 {
		f.full[x]++
	}
}

// quickTries limits the destinations that quick tries for a member in a round.
const quickTries = 64

// quick makes rounds in which no flows share a link, at different distances.
func (m *members) quick(rounds int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		t, n := newTraffic(m), m.count()
		seen := map[pair]bool{}
		for k := range int32(rounds) {
			t.begin()
			var round []pair
			distance := 1 + int32(int64(k)*int64(n-1)/int64(rounds))
			for i := range n {
				from := (i + k*17) % n
				for try := range min(n-1, quickTries) {
					p := pair{from, (from + 1 + (distance-1+try*(1+n/quickTries))%(n-1)) % n}
					if !seen[p] && t.add(p) {
						seen[p] = true
						round = append(round, p)
						break
					}
				}
			}
			if len(round) == 0 || !yield(round) {
				return
			}
		}
	}
}
