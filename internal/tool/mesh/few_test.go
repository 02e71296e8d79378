package mesh

import (
	"fmt"
	"testing"
)

// TestAnalyze_FewHosts judges the flows of a few healthy hosts, and of hosts with one at half
// speed: too few flows describe the noise, so that a finding needs a clear difference.
func TestAnalyze_FewHosts(t *testing.T) {
	const seeds = 1000
	w := wire(t, "single-switch:hosts=5")
	for hosts := 2; hosts <= 5; hosts++ {
		for _, noise := range []float64{0.015, 0.04} {
			t.Run(fmt.Sprintf("%d hosts with %.1f %% noise", hosts, 100*noise), func(t *testing.T) {
				healthy, slow := 0, 0
				for seed := range uint64(seeds) {
					o := SimulateOptions{Schedule: Schedule{Name: "shift"}, Noise: noise, Seed: seed}
					if r := few(t, w, hosts, o); len(r.Findings) > 0 {
						healthy++
						if healthy == 1 {
							t.Logf("seed %d: %v", seed, r.Findings)
						}
					}
					f, err := w.ParseFault("host002=50%")
					if err != nil {
						t.Fatal(err)
					}
					o.Faults = []Fault{f}
					if r := few(t, w, hosts, o); len(r.Findings) > 0 && r.Findings[0].Subject == "host002" {
						slow++
					}
				}
				if healthy > 0 {
					t.Errorf("got findings for %d of %d healthy seeds, want none", healthy, seeds)
				}
				if hosts > 2 && slow < seeds*98/100 {
					t.Errorf("got %d of %d slow hosts, want 98 %%", slow, seeds)
				}
			})
		}
	}
}

// few measures between the first hosts of a fabric.
func few(t *testing.T, w *Wiring, hosts int, o SimulateOptions) *Result {
	t.Helper()
	c, err := NewCourse(w, nil, hosts, o.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	s, results := NewSimulation(c, o), NewResults(c.Hosts())
	for i := range c.Rounds() {
		for _, f := range s.Measure(c.Flows(i)) {
			gbps, micros := f.Figures()
			results.Measure(Plain, f, gbps, micros)
		}
	}
	return Analyze(results, w, Options{Nodes: c.Hosts()})
}
