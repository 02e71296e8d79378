package live_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/mesh/live"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/sim"
)

// brief returns the findings as "KIND SUBJECT: DETAIL" for findings about workers.
func brief(r *mesh.Result) (all []string) {
	for _, f := range r.Findings {
		text := string(f.Kind) + " " + f.Subject
		if data, ok := f.Data.(*mesh.FindingData); ok && len(data.Candidates) == 0 {
			text += ": " + f.Detail
		}
		all = append(all, text)
	}
	return all
}

// wire returns a fabric of 16 hosts, and a simulation with a fault.
func wire(t *testing.T, fault string) (*mesh.Wiring, mesh.SimulateOptions) {
	t.Helper()
	f, err := sim.Build("fat-tree:radix=8,pods=4")
	if err != nil {
		t.Fatal(err)
	}
	r, err := route.Scan(t.Context(), route.Options{Source: fabric.Source{OpenPort: f.Opener("")}})
	if err != nil {
		t.Fatal(err)
	}
	w := mesh.NewWiring(r, nil)
	planted, err := w.ParseFault(fault)
	if err != nil {
		t.Fatal(err)
	}
	o := mesh.SimulateOptions{Noise: 0.015, Seed: 1, Faults: []mesh.Fault{planted}}
	if o.Schedule, err = mesh.ParseSchedule("shift"); err != nil {
		t.Fatal(err)
	}
	return w, o
}

// TestRun runs schedules on 16 simulated hosts with workers in goroutines.
func TestRun(t *testing.T) {
	for name, test := range map[string]struct {
		expect []string
		absent int           // workers that do not start, the last
		until  time.Duration // interrupts the run
		fault  string
		want   []string
		flows  int
		failed string
		bad    string // hosts with their actions
	}{
		"healthy":       {[]string{"a", "b", "c", "d"}, 0, 0, "host00009=50%", nil, 12, "", ""},
		"slow host":     {[]string{"a", "b", "c", "d"}, 0, 0, "host00002=50%", []string{"slow-node host00002"}, 12, "", "b drain"},
		"names":         {[]string{"host00016", "host00010", "host00001", "host00009"}, 0, 0, "host00009=50%", []string{"slow-node host00009"}, 12, "", "host00009 drain"},
		"missing":       {[]string{"a", "b", "c", "d", "e"}, 1, 0, "host00009=50%", []string{"missing host00005: worker e: it did not join"}, 12, "", "e avoid"},
		"missing names": {[]string{"host00001", "host00002", "host00003"}, 1, 0, "host00009=50%", []string{"missing host00003: it did not join"}, 2, "", "host00003 avoid"},
		"interrupted":   {[]string{"a", "b", "c", "d"}, 0, 2500 * time.Millisecond, "host00009=50%", nil, 8, "interrupted after 2 of 3 rounds", ""},
		"hang":          {[]string{"a", "b", "c", "d"}, 0, 0, "host00003=hang", []string{"hung host00003"}, 12, "", "c drain"},
		"odd":           {[]string{"a", "b", "c", "d", "e"}, 0, 0, "host00002=50%", []string{"slow-node host00002"}, 20, "", "b drain"},
		"one":           {[]string{"a"}, 0, 0, "host00009=50%", nil, 0, "got fewer than two workers: no flow was measured", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, o := wire(t, test.fault)
			synctest.Test(t, func(t *testing.T) {
				l := testenv.NewPipes()
				var workers sync.WaitGroup
				defer workers.Wait()
				for _, name := range test.expect[:len(test.expect)-test.absent] {
					o := crew.WorkerOptions{Token: "t", Name: name, Coordinators: []string{"c"}, Within: time.Minute, Dial: l.Dial}
					workers.Go(func() {
						if _, err := crew.Work(context.Background(), o); err != nil {
							t.Error(err)
						}
					})
				}
				c, err := crew.Gather(t.Context(), l, crew.Options{Token: "t", Expect: test.expect, Within: 5 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close("")
				course, seats, err := live.Place(w, test.expect, o.Schedule)
				if err != nil {
					t.Fatal(err)
				}
				ctx := t.Context()
				if test.until > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.until)
					defer cancel()
				}
				run := live.Options{Course: course, Simulation: mesh.NewSimulation(course, o), Seats: seats, Pace: time.Second}
				out := live.Run(ctx, c, run)
				r := live.Conclude(ctx, c, w, run, out, mesh.Options{})
				if d := cmp.Diff(test.want, brief(r)); d != "" && len(test.want)+len(r.Findings) > 0 {
					t.Error(d)
				}
				r.ListHosts()
				bad := ""
				for _, b := range r.BadHosts {
					bad += fmt.Sprint(b.Host, " ", b.Action)
				}
				if bad != test.bad {
					t.Errorf("got bad hosts %q, want %q", bad, test.bad)
				}
				if partial := test.absent > 0 || test.failed != ""; r.Flows != test.flows || r.Partial != partial {
					t.Errorf("got %d flows, partial %v; want %d", r.Flows, r.Partial, test.flows)
				}
				if test.failed != "" && (len(r.Failures) != 1 || r.Failures[0].Error != test.failed) {
					t.Errorf("got failures %+v, want %s", r.Failures, test.failed)
				}
			})
		})
	}
}
