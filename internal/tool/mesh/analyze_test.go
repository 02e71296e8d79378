package mesh

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
)

// wire returns the wiring of a simulated fabric.
func wire(tb testing.TB, description string) *Wiring {
	tb.Helper()
	f, err := sim.Build(description)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := route.Scan(tb.Context(), route.Options{Source: fabric.Source{OpenPort: f.Opener("")}})
	if err != nil {
		tb.Fatal(err)
	}
	return NewWiring(r, nil)
}

// simulated returns the judgement on a simulation with faults.
func simulated(tb testing.TB, w *Wiring, o SimulateOptions, faults ...string) *Result {
	tb.Helper()
	for _, text := range faults {
		f, err := w.ParseFault(text)
		if err != nil {
			tb.Fatal(err)
		}
		o.Faults = append(o.Faults, f)
	}
	r, err := Simulate(tb.Context(), w, o)
	if err != nil {
		tb.Fatal(err)
	}
	return Analyze(r, w, Options{})
}

// small is 16 hosts on 4 leaves, with 4 spines.
const small = "fat-tree:radix=8,pods=4"

// pairwise measures all pairs without shared links.
var pairwise = SimulateOptions{Schedule: Schedule{Name: "shift"}, Noise: 0.015, Seed: 1, Alone: true}

// brief returns findings as "kind subject".
func brief(findings []report.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, string(f.Kind)+" "+f.Subject)
	}
	return all
}

func TestAnalyze_Faults(t *testing.T) {
	wirings := map[string]*Wiring{}
	for _, test := range []struct {
		fabric, faults string
		want           []string
		candidates     []string // of the first finding
	}{
		{small, "", nil, nil},
		{small, "host00003=60%", []string{"slow-node host00003"}, []string{"host00003", "cable leaf001[3] - host00003[1]"}},
		{small, "host00003[1]=60%", []string{"slow-node host00003", "asymmetric host00003"}, nil},
		{small, "leaf001[3]=60%", []string{"slow-node host00003", "asymmetric host00003"}, nil},
		{small, "host00003=96%", []string{"slow-node host00003"}, nil},
		{small, "leaf001[5]=50%", []string{"slow-link leaf001[5]"}, []string{"cable leaf001[5] - spine001[1]"}},
		{small, "spine001[1]=50%", []string{"slow-link spine001[1]"}, []string{"cable leaf001[5] - spine001[1]"}},
		{small, "leaf002=50%", []string{"slow-node leaf002"}, []string{"leaf002"}},
		{small, "spine003=40%", []string{"slow-node spine003"}, []string{"spine003"}},
		{small, "host00003=+3us", []string{"slow-node host00003"}, nil},
		{small, "leaf001[5]=+3us", []string{"slow-link leaf001[5]"}, nil},
		{small, "host00003=hang", []string{"hung host00003"}, nil},
		{small, "host00003=missing", []string{"missing host00003"}, nil},
		{small, "leaf001[5]=50% host00009=40% leaf003[7]=70%", []string{"slow-node host00009", "slow-link leaf001[5]", "slow-link leaf003[7]"}, nil},
		{"torus:x=4,y=4,hosts=2", "switch-0-1[1]=50%", nil, nil},
		{"rails:hosts=8,rails=4", "host003=60%", []string{"slow-node host003"}, []string{"host003"}},
		{"rails:hosts=8,rails=4", "host003/mlx5_1=60%", []string{"slow-cable leaf2[3]"}, []string{"host003 mlx5_1", "cable leaf2[3] - host003 mlx5_1[1]"}},
		{"rails:hosts=8,rails=4", "host003=hang", []string{"hung host003"}, nil},
	} {
		t.Run(test.fabric+" "+test.faults, func(t *testing.T) {
			w := wirings[test.fabric]
			if w == nil {
				w = wire(t, test.fabric)
				wirings[test.fabric] = w
			}
			if strings.HasPrefix(test.fabric, "torus") {
				test.faults, test.want = torusFault(t, w)
			}
			o := pairwise
			if strings.HasPrefix(test.fabric, "rails") {
				o.Schedule.Name = "rail"
			}
			r := simulated(t, w, o, strings.Fields(test.faults)...)
			if got := brief(r.Findings); !slices.Equal(got, test.want) {
				t.Fatalf("got %q, want %q: %v", got, test.want, r.Findings)
			}
			if test.candidates != nil {
				if got := r.Findings[0].Data.(*FindingData).Candidates; !slices.Equal(got, test.candidates) {
					t.Errorf("got candidates %q, want %q", got, test.candidates)
				}
			}
			for _, f := range r.Findings {
				if f.Severity.IsProblem() && f.Hint == "" {
					t.Errorf("got %v without a next step", f)
				}
			}
		})
	}
}

