package mesh

import (
	"iter"
	"math/rand/v2"
)

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

// loopback lets an adapter of each host at a time measure itself.
func (m *members) loopback(int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		var rounds [][]pair
		count := map[int32]int{} // adapters by host
		for i, end := range m.ends {
			host := m.wiring.ends[end].host
			k := count[host]
			if count[host]++; k == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[k] = append(rounds[k], pair{int32(i), int32(i)})
		}
		for _, round := range rounds {
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
