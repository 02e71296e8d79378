// Package live runs a cluster test with the workers of a crew: they measure, or they report
// the figures of a simulation.
package live

import (
	"context"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
)

// Options are a course and the workers that run it.
type Options struct {
	Course *mesh.Course
	Seats  []Seat // by host of the course

	Simulation *mesh.Simulation // has the figures instead; nil: workers measure
	Pace       time.Duration    // that a measurement takes
	LoadTime   time.Duration    // that congestors measure longer than others
	Reads      bool             // data flows to the worker that measures
	Fabric     *fabric.Source   // for the counters of suspects; nil: none

	// Progress, unless nil, is called before each round.
	Progress func(done, of int, left time.Duration)
}

// A Seat is the worker at a host of a course, with its rail. Without a worker the host takes
// no part.
type Seat struct {
	Worker string
	Rail   int
}

// An Outcome is the result of a run.
type Outcome struct {
	Results     *mesh.Results
	Rounds, Of  int   // complete rounds, and all
	Interrupted error // why the rest was not run
	Elapsed     time.Duration
	Failed      []Failed
}

// A Failed is a pair without all figures.
type Failed struct {
	From, To int // in the course
	Error    string
	Corrupt  bool
}

// Run runs the rounds, and asks at the end whether all workers are there. An end of ctx
// leaves the complete rounds.
func Run(ctx context.Context, c *crew.Crew, o Options) *Outcome {
	out := &Outcome{Results: mesh.NewResults(o.Course.Hosts()), Of: o.Course.Rounds()}
	began := time.Now()
	for i := range out.Of {
		if o.Progress != nil {
			o.Progress(i, out.Of, left(time.Since(began), i, out.Of))
		}
		flows, outcomes, err := o.round(ctx, c, i, o.Course.Flows(i))
		if err != nil {
			out.Interrupted = err
			break
		}
		for k, f := range outcomes {
			if f.State == crew.Measured {
				out.add(o.part(i, flows[k]), flows[k], f.Figures)
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

// add adds a measured flow. The figures of a corrupt payload are not judged.
func (o *Outcome) add(part mesh.Part, at mesh.Flow, f crew.Figures) {
	from, to := int(at.From), int(at.To)
	if !f.Corrupt {
		o.Results.Measure(part, at, f.Gbps, f.Latency)
	}
	if f.Error != "" {
		o.Results.Explain(from, to, f.Error)
		o.Failed = append(o.Failed, Failed{from, to, f.Error, f.Corrupt})
	}
}

// left estimates the time of the rounds that are left; 0: unknown.
func left(elapsed time.Duration, done, of int) time.Duration {
	if done == 0 {
		return 0
	}
	return elapsed / time.Duration(done) * time.Duration(of-done)
}

// noRound is the number of a round that is not in the course.
const noRound = -1

// part returns the part of a flow in a round.
func (o Options) part(number int, f mesh.Flow) mesh.Part {
	if number == noRound {
		return mesh.Plain
	}
	return o.Course.Part(number, f)
}

// loadLead is the time in which congestors begin, before the victims do.
const loadLead = 300 * time.Millisecond

// round measures flows of the course at the same time. It returns the outcomes with their
// flows, without the flows of hosts that take no part.
func (o Options) round(ctx context.Context, c *crew.Crew, number int, flows []mesh.Flow) (measured []mesh.Flow, outcomes []crew.Outcome, err error) {
	if o.Simulation != nil {
		flows = o.Simulation.Measure(flows)
	}
	r := crew.Round{Takes: o.Pace}
	for _, f := range flows {
		from, to := o.Seats[f.From], o.Seats[f.To]
		if from.Worker == "" || to.Worker == "" {
			continue
		}
		if o.Reads {
			from, to = to, from
		}
		flow := crew.Flow{From: from.Worker, To: to.Worker, FromRail: from.Rail, ToRail: to.Rail}
		switch o.part(number, f) {
		case mesh.Congestor:
			flow.Load, r.Takes = true, o.Pace+o.LoadTime
		case mesh.Loaded:
			flow.Wait = loadLead
		}
		if o.Simulation != nil {
			flow.Model = &crew.Figures{Takes: o.Pace}
			if flow.Model.Gbps, flow.Model.Latency = f.Figures(); f.Failed() {
				flow.Model.Error = "no figures"
			}
		}
		measured, r.Flows = append(measured, f), append(r.Flows, flow)
	}
	outcomes, err = c.Round(ctx, r)
	return measured, outcomes, err
}

// Place assigns workers to hosts of a simulated fabric: by name if each worker has the name
// of a host, otherwise in their order.
func Place(w *mesh.Wiring, expected []string, schedule mesh.Schedule) (*mesh.Course, []Seat, error) {
	if !w.Fits(expected) {
		c, err := mesh.NewCourse(w, nil, len(expected), schedule)
		return c, seats(expected), err
	}
	c, err := mesh.NewCourse(w, expected, 0, schedule)
	if err != nil {
		return nil, nil, err
	}
	if hosts := c.Hosts(); len(hosts) != len(expected) {
		return nil, nil, fmt.Errorf("place %d workers: they have the names of %d hosts", len(expected), len(hosts))
	}
	return c, seats(c.Order(expected)), nil
}

func seats(workers []string) (all []Seat) {
	for _, name := range workers {
		all = append(all, Seat{Worker: name})
	}
	return all
}
