//go:build guest

package perf_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/guest"
)

// times are latency test results in µs.
type times struct{ typical, average, p99 float64 }

// latencyRounds is the number of measurements for a program.
const latencyRounds = 15

// BenchmarkPerftestLatency measures short-message latency as users do, with few messages:
// with perftest, with ibkit's perftest programs, with ibkit perf, and with perftest again,
// in turn. Ratios compare a run with the first perftest run in the same round, because a
// guest's speed changes with the load on its host. Ratios for the second perftest run show
// how much of a ratio is chance.
func BenchmarkPerftestLatency(b *testing.B) {
	verbs := []string{"send", "write", "read", "atomic"}
	var tools []string
	for _, verb := range verbs {
		tools = append(tools, "ib_"+verb+"_lat")
	}
	g := guest.New(b, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}}, Tools: tools,
		Programs: []guest.Program{guest.Ibkit}, Timeout: time.Hour,
	})
	mhz := processorMHz(b, g)
	for b.Loop() {
		var table strings.Builder
		table.WriteString("| test | messages | program | typical | average | P99 | ratio of typical | of average | of P99 | ratios of the best |\n" +
			"| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n")
		for _, verb := range verbs {
			for _, n := range []int{1000, 3000} {
				for _, row := range latencyRows(b, g, verb, n, mhz) {
					fmt.Fprintln(os.Stderr, row)
					table.WriteString(row + "\n")
				}
			}
		}
		b.Logf("latency, medians of %d\n%s", latencyRounds, &table)
	}
}

// latencyRows measures a verb and returns a row for each program.
func latencyRows(b *testing.B, g *guest.Guest, verb string, n int, mhz float64) []string {
	size := " -s 2"
	native := "ibkit perf 10.0.0.1 --json --test " + verb + "-lat"
	if verb == "atomic" {
		size, native = "", "ibkit perf 10.0.0.1 --json --test fetch-add-lat"
	}
	theirs := fmt.Sprintf("ib_%s_lat -F -C -d rxe0 -x 1 -n %d%s", verb, n, size)
	classic := fmt.Sprintf("ibkit ib_%s_lat -d rxe0 -x 1 -n %d%s", verb, n, size)
	perftest := func() times { return pairTimes(b, g, theirs, mhz) }
	var all [4][]times
	for range latencyRounds {
		for i, measure := range []func() times{
			perftest,
			func() times { return pairTimes(b, g, classic, 1) },
			func() times { return nativeTimes(b, g, fmt.Sprintf("%s -n %d%s", native, n, size)) },
			perftest,
		} {
			all[i] = append(all[i], measure())
		}
	}
	var rows []string
	for i, program := range []string{"perftest", "classic name", "ibkit perf", "perftest again"} {
		row := fmt.Sprintf("| %s lat | %d | %s |", verb, n, program)
		ratios, bests := "", ""
		for _, figure := range []func(times) float64{
			func(t times) float64 { return t.typical }, func(t times) float64 { return t.average }, func(t times) float64 { return t.p99 },
		} {
			var values, theirs, paired []float64
			for k, t := range all[i] {
				values, theirs = append(values, figure(t)), append(theirs, figure(all[0][k]))
				paired = append(paired, figure(t)/figure(all[0][k]))
			}
			row += fmt.Sprintf(" %.2f |", median(values))
			ratios += fmt.Sprintf(" %.2f |", median(paired))
			bests += fmt.Sprintf("%.2f ", slices.Min(values)/slices.Min(theirs))
		}
		rows = append(rows, row+ratios+" "+bests+"|")
	}
	return rows
}

// median returns the middle value.
func median(values []float64) float64 { return slices.Sorted(slices.Values(values))[len(values)/2] }

// A latency row: minimum, maximum, typical, average, deviation, P99.
var latencyRow = regexp.MustCompile(`(?m)^ \d+[ \t]+\d+[ \t]+[\d.]+[ \t]+[\d.]+[ \t]+([\d.]+)[ \t]+([\d.]+)[ \t]+[-\w.]+[ \t]+([\d.]+)`)

// pairTimes runs a program with the perftest command line as server and as client. The
// program's unit is 1/scale µs.
func pairTimes(b *testing.B, g *guest.Guest, line string, scale float64) times {
	out := g.Must(b, "sh", "-c", pairScript(line))
	m := latencyRow.FindStringSubmatch(out)
	if m == nil {
		b.Fatalf("%s has no figures:\n%s", line, out)
	}
	var v [3]float64
	for i := range v {
		f, err := strconv.ParseFloat(m[i+1], 64)
		if err != nil {
			b.Fatal(err)
		}
		v[i] = f / scale
	}
	return times{v[0], v[1], v[2]}
}

// nativeTimes runs ibkit perf with a separate server.
func nativeTimes(b *testing.B, g *guest.Guest, line string) times {
	out := g.Must(b, "sh", "-c", serveScript+line+`; kill $!; wait`)
	var document struct {
		Results []struct {
			Latency struct {
				Median      float64            `json:"median_ns"`
				Average     float64            `json:"avg_ns"`
				Percentiles map[string]float64 `json:"percentiles_ns"`
			}
		}
	}
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&document); err != nil || len(document.Results) != 1 {
		b.Fatalf("%v\n%s", err, out)
	}
	l := document.Results[0].Latency
	t := times{l.Median / 1e3, l.Average / 1e3, l.Percentiles["99"] / 1e3}
	if t.p99 == 0 {
		b.Fatalf("no P99 in\n%s", out)
	}
	return t
}
