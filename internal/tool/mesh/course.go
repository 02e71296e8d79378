package mesh

import (
	"fmt"
	"slices"
)

// A Course is a schedule's rounds between chosen hosts.
type Course struct {
	take   *members
	rounds [][]pair
	part   func(round int, from int32) Part
}

// NewCourse returns a schedule between hosts with names, or between the first hosts of the
// fabric if names is nil.
func NewCourse(w *Wiring, names []string, count int, schedule Schedule) (*Course, error) {
	if err := schedule.file.check(w); err != nil {
		return nil, err
	}
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
		return nil, fmt.Errorf("choose %d hosts: the fabric has %d", count, len(take.ends))
	} else {
		take.ends = take.ends[:count]
	}
	c := &Course{take: take, part: schedule.parts(take)}
	for round := range schedule.rounds(take) {
		c.rounds = append(c.rounds, slices.Clone(round))
	}
	return c, nil
}

// Hosts returns the names of the hosts, in the order of the schedule.
func (c *Course) Hosts() (names []string) {
	for i := range c.take.count() {
		names = append(names, c.take.name(i))
	}
	return names
}

// Rounds returns the number of rounds.
func (c *Course) Rounds() int { return len(c.rounds) }

// Flows returns the flows of a round, without figures. Their ends are numbers in Hosts.
func (c *Course) Flows(i int) (flows []Flow) {
	for _, p := range c.rounds[i] {
		flows = append(flows, Flow{p.from, p.to, none, none})
	}
	return flows
}

// Part returns the part of a flow in a round.
func (c *Course) Part(round int, f Flow) Part { return c.part(round, f.From) }

// Order returns names of all hosts in the order of Hosts.
func (c *Course) Order(names []string) []string {
	byEnd := map[int32]string{}
	for _, name := range names {
		for _, end := range c.take.wiring.resolve(name) {
			byEnd[end] = name
		}
	}
	ordered := make([]string, 0, len(names))
	for _, end := range c.take.ends {
		ordered = append(ordered, byEnd[end])
	}
	return ordered
}
