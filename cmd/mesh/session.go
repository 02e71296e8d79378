package mesh

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/mesh/live"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/report"
)

// A session is a run that is prepared: a simulation, or measurements.
type session struct {
	wiring   *mesh.Wiring
	run      live.Options
	options  mesh.SimulateOptions
	began    time.Time
	findings []report.Finding
	failures []report.Failure
}

// simulated prepares a simulation before the workers join.
func (c *coordinator) simulated(ctx context.Context) (*session, error) {
	w, err := c.source.wiring(ctx)
	if err != nil {
		return nil, err
	}
	o, err := c.model.options(w)
	return &session{wiring: w, options: o, began: c.source.routing.Began, run: live.Options{Pace: c.pace}}, err
}

// place assigns the expected workers to hosts of the simulated fabric.
func (s *session) place(expected []string) (err error) {
	if s.run.Course, s.run.Seats, err = live.Place(s.wiring, expected, s.options.Schedule); err == nil {
		s.run.Simulation = mesh.NewSimulation(s.run.Course, s.options)
	}
	return err
}

// overhead is the time of a measurement besides the transfer: connections and warm-ups.
const overhead = time.Second

// measured prepares measurements between the members.
func (c *coordinator) measured(ctx context.Context, members *crew.Crew) (*session, error) {
	fleet := live.Muster(members)
	s := &session{began: time.Now(), run: live.Options{Pace: overhead + c.test.duration, LoadTime: loadTime, Reads: c.test.op == perf.Read}}
	if c.source.from.File != "" || c.source.from.SA || fleet.IsInfiniBand() {
		w, err := c.source.wiring(ctx)
		switch {
		case err != nil && (c.source.from.File != "" || c.source.from.SA || ctx.Err() != nil):
			return nil, err
		case err != nil:
			err = fmt.Errorf("no fabric, hosts are judged only: %w", err)
			cmdutil.PrintError(c.env, c.from, err)
			fleet.Failures = append(fleet.Failures, report.Failure{Error: err.Error()})
		default:
			s.wiring, s.began = w, c.source.routing.Began
			if c.source.from.File == "" && !c.source.from.SA {
				source := c.source.from.Fabric(&c.source.fabric.Settings, c.env)
				s.run.Fabric = &source
			}
		}
	}
	schedule := c.model.schedule.value
	if fleet.IsMultiRail() && !c.scheduled {
		schedule = mesh.Schedule{Name: "rail"}
	}
	s.options.Schedule = schedule
	var err error
	s.wiring, s.run.Course, s.run.Seats, err = fleet.Place(s.wiring, schedule)
	s.findings, s.failures = fleet.Findings, fleet.Failures
	return s, err
}

// finish adds the findings and failures from before the run.
func (s *session) finish(r *mesh.Result) {
	r.Findings = append(append([]report.Finding{}, s.findings...), r.Findings...) // never nil
	r.Missing += len(s.findings)
	r.Partial = r.Partial || len(s.findings) > 0
	r.Fail(s.failures...)
}

// save writes the results of a run to the file of --results.
func (c *coordinator) save(s *session, o *live.Outcome) error {
	if c.results == "" {
		return nil
	}
	file, err := fileout.Create(c.results)
	if err != nil {
		return err
	}
	defer file.Abort()
	out := render.NewOutput(file)
	formats := map[string]string{".json": formatJSON, ".jsonl": formatLines}
	printResults(out, formats[filepath.Ext(c.results)], o.Results, mesh.NewReportResults(report.NewHead(mesh.ResultsSchema, s.began), &s.options))
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Commit()
}
