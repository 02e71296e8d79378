package mesh

import (
	"iter"
	"slices"
)

// A Part is the part of a flow in its schedule.
type Part uint8

// Parts of flows. A victim is measured twice: as plain flow, and loaded.
const (
	Plain     Part = iota
	Loaded         // by congestors in the same round
	Congestor      // its figures are of no interest
)

// The victims of congest: a fifth of the members, as in GPCNeT, at several distances.
const (
	victimShare    = 5
	congestRounds  = 4
	leastVictims   = 2
	leastCongestor = 2
)

// victims returns the victims of congest, spread over the members, and the others.
func (m *members) victims() (victims, others []int32) {
	n := m.count()
	count := max(leastVictims, n/victimShare)
	for i := range n {
		if next := int32(len(victims)); next < count && i == next*n/count {
			victims = append(victims, i)
		} else {
			others = append(others, i)
		}
	}
	return victims, others
}

// congest measures rings of victims without and then with congestors: groups of the other
// members, in which several send to one.
func (m *members) congest(senders int) iter.Seq[[]pair] {
	return func(yield func([]pair) bool) {
		victims, others := m.victims()
		if len(others) < leastCongestor {
			return
		}
		crowd := &members{wiring: m.wiring, ends: others}
		var loads [][]pair
		for round := range crowd.incast(senders) {
			for i, p := range round {
				round[i] = pair{others[p.from], others[p.to]}
			}
			loads = append(loads, round)
		}
		n := len(victims)
		rings := min(congestRounds, n-1)
		for k := range rings {
			distance := 1 + k*(n-1)/rings
			var ring []pair
			for i := range victims {
				ring = append(ring, pair{victims[i], victims[(i+distance)%n]})
			}
			if !yield(ring) || !yield(slices.Concat(ring, loads[k%len(loads)])) {
				return
			}
		}
	}
}

// parts returns a function for the parts of flows, by round from 0 and sender.
func (s Schedule) parts(m *members) func(round int, from int32) Part {
	if s.Name != congestSchedule {
		return func(int, int32) Part { return Plain }
	}
	victims, _ := m.victims()
	return func(round int, from int32) Part {
		switch {
		case round%2 == 0:
			return Plain
		case slices.Contains(victims, from):
			return Loaded
		}
		return Congestor
	}
}