// torusFault returns a fault of a link between switches, and its finding.
func torusFault(t *testing.T, w *Wiring) (fault string, want []string) {
	t.Helper()
	for c := range w.channels.Count() {
		if w.isFabricLink(c) {
			name := w.portName(w.channels.Port(c))
			return name + "=50%", []string{"slow-link " + name}
		}
	}
	t.Fatal("got no link between switches")
	return "", nil
}

// Flows that share links in their round are congestion, not faults, and a fault among them
// is found nevertheless. Flows that share a link with a single other one are pairs.
func TestAnalyze_Congestion(t *testing.T) {
	o := SimulateOptions{Schedule: Schedule{Name: "random", N: 48}, Noise: 0.015, Seed: 1}
	w := wire(t, small)
	for _, f := range simulated(t, w, o).Findings {
		if f.Severity != report.Warning || f.Kind != report.Congested && f.Kind != report.SlowPair {
			t.Errorf("got %v, want congestion", f)
		}
	}
	r := simulated(t, w, o, "host00003=30%")
	if got := brief(r.Findings); got[0] != "slow-node host00003" {
		t.Errorf("got %q, want the slow host first", got)
	}
}

// Names that only the results or only the fabric have are counted, and make the result
// partial.
func TestAnalyze_Names(t *testing.T) {
	w := wire(t, "rails:hosts=8,rails=2")
	text := "src,dst,bandwidth_gbps\nhost001 mlx5_0,host002/mlx5_0,200\nhost001.example.org,host003:mlx5_0,200\nnosuch,host004 mlx5_0[1],200\n" +
		w.ends[4].port.Node.GUID.String() + ",host001 mlx5_0,200\n"
	r := Analyze(parse(t, "f", text), w, Options{Nodes: []string{"host00[1-6]"}})
	// Known: host001 to host004 of rail 0, and the fifth port; the name host001 alone fits
	// two adapters. Of 12 ports, 6 are absent: host006 on rail 0, and rail 1 but that of
	// host001, which the ambiguous name may mean.
	if r.Endpoints != 7 || r.Unknown != 1 || r.Ambiguous != 1 || r.Missing != 6 || r.Unrouted != 2 || !r.Partial || r.HasProblem() {
		t.Errorf("got %d endpoints, %d unknown, %d ambiguous, %d missing, %d unrouted, partial %v: %v",
			r.Endpoints, r.Unknown, r.Ambiguous, r.Missing, r.Unrouted, r.Partial, r.Findings)
	}
	var failures []string
	for _, f := range r.Failures {
		failures = append(failures, f.Subject+": "+f.Error)
	}
	want := []string{
		"host001.example.org: the name fits 2 ports, for example host001 mlx5_0[1] and host001 mlx5_1[1]: its paths are unknown",
		"nosuch: the results name a host that the fabric does not have",
	}
	if !slices.Equal(failures, want) {
		t.Errorf("got %q, want %q", failures, want)
	}
}

