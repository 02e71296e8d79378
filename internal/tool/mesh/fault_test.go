package mesh

import (
	"slices"
	"strings"
	"testing"
)

func TestWiring_ParseFault(t *testing.T) {
	w := wire(t, "rails:hosts=4,rails=2")
	for _, test := range []struct {
		text     string
		elements int
		err      string
	}{
		{"host001=50%", 4, ""},
		{"host001 mlx5_0=50%", 2, ""},
		{"host001 mlx5_0[1]=50%", 1, ""},
		{"leaf1[1]=50%", 1, ""},
		{"leaf1=+1.5us", 1, ""},
		{"host001=hang", 4, ""},
		{"leaf1[1]=hang", 0, "want a host"},
		{"leaf1[9]=50%", 0, "no host, switch or linked port"},
		{"x=50%", 0, "find name x: no node has this name"},
		{"host001", 0, "want SUBJECT=60%"},
		{"=50%", 0, "want SUBJECT=60%"},
		{"host001=101%", 0, "up to 100%"},
		{"host001=NaN%", 0, "up to 100%"},
		{"host001=+xus", 0, "want a delay"},
		{"host001=slow", 0, "want SUBJECT=60%"},
	} {
		t.Run(test.text, func(t *testing.T) {
			f, err := w.ParseFault(test.text)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %s", err, test.err)
				}
				return
			}
			if err != nil || len(f.elements) != test.elements {
				t.Errorf("got %d elements, %v; want %d", len(f.elements), err, test.elements)
			}
		})
	}
}

// The same seed plants the same faults and gives the same figures. Each subject can be
// parsed again.
func TestSimulate_Repeats(t *testing.T) {
	w := wire(t, small)
	var runs [2]*Results
	for i := range runs {
		o := pairwise
		o.Faults = w.Plant(5, 7)
		for _, f := range o.Faults {
			again, err := w.ParseFault(f.Subject + "=50%")
			if err != nil || !slices.Equal(again.elements, f.elements) {
				t.Errorf("%s: got elements %v, %v; want %v", f.Subject, again.elements, err, f.elements)
			}
		}
		var err error
		if runs[i], err = Simulate(t.Context(), w, o); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(runs[0].Flows, runs[1].Flows) {
		t.Error("got different figures, want the same")
	}
}

// Flows that share a link have a part of its rate each: 7 senders to one receiver.
func TestSimulate_Incast(t *testing.T) {
	w := wire(t, "single-switch:hosts=8")
	r, err := Simulate(t.Context(), w, SimulateOptions{Schedule: Schedule{Name: "incast", N: 7}})
	if err != nil {
		t.Fatal(err)
	}
	full := float32(efficiency * w.ends[0].gbps)
	for _, f := range r.Flows {
		if want := full / 7; f.Gbps < 0.999*want || f.Gbps > 1.001*want {
			t.Fatalf("got %v Gbit/s, want %v", f.Gbps, want)
		}
	}
}
