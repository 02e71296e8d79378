package mesh

import "slices"

// A Simulation calculates the figures of a course, for workers that report them. It is not
// safe for concurrent use.
type Simulation struct {
	*Course
	model *model
}

// NewSimulation prepares the simulation of a course.
func NewSimulation(c *Course, o SimulateOptions) *Simulation {
	return &Simulation{c, newModel(c.take.wiring, o)}
}

// Measure calculates flows at the same time. Their ends are numbers in Hosts; flows of missing
// hosts are left out.
func (s *Simulation) Measure(flows []Flow) (measured []Flow) {
	var round []pair
	for _, f := range flows {
		round = append(round, pair{f.From, f.To})
	}
	s.model.load(s.take, round)
	for _, p := range round {
		a, b := s.take.ends[p.from], s.take.ends[p.to]
		if s.model.missing[a] || s.model.missing[b] {
			continue
		}
		f := s.model.measure(a, b)
		f.From, f.To = p.from, p.to
		measured = append(measured, f)
	}
	return measured
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
		r.Number(name)
	}
	return r
}

// Measure adds a flow with the ends of another. A nil figure was not measured.
func (r *Results) Measure(part Part, ends Flow, gbps, micros *float64) {
	r.addPart(part, NewFlow(ends, gbps, micros))
}

// Replace replaces the figures of a flow by its ends, or adds the flow.
func (r *Results) Replace(f Flow) {
	if i := slices.IndexFunc(r.Flows, func(old Flow) bool { return old.From == f.From && old.To == f.To }); i >= 0 {
		r.Flows[i] = f
		return
	}
	r.add(f)
}

// Clone returns a copy, as [Analyze] changes its results.
func (r *Results) Clone() *Results {
	c := *r
	c.Names, c.Flows, c.Loaded = slices.Clone(r.Names), slices.Clone(r.Flows), slices.Clone(r.Loaded)
	return &c
}

// NewFlow returns a flow with the ends of another. A nil figure was not measured.
func NewFlow(ends Flow, gbps, micros *float64) Flow {
	f := Flow{ends.From, ends.To, none, none}
	if gbps != nil {
		f.Gbps = float32(*gbps)
	}
	if micros != nil {
		f.Micros = float32(*micros)
	}
	return f
}
