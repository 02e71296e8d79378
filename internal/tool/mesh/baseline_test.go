package mesh

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAnalyze_Baseline compares runs with an earlier run without faults.
func TestAnalyze_Baseline(t *testing.T) {
	w := wire(t, small)
	o := SimulateOptions{Schedule: Schedule{Name: "shift"}, Noise: 0.015, Seed: 2, Alone: true}
	before, err := Simulate(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	ports, mutual := before.Clone(), before.Clone()
	for i := range ports.Names {
		ports.Names[i] += "[1]"
	}
	mutual.Mutual = true
	mutual.Flows = slices.DeleteFunc(mutual.Flows, func(f Flow) bool { return f.From < f.To })
	for name, test := range map[string]struct {
		fault    string
		baseline *Results
		want     []string
		partial  bool
	}{
		"same":    {"", before, nil, false},
		"slower":  {"host00003=60%", before, []string{"slow-node host00003", "below-baseline host00003"}, false},
		"delayed": {"host00003=+2us", before, []string{"slow-node host00003", "below-baseline host00003"}, false},
		"ports":   {"host00003=60%", ports, []string{"slow-node host00003", "below-baseline host00003"}, false},
		"mutual":  {"host00003=60%", mutual, []string{"slow-node host00003", "below-baseline host00003"}, false},
		"foreign": {"", &Results{Names: []string{"x", "y"}, Flows: []Flow{{0, 1, 100, 1}}}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			o.Seed = 1
			if test.fault != "" {
				f, err := w.ParseFault(test.fault)
				if err != nil {
					t.Fatal(err)
				}
				o.Faults = []Fault{f}
			}
			now, err := Simulate(t.Context(), w, o)
			if err != nil {
				t.Fatal(err)
			}
			r := Analyze(now, w, Options{Baseline: test.baseline})
			if d := cmp.Diff(test.want, brief(r.Findings)); d != "" {
				t.Errorf("%s in %v", d, r.Findings)
			}
			if r.Partial != test.partial || !test.partial && r.Baseline.Flows != 240 {
				t.Errorf("got partial %v and %+v, want %v", r.Partial, r.Baseline, test.partial)
			}
		})
	}
	t.Run("all", func(t *testing.T) {
		now := before.Clone()
		for i := range now.Flows {
			now.Flows[i].Gbps *= 0.8
		}
		r := Analyze(now, w, Options{Baseline: before})
		if d := cmp.Diff([]string{"below-baseline "}, brief(r.Findings)); d != "" {
			t.Errorf("%s in %v", d, r.Findings)
		}
		if got, want := r.Findings[0].Detail, "240 flows: 80 % of the bandwidth in the baseline"; got != want {
			t.Errorf("got detail %q, want %q", got, want)
		}
	})
}
