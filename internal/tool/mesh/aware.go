package mesh

import "iter"

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

// window limits the flows that are tried for an additional round, in multiples of the
// member count.
const window = 20

// aware is shift, with the flows that share a link moved to additional rounds.
func (m *members) aware(int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		t := newTraffic(m)
		var moved, round []pair
		for shift := range m.shift(0) {
			t.begin()
			round = round[:0]
			for i := range shift {
				p := shift[(i+int(t.round)*7919)%len(shift)] // fair to all
				if t.add(p) {
					round = append(round, p)
				} else {
					moved = append(moved, p)
				}
			}
			if !yield(round) {
				return
			}
		}
		for len(moved) > 0 {
			t.begin()
			round = round[:0]
			tried := min(len(moved), window*len(m.ends))
			rest := moved[:0]
			for i, p := range moved {
				if i < tried && t.add(p) {
					round = append(round, p)
				} else {
					rest = append(rest, p)
				}
			}
			moved = rest
			if !yield(round) {
				return
			}
		}
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
