// Package live runs a simulated cluster test with the workers of a crew: the coordinator
// sends the figures of a model, and the workers report them.
package live

import (
	"context"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
)

// Options are a simulation and the workers that run it.
type Options struct {
	Simulation *mesh.Simulation
	Workers    []string      // names by host of the simulation; "": none
	Pace       time.Duration // that a measurement takes

	// Progress, unless nil, is called before each round.
	Progress func(done, of int, left time.Duration)
}

// An Outcome is the result of a run.
type Outcome struct {
	Results     *mesh.Results
	Rounds, Of  int   // complete rounds, and all
	Interrupted error // why the rest was not run
	Elapsed     time.Duration
}

// Run runs the rounds, and asks at the end whether all workers are there. An end of ctx
// leaves the complete rounds.
func Run(ctx context.Context, c *crew.Crew, o Options) *Outcome {
	hosts := o.Simulation.Hosts()
	out := &Outcome{Results: mesh.NewResults(hosts), Of: o.Simulation.Rounds()}
	number := map[string]int{} // hosts by worker
	for i, name := range o.Workers {
		if name != "" {
			number[name] = i
		}
	}
	began := time.Now()
	for i := range out.Of {
		if o.Progress != nil {
			o.Progress(i, out.Of, left(time.Since(began), i, out.Of))
		}
		outcomes, err := c.Round(ctx, o.round(i))
		if err != nil {
			out.Interrupted = err
			break
		}
		for _, f := range outcomes {
			if f.State == crew.Measured {
				out.Results.Measure(number[f.From], number[f.To], f.Gbps, f.Latency)
			}
		}
		out.Rounds++
	}
	out.Elapsed = time.Since(began)
	if out.Interrupted == nil {
		_, out.Interrupted = c.Round(ctx, crew.Round{All: true})
	}
	return out
}

// left estimates the time of the rounds that are left; 0: unknown.
func left(elapsed time.Duration, done, of int) time.Duration {
	if done == 0 {
		return 0
	}
	return elapsed / time.Duration(done) * time.Duration(of-done)
}

// round returns a round with the simulated figures.
func (o Options) round(i int) crew.Round {
	r := crew.Round{Takes: o.Pace}
	for _, f := range o.Simulation.Round(i) {
		from, to := o.Workers[f.From], o.Workers[f.To]
		if from == "" || to == "" {
			continue
		}
		model := &crew.Figures{Takes: o.Pace}
		if model.Gbps, model.Latency = f.Figures(); f.Failed() {
			model.Error = "no figures"
		}
		r.Flows = append(r.Flows, crew.Flow{From: from, To: to, Model: model})
	}
	return r
}

// Place assigns workers to hosts: by name if each worker has the name of a host, otherwise
// in their order.
func Place(w *mesh.Wiring, expected []string, o mesh.SimulateOptions) (*mesh.Simulation, []string, error) {
	if !w.Fits(expected) {
		s, err := mesh.NewSimulation(w, nil, len(expected), o)
		return s, expected, err
	}
	s, err := mesh.NewSimulation(w, expected, 0, o)
	if err != nil {
		return nil, nil, err
	}
	if hosts := s.Hosts(); len(hosts) != len(expected) {
		return nil, nil, fmt.Errorf("place %d workers: they have the names of %d hosts", len(expected), len(hosts))
	}
	return s, s.Order(expected), nil
}