// allPairs returns results of hosts h0, h1 and so on with 190 Gbit/s, slow flows with 100.
func allPairs(hosts int, isSlow func(from, to int) bool) string {
	var b strings.Builder
	b.WriteString("src,dst,bandwidth_gbps\n")
	for i := range hosts {
		for k := range hosts {
			gbps := 190
			if isSlow(i, k) {
				gbps = 100
			}
			if i != k {
				fmt.Fprintf(&b, "h%d,h%d,%d\n", i, k, gbps)
			}
		}
	}
	return b.String()
}

// A slow host that the fabric lacks is found, although its paths are unknown.
func TestAnalyze_UnknownHost(t *testing.T) {
	text := allPairs(8, func(i, k int) bool { return i == 3 || k == 3 })
	r := Analyze(parse(t, "f", text), wire(t, small), Options{Nodes: []string{"none"}})
	if got := brief(r.Findings); !slices.Equal(got, []string{"slow-node h3"}) || r.Unknown != 8 || !r.Partial {
		t.Errorf("got %q, %d unknown, partial %v; want the slow host among 8 unknown ones", got, r.Unknown, r.Partial)
	}
}

// A figure above the data rate of HDR ports, 200 Gbit/s, is corrupt, unless most are: sums of both
// directions.
func TestAnalyze_Corrupt(t *testing.T) {
	for _, test := range []struct {
		gbps [2]int
		want []string
		sums bool
	}{
		{[2]int{190, 212}, []string{"corrupt host00002 to host00001"}, false},
		{[2]int{380, 388}, nil, true},
		{[2]int{380, 500}, []string{"corrupt host00002 to host00001"}, true},
	} {
		t.Run(fmt.Sprint(test.gbps), func(t *testing.T) {
			text := fmt.Sprintf("src,dst,bandwidth_gbps\nhost00001,host00002,%d\nhost00002,host00001,%d\n", test.gbps[0], test.gbps[1])
			r := Analyze(parse(t, "f", text), wire(t, small), Options{Nodes: []string{"host0000[12]"}})
			if got := brief(r.Findings); !slices.Equal(got, test.want) || r.Partial != (test.want != nil) || r.Sums != test.sums {
				t.Errorf("got %q, partial %v, sums %v; want %q and %v", got, r.Partial, r.Sums, test.want, test.sums)
			}
		})
	}
}

// Without a fabric, no finding names congestion as the cause, or counters of InfiniBand ports.
func TestAnalyze_HostsOnly(t *testing.T) {
	results := parse(t, "f", allPairs(16, func(i, k int) bool { // a link between switches, and a host
		return i < 8 && k >= 8 && k < 12 && (i+k)%2 == 0 || i == 15
	}))
	r := Analyze(results, NewUnwired(results.Adapters()), Options{})
	if !slices.Contains(report.KindsOf(r.Findings), report.SlowPair) {
		t.Errorf("got %q, want slow pairs", brief(r.Findings))
	}
	for _, f := range r.Findings {
		if f.Kind == report.Congested || strings.Contains(f.Hint, "NODE") || strings.Contains(f.Hint, "ibkit counters --window") {
			t.Errorf("got %v with next step %s", f, f.Hint)
		}
	}
}

