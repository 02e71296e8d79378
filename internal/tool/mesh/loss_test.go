package mesh

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/report"
)

// probed returns a window of probes with the schedule cover: each fault of faults loses a
// share of the packets that cross it, the others are faults of the model.
func probed(t *testing.T, w *Wiring, probes int, losses map[string]float64, faults []string, seed uint64) *Results {
	t.Helper()
	take, rounds := roundsOf(t, w, "cover")
	o := SimulateOptions{Noise: 0.05, Seed: seed, Alone: true}
	for _, text := range faults {
		o.Faults = append(o.Faults, parsedFault(t, w, text))
	}
	m, random := newModel(w, o), rand.New(rand.NewPCG(seed, 3))
	dropped := map[element]float64{}
	for subject, share := range losses {
		for _, x := range parsedFault(t, w, subject+"=50%").elements {
			dropped[x] = share
		}
	}
	r := NewResults(nil)
	for _, end := range take.ends {
		r.name([]byte(w.endName(end)))
	}
	for _, p := range slices.Concat(rounds...) {
		there, back := Flow{From: take.ends[p.from], To: take.ends[p.to]}, Flow{From: take.ends[p.to], To: take.ends[p.from]}
		path, _ := m.all.of(nil, &there)
		path, _ = m.all.of(path, &back)
		lost := 0
		for range probes {
			if slices.ContainsFunc(path, func(x element) bool { return random.Float64() < dropped[x]+2e-6 }) {
				lost++
			}
		}
		f := m.measure(there.From, there.To)
		f.Micros += m.measure(back.From, back.To).Micros
		if f.From, f.To, f.Gbps = p.from, p.to, none; lost == probes || f.Micros != f.Micros {
			f.Micros, lost = none, probes
		}
		r.add(f)
		r.SetCount(f.From, f.To, Count{probes, lost})
	}
	return r
}

