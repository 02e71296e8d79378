package mesh

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A fifth of the members are victims, at least two. The others send in groups in every second
// round, which has the same victims as the round before.
func TestSchedule_Congest(t *testing.T) {
	for fabric, want := range map[string]string{
		"single-switch:hosts=3":  "0 rounds",
		"single-switch:hosts=4":  "2 rounds, 2 victims, 1 to 1",
		"single-switch:hosts=12": "2 rounds, 2 victims, 8 to 1",
		small:                    "4 rounds, 3 victims, 8 to 1",
		"torus:x=4,y=4,hosts=4":  "8 rounds, 12 victims, 8 to 1",
	} {
		t.Run(fabric, func(t *testing.T) {
			m, rounds := roundsOf(t, wire(t, fabric), "congest")
			got := fmt.Sprintf("%d rounds", len(rounds))
			part := Schedule{Name: congestSchedule}.parts(m)
			seen := map[pair]bool{}
			for i := 1; i < len(rounds); i += 2 {
				var victims []pair
				senders := map[int32]int{} // by receiver
				for _, p := range rounds[i] {
					switch part(i, p.from) {
					case Loaded:
						victims = append(victims, p)
					case Congestor:
						senders[p.to]++
					default:
						t.Errorf("round %d: got the plain flow %v", i, p)
					}
				}
				if !slices.Equal(victims, rounds[i-1]) {
					t.Errorf("round %d: got victims %v, want %v", i, victims, rounds[i-1])
				}
				for _, p := range rounds[i] {
					if part(i, p.from) == Loaded && senders[p.to] > 0 {
						t.Errorf("round %d: got the victim %d among congestors", i, p.to)
					}
				}
				for _, p := range victims {
					if seen[p] {
						t.Errorf("round %d: got the victim %v again", i, p)
					}
					seen[p] = true
				}
				if i == 1 {
					most := 0
					for _, n := range senders {
						most = max(most, n)
					}
					got += fmt.Sprintf(", %d victims, %d to 1", len(victims), most)
				}
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// In a tree with a single spine, congestors send to a host on leaf 1. Victims on other leaves
// share the uplink with three of them (a quarter of the rate), and a victim that sends to leaf 1
// the link to it with six (a seventh); the victim on leaf 1 keeps its rate. The mean of two
// rings is (1 + 1/4 + 1/7)/3. The figures survive CSV.
func TestAnalyze_Congest(t *testing.T) {
	w := wire(t, "fat-tree:radix=8,pods=4,spines=1")
	o := SimulateOptions{Schedule: Schedule{Name: congestSchedule, N: 8}}
	r, err := Simulate(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	out := csv.NewWriter(&text)
	_ = out.Write(r.Columns())
	for i, f := range r.All() {
		_ = out.Write([]string{r.Names[f.From], r.Names[f.To], fmt.Sprint(f.Gbps), fmt.Sprint(f.Micros), fmt.Sprint(max(0, min(1, i-len(r.Flows)+1)))})
	}
	out.Flush()
	read, err := Parse(&text, "f")
	if err != nil {
		t.Fatal(err)
	}
	for name, results := range map[string]*Results{"simulated": r, "CSV": read} {
		t.Run(name, func(t *testing.T) {
			result := Analyze(results, w, Options{})
			c := result.Congestion
			if len(result.Findings) > 0 || result.Partial || c == nil || c.Victims != len(read.Loaded) {
				t.Fatalf("got %v, partial %v and %+v", result.Findings, result.Partial, c)
			}
			want := &Impact{Alone: 186, Loaded: 86.3571, Ratio: 0.4643, Worst: WorstRatio{"host00011", "host00001", 0.1429}}
			if d := cmp.Diff(want, c.Bandwidth); d != "" {
				t.Error(d)
			}
			if c.Latency == nil || c.Latency.Ratio != 1 { // the model has no queues
				t.Errorf("got latency %+v, want the ratio 1", c.Latency)
			}
		})
	}
}

func TestParse_Congested(t *testing.T) {
	r, err := Parse(strings.NewReader("src,dst,bandwidth_gbps,congested\na,b,100,0\na,b,30,1\na,b,50,\na,b,10,x\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Flows) != 2 || len(r.Loaded) != 1 || r.Loaded[0].Gbps != 30 {
		t.Errorf("got %v and loaded %v, want 2 flows and a loaded", r.Flows, r.Loaded)
	}
	if len(r.Damage) != 1 || r.Damage[0].Error() != `f:5: congested: got "x", want 0 or 1` {
		t.Errorf("got %v", r.Damage)
	}
}
