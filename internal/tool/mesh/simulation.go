package mesh

import (
	"fmt"
	"slices"
)

// A Simulation calculates a schedule's figures round by round, for workers that report
// them. It is not safe for concurrent use.
type Simulation struct {
	take   *members
	model  *model
	rounds [][]pair
}

// NewSimulation prepares a schedule between hosts with names, or between the first hosts of
// the fabric if names is nil.
func NewSimulation(w *Wiring, names []string, count int, o SimulateOptions) (*Simulation, error) {
	chosen := map[int32]bool{}
	for _, name := range names {
		found := w.resolve(name)
		if len(found) != 1 {
			return nil, fmt.Errorf("find host %s: got %d ports with this name, want 1", name, len(found))
		}
		chosen[found[0]] = true
	}
	take := newMembers(w, nil)
	if names != nil {
		take.ends = slices.DeleteFunc(take.ends, func(i int32) bool { return !chosen[i] })
	} else if len(take.ends) < count {
		return nil, fmt.Errorf("simulate %d hosts: the fabric has %d", count, len(take.ends))
	} else {
		take.ends = take.ends[:count]
	}
	s := &Simulation{take: take, model: newModel(w, o)}
	for round := range o.Schedule.rounds(take) {
		s.rounds = append(s.rounds, slices.Clone(round))
	}
	return s, nil
}

// Hosts returns the names of the hosts, in the order of the schedule.
func (s *Simulation) Hosts() (names []string) {
	for i := range s.take.count() {
		names = append(names, s.take.name(i))
	}
	return names
}

// Rounds returns the number of rounds.
func (s *Simulation) Rounds() int { return len(s.rounds) }

// Round calculates the flows of a round. Their ends are numbers in Hosts.
func (s *Simulation) Round(i int) (flows []Flow) {
	s.model.load(s.take, s.rounds[i])
	for _, p := range s.rounds[i] {
		a, b := s.take.ends[p.from], s.take.ends[p.to]
		if s.model.missing[a] || s.model.missing[b] {
			continue
		}
		f := s.model.measure(a, b)
		f.From, f.To = p.from, p.to
		flows = append(flows, f)
	}
	return flows
}

// Figures returns the figures of a flow, nil if not measured.
func (f Flow) Figures() (gbps, micros *float64) {
	if !isNone(f.Gbps) {
		gbps = new(float64(f.Gbps))
	}
	if !isNone(f.Micros) {
		micros = new(float64(f.Micros))
	}
	return gbps, micros
}

// Fits reports whether each name is that of a single port.
func (w *Wiring) Fits(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return len(w.resolve(name)) != 1 })
}

// NewResults returns results between hosts without flows.
func NewResults(hosts []string) *Results {
	r := &Results{Format: JSON}
	for _, name := range hosts {
		r.name([]byte(name))
	}
	return r
}

// Measure adds a flow between two hosts by their numbers. A nil figure was not measured.
func (r *Results) Measure(from, to int, gbps, micros *float64) {
	f := Flow{int32(from), int32(to), none, none}
	if gbps != nil {
		f.Gbps = float32(*gbps)
	}
	if micros != nil {
		f.Micros = float32(*micros)
	}
	r.add(f)
}

// Order returns names of all hosts in the order of Hosts.
func (s *Simulation) Order(names []string) []string {
	byEnd := map[int32]string{}
	for _, name := range names {
		for _, end := range s.take.wiring.resolve(name) {
			byEnd[end] = name
		}
	}
	ordered := make([]string, 0, len(names))
	for _, end := range s.take.ends {
		ordered = append(ordered, byEnd[end])
	}
	return ordered
}