func parsedFault(t *testing.T, w *Wiring, text string) Fault {
	t.Helper()
	f, err := w.ParseFault(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Lossy, slow and dead parts of a fabric are named by the probes of a minute.
func TestAnalyze_Probes(t *testing.T) {
	for _, test := range []struct {
		fabric string
		losses map[string]float64
		faults []string
		want   []string
	}{
		{"fat-tree:radix=16,pods=8", map[string]float64{"leaf001[9]": 0.05}, nil, []string{"packet-loss leaf001[9]"}},
		{"fat-tree:radix=16,pods=8", map[string]float64{"spine003[2]": 0.05}, nil, []string{"packet-loss spine003[2]"}},
		{"fat-tree:radix=16,pods=8", map[string]float64{"host00009": 0.05}, nil, []string{"packet-loss host00009"}},
		{"fat-tree:radix=16,pods=8", map[string]float64{"leaf003": 0.05}, nil, []string{"packet-loss leaf003"}},
		{"fat-tree:radix=16,pods=8", map[string]float64{"leaf001[9]": 0.05, "host00030": 0.05}, nil, []string{"packet-loss host00030", "packet-loss leaf001[9]"}},
		{"fat-tree:radix=16,pods=8", map[string]float64{"host00009": 1}, nil, []string{"hung host00009"}},
		{"fat-tree:radix=16,pods=8", nil, []string{"host00009=hang"}, []string{"hung host00009"}},
		{"fat-tree:radix=16,pods=8", nil, []string{"leaf001[9]=+5us"}, []string{"slow-link leaf001[9]"}},
		{"fat-tree:radix=16,pods=8", nil, []string{"host00009=+5us"}, []string{"slow-node host00009"}},
		{"fat-tree:radix=16,pods=8", map[string]float64{"leaf001[9]": 1}, nil, []string{"unreachable leaf001[9]"}},
		{"dragonfly:groups=4,switches=4,hosts=4", map[string]float64{"group01-host003": 0.05}, nil, []string{"packet-loss group01-host003"}},
	} {
		t.Run(strings.Join(test.want, " "), func(t *testing.T) {
			w := wire(t, test.fabric)
			for seed := range uint64(testenv.Rounds(5, 50)) {
				r := Analyze(probed(t, w, 150, test.losses, test.faults, seed), w, Options{})
				got := brief(r.Findings)
				slices.Sort(got)
				if !slices.Equal(got, test.want) {
					t.Fatalf("seed %d: got %v %v, want %v", seed, got, r.Findings, test.want)
				}
			}
		})
	}
}

// A healthy fabric has no finding in many windows.
func TestAnalyze_ProbesHealthy(t *testing.T) {
	for _, fabric := range []string{"fat-tree:radix=16,pods=8", "torus:x=4,y=4,hosts=4", "dragonfly:groups=4,switches=4,hosts=4", "single-switch:hosts=2"} {
		t.Run(fabric, func(t *testing.T) {
			w := wire(t, fabric)
			for seed := range uint64(testenv.Rounds(30, 1000)) {
				if r := Analyze(probed(t, w, 75, nil, nil, seed), w, Options{}); len(r.Findings) > 0 {
					t.Fatalf("window %d: got %v, want no findings", seed, r.Findings)
				}
			}
		})
	}
}

// A single pair that loses probes is named as a pair: others clear all parts of its path.
func TestAnalyze_LossyPair(t *testing.T) {
	w := wire(t, "fat-tree:radix=16,pods=8")
	results := probed(t, w, 75, nil, nil, 1)
	f := results.Flows[40]
	results.SetCount(f.From, f.To, Count{75, 20})
	want := results.Names[f.From] + " to " + results.Names[f.To]
	r := Analyze(results, w, Options{})
	if len(r.Findings) != 1 || r.Findings[0].Kind != report.PacketLoss || r.Findings[0].Subject != want {
		t.Errorf("got %v, want packet loss from %s", r.Findings, want)
	}
}

// Results with probes in JSON are read again with the same findings.
func TestParse_Probes(t *testing.T) {
	w := wire(t, "fat-tree:radix=16,pods=8")
	results := probed(t, w, 150, map[string]float64{"leaf001[9]": 0.05}, nil, 1)
	var lines bytes.Buffer
	for i, f := range results.All() {
		if err := json.NewEncoder(&lines).Encode(results.ReportFlow(i, f)); err != nil {
			t.Fatal(err)
		}
	}
	read, err := Parse(&lines, "probes")
	if err != nil {
		t.Fatal(err)
	}
	want, got := Analyze(results, w, Options{}), Analyze(read, w, Options{})
	if len(got.Findings) != 1 || got.Findings[0].Detail != want.Findings[0].Detail {
		t.Errorf("got %v, want %v", got.Findings, want.Findings)
	}
}

func TestParse_ProbesDamaged(t *testing.T) {
	for _, text := range []string{`"sent":3`, `"sent":3,"lost":4`, `"sent":3,"lost":-1`, `"sent":1e12,"lost":1`} {
		t.Run(text, func(t *testing.T) {
			r, err := Parse(strings.NewReader(`{"src":"a","dst":"b","latency_us":1,`+text+`}`), "probes")
			if err != nil || r.Damaged != 1 || r.Mutual {
				t.Errorf("got %+v, %v, want a damaged flow", r, err)
			}
		})
	}
}

// A port may have a name and a GUID in results, and a single flow to a dead host is reported:
// a switch that it crosses there and back is no second flow.
func TestAnalyze_ProbesFewFlows(t *testing.T) {
	w := wire(t, "fat-tree:radix=8,pods=4")
	r := NewResults([]string{w.ends[0].port.GUID.String(), w.ends[0].label, w.ends[1].label, w.ends[5].label, w.ends[9].label})
	for _, f := range []struct {
		from, to int32
		lost     int
	}{{0, 2, 0}, {2, 3, 0}, {3, 1, 0}, {2, 4, 50}} {
		micros := float32(20)
		if f.lost == 50 {
			micros = none
		}
		r.add(Flow{From: f.from, To: f.to, Gbps: none, Micros: micros})
		r.SetCount(f.from, f.to, Count{50, f.lost})
	}
	got := slices.DeleteFunc(Analyze(r, w, Options{}).Findings, func(f report.Finding) bool { return f.Kind == report.MissingHost })
	if len(got) != 1 || !slices.Contains(got[0].Data.(*FindingData).Candidates, w.ends[9].label) {
		t.Errorf("got %v, want a finding about %s", got, w.ends[9].label)
	}
}

// Hosts with very different losses are two causes, although their flows share links.
func TestAnalyze_ProbesTwoCauses(t *testing.T) {
	w := wire(t, "fat-tree:radix=8,pods=4")
	for seed := range uint64(testenv.Rounds(10, 100)) {
		r := Analyze(probed(t, w, 100, map[string]float64{"host00001": 0.1, "host00006": 0.6}, nil, seed), w, Options{})
		got := brief(r.Findings)
		slices.Sort(got)
		if want := []string{"packet-loss host00001", "packet-loss host00006"}; !slices.Equal(got, want) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
	}
}
