package perftestview

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
	"github.com/ibkit/ibkit/internal/tool/perf/stats"
	"github.com/ibkit/ibkit/verbs"
)

// TestHeader checks the abbreviations of perftest for the transport and the link layer.
func TestHeader(t *testing.T) {
	for _, test := range []struct {
		link                string
		iwarp               bool
		transport, wantLink string
	}{
		{"Ethernet", false, "IB", "Ethernet"}, {"Ethernet", true, "IW", "Ethernet"}, {"InfiniBand", false, "IB", "IB"}, {"Unspecified", false, "Unknown", "IB"},
	} {
		t.Run(fmt.Sprintf("%s, iWARP %t", test.link, test.iwarp), func(t *testing.T) {
			var out strings.Builder
			header := Header{Test: perftest.Test{Order: perftest.Order{Sizes: []int{8}}}, Link: test.link, IWARP: test.iwarp}
			header.Print(&out)
			members := header.Members()
			if !strings.Contains(out.String(), "Transport type : "+test.transport+"\n") || !strings.Contains(out.String(), "Link type       : "+test.wantLink+"\n") ||
				!slices.Contains(members, Member{"Transport_type", test.transport}) || !slices.Contains(members, Member{"Link_type", test.wantLink}) {
				t.Errorf("got %s and %v, want %s and %s", &out, members, test.transport, test.wantLink)
			}
		})
	}
}

// TestPrintJSON checks that the document is JSON, and the decimals of its figures.
func TestPrintJSON(t *testing.T) {
	load := 12.345
	header := Header{
		Test: perftest.Test{
			Order: perftest.Order{Verb: perftest.Atomic, Bandwidth: true, Bidirectional: true, Sizes: []int{8}},
			Type:  verbs.QPTypeRC, QueuePairs: 2, TxDepth: 128, Moderation: 100, List: 4, Iterations: 1000,
		},
		MTU: 1024, Device: `a"b`, Link: "Ethernet", HasGID: true, GIDIndex: 1, Reads: 16, Sends: true,
	}
	samples := stats.NewSamples()
	samples.Add(2000)
	times := Times{Size: 2, Iterations: 9, Samples: samples, Part: 0.5, Timed: true, Load: &load}
	for _, c := range []struct {
		name    string
		results []Member
		want    string
	}{
		{"rates", Rates{Size: 8, Iterations: 5, Peak: 1, Average: 0.05, Messages: 2, Gbits: true}.Members(),
			`"MsgSize":8 "n_iterations":5 "BW_peak":1.000000 "BW_average":0.050000 "MsgRate":2.000000`},
		{"times", times.Members(), `"MsgSize":2 "n_iterations":9 "t_avg":1.00 "tps_average":500000.00 "CPU_util":12.35`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if err := PrintJSON(&out, header.Members(), c.results); err != nil {
				t.Fatal(err)
			}
			var document struct {
				Info    map[string]any `json:"test_info"`
				Results json.RawMessage
			}
			if err := json.Unmarshal([]byte(out.String()), &document); err != nil {
				t.Fatalf("%v in\n%s", err, &out)
			}
			if name := document.Info["test"]; name != "Atomic_FETCH_AND_ADD_Bidirectional_Post_List_BW_Test" || document.Info["Device"] != `a"b` {
				t.Errorf("got test %q of device %q", name, document.Info["Device"])
			}
			got := strings.NewReplacer("{\n", "", "\n}", "", ",\n", " ", ": ", ":").Replace(string(document.Results))
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestRows compares rows with perftest 4.5's: the formats of perftest_parameters.h.
func TestRows(t *testing.T) {
	load := 7.5
	samples := stats.NewSamples()
	for _, ns := range []int64{1000, 2000, 3000} {
		samples.Add(ns)
	}
	for _, c := range []struct {
		name string
		row  func(*strings.Builder)
		want string
	}{
		{"bandwidth", func(b *strings.Builder) {
			Rates{Size: 64, Iterations: 1000, Peak: 3, Average: 2.5, Messages: 0.04, Load: &load}.Print(b)
		},
			" 64         1000             3.00               2.50   \t\t   0.040000\t    7.50\n"},
		{"little bandwidth", func(b *strings.Builder) {
			Rates{Size: 64, Iterations: 1000, Peak: 0.03, Average: 0.025, Messages: 0.04, Gbits: true}.Print(b)
		},
			" 64         1000           0.030000            0.025000            0.040000\n"},
		{"time", func(b *strings.Builder) {
			Times{Size: 2, Iterations: 5, Samples: samples, Part: 0.5, Timed: true}.Print(b)
		}, " 2             5            1.00           500000.00\n"},
		{"time between round trips", func(b *strings.Builder) {
			Times{Size: 2, Iterations: 5, Samples: samples, Part: 0.5, Timed: true, Elapsed: 20 * time.Microsecond}.Print(b)
		}, " 2             5            2.00           250000.00\n"},
		{"cycles", func(b *strings.Builder) {
			Times{Size: 2, Iterations: 4, Samples: samples, Part: 1, Cycles: 3}.Print(b)
		}, " 2       4          3000.00        9000.00      6000.00  \t       6000.00     \t2449.49\t\t9000.00 \t\t9000.00\n"},
		{"samples", func(b *strings.Builder) { PrintSamples(b, "cycles", []int64{1000, 1234567}, 1.5) }, "#, cycles\n1, 1500\n2, 1.85185e+06\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			c.row(&b)
			if d := cmp.Diff(c.want, b.String()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
