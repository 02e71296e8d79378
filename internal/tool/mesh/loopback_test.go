package mesh

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAnalyze_Loopback separates hosts from their cables: a fault of a host slows its loopback, that
// of a cable does not.
func TestAnalyze_Loopback(t *testing.T) {
	for _, test := range []struct {
		fabric, schedules, faults string
		want                      []string
		detail                    string // of the first finding
		candidates                []string
	}{
		{small, "loopback", "", nil, "", nil},
		{small, "loopback", "host00003=60%", []string{"slow-node host00003"}, "60 % of its class (median 186.0 Gbit/s), its loopback: the host, not its cable", []string{"host00003"}},
		{small, "loopback", "leaf001[3]=60%", nil, "", nil},
		{small, "loopback", "host00003=+2us", []string{"slow-node host00003"}, "its loopback: the host, not its cable", []string{"host00003"}},
		{small, "loopback", "host00003=hang", []string{"unreachable host00003"}, "its loopback has no figure", nil},
		{small, "loopback", "host00003=missing", []string{"missing host00003"}, "the results have no flow from or to it", nil},
		{small, "shift", "host00003=60%", []string{"slow-node host00003"}, "; one of: host00003, cable leaf001[3] - host00003[1]", []string{"host00003", "cable leaf001[3] - host00003[1]"}},
		{small, "shift loopback", "host00003=60%", []string{"slow-node host00003"}, "; its loopback is at 60 %: the host, not its cable", []string{"host00003"}},
		{small, "shift loopback", "leaf001[3]=60% host00003[1]=60%", []string{"slow-cable leaf001[3]"}, "%: its cable or the ports, not the host", []string{"cable leaf001[3] - host00003[1]"}},
		{"rails:hosts=8,rails=4", "loopback", "host003/mlx5_1=60%", []string{"slow-node host003 mlx5_1"}, "the host, not its cable", []string{"host003 mlx5_1"}},
	} {
		t.Run(test.fabric+" "+test.schedules+" "+test.faults, func(t *testing.T) {
			w, all := wire(t, test.fabric), &Results{Format: JSON}
			for _, name := range strings.Fields(test.schedules) {
				o := SimulateOptions{Schedule: Schedule{Name: name}, Alone: true}
				for _, text := range strings.Fields(test.faults) {
					f, err := w.ParseFault(text)
					if err != nil {
						t.Fatal(err)
					}
					o.Faults = append(o.Faults, f)
				}
				r, err := Simulate(t.Context(), w, o)
				if err != nil {
					t.Fatal(err)
				}
				all.Names, all.Flows = r.Names, append(all.Flows, r.Flows...)
			}
			r := Analyze(all, w, Options{})
			if d := cmp.Diff(test.want, brief(r.Findings)); d != "" {
				t.Fatalf("%s in %v", d, r.Findings)
			}
			if len(r.Findings) == 0 {
				return
			}
			if got := r.Findings[0].Detail; !strings.Contains(got, test.detail) {
				t.Errorf("got %q, want %q", got, test.detail)
			}
			if data, ok := r.Findings[0].Data.(*FindingData); ok != (test.candidates != nil) || ok && !slices.Equal(data.Candidates, test.candidates) {
				t.Errorf("got %+v, want candidates %q", r.Findings[0].Data, test.candidates)
			}
			if r.Findings[0].Hint == "" {
				t.Error("got no next step")
			}
		})
	}
}

// TestSchedule_Loopback counts the loopbacks of a round: an adapter of each host.
func TestSchedule_Loopback(t *testing.T) {
	w := wire(t, "rails:hosts=6,rails=3")
	m, rounds := roundsOf(t, w, "loopback")
	if len(rounds) != 3 {
		t.Fatalf("got %d rounds, want 3", len(rounds))
	}
	for _, round := range rounds {
		hosts := map[int32]bool{}
		for _, p := range round {
			if p.from != p.to {
				t.Errorf("got %v, want a loopback", p)
			}
			hosts[w.ends[m.ends[p.from]].host] = true
		}
		if len(round) != 6 || len(hosts) != 6 {
			t.Errorf("got %d loopbacks on %d hosts, want 6", len(round), len(hosts))
		}
	}
}