// A single slow flow among good ones is a slow pair, and a single failed one unreachable.
func TestAnalyze_Pairs(t *testing.T) {
	w := wire(t, small)
	r, err := Simulate(t.Context(), w, pairwise)
	if err != nil {
		t.Fatal(err)
	}
	r.Flows[20].Gbps /= 2
	r.Flows[40].Gbps, r.Flows[40].Micros = none, none
	name := func(f Flow) string { return r.Names[f.From] + " to " + r.Names[f.To] }
	want := []string{"unreachable " + name(r.Flows[40]), "slow-pair " + name(r.Flows[20])}
	if got := brief(Analyze(r, w, Options{}).Findings); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Without tables only links that all shortest paths share are judged: in a fat tree none,
// but hosts and leaves are.
func TestAnalyze_WithoutTables(t *testing.T) {
	w := wire(t, small)
	for fault, want := range map[string][]string{
		"host00003=60%": {"slow-node host00003"},
		"leaf002=50%":   {"slow-node leaf002"},
		// Flows of leaf001 through a spine, and the hosts that it reaches them by: the
		// link is one of four.
		"leaf001[5]=50%": {"slow-link leaf001"},
	} {
		o := pairwise
		f, err := w.ParseFault(fault)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = []Fault{f}
		results, err := Simulate(t.Context(), w, o)
		if err != nil {
			t.Fatal(err)
		}
		bare := wire(t, small)
		for _, n := range bare.routing.Nodes {
			n.Tables = nil
		}
		r := Analyze(results, NewWiring(bare.routing, nil), Options{})
		if got := brief(r.Findings); !slices.Equal(got, want) || r.Paths != FromShortest || r.Unrouted != 0 {
			t.Errorf("%s: got %q, paths from %s, %d unrouted; want %q", fault, got, r.Paths, r.Unrouted, want)
		}
	}
}

// Figures that stand for both directions blame a host without a direction.
func TestAnalyze_Mutual(t *testing.T) {
	w := wire(t, small)
	o := pairwise
	o.Schedule.Name = "circle"
	f, err := w.ParseFault("leaf001[5]=50%")
	if err != nil {
		t.Fatal(err)
	}
	o.Faults = []Fault{f}
	all, err := Simulate(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	r := &Results{Names: all.Names, Mutual: true, Format: ClusterKit}
	for i := 0; i < len(all.Flows); i += 2 {
		a, b := all.Flows[i], all.Flows[i+1]
		r.add(Flow{a.From, a.To, 2 * min(a.Gbps, b.Gbps), none})
	}
	result := Analyze(r, w, Options{})
	if got := brief(result.Findings); !slices.Equal(got, []string{"slow-link leaf001[5]"}) {
		t.Errorf("got %q, want the slow link: %v", got, result.Findings)
	}
}

// A link that trained at half of its width slows the flows of fast ports only: flows of
// slow ports through it do not clear it.
func TestAnalyze_MixedRates(t *testing.T) {
	o := pairwise
	r := simulated(t, wire(t, "demo"), o)
	if got := brief(r.Findings); !slices.Equal(got, []string{"unreachable node10", "slow-link leaf1[1]"}) {
		t.Fatalf("got %q, want the host without data and the link at 2X NDR: %v", got, r.Findings)
	}
	const inactive = "15 of 15 flows from node10 and 15 of 15 flows to node10 have no figure; the link of node10[1] to leaf3[4] is not active (Initialize)"
	if got := r.Findings[0].Detail; got != inactive {
		t.Errorf("got %q, want %q", got, inactive)
	}
	if got := r.Findings[1].Detail; strings.Count(got, "of its class") != 1 || !strings.Contains(got, " flows to spine1[1] and ") {
		t.Errorf("got %q, want both directions with a speed", got)
	}
	directions := r.Findings[1].Data.(*FindingData).Evidence
	if len(directions) != 2 || directions[0].Direction != "spine1[1]" || directions[1].Direction != "leaf1[1]" {
		t.Errorf("got %+v, want both directions", directions)
	}
}

// Hosts in an oversubscribed fabric are judged by the flows that are not limited by it.
func TestAnalyze_Oversubscribed(t *testing.T) {
	o := SimulateOptions{Schedule: Schedule{Name: "shift"}, Noise: 0.015, Seed: 1}
	r := simulated(t, wire(t, "fat-tree:radix=16,pods=4,spines=2"), o, "host00003=40%")
	var errors []string
	for _, f := range r.Findings {
		if f.Severity == report.Error {
			errors = append(errors, string(f.Kind)+" "+f.Subject)
		}
	}
	if !slices.Equal(errors, []string{"slow-node host00003"}) {
		t.Errorf("got %q, want the slow host: %v", errors, r.Findings)
	}
}
