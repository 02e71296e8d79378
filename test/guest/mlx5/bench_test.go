//go:build guest

package mlx5_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// BenchmarkCost compares the processor time for posting and polling with libmlx5, on the
// same module in the same guest. Ratios compare runs in the same round, because a guest's
// speed changes with the load on its host.
func BenchmarkCost(b *testing.B) {
	s := withLibrary(b, spec(b), "cost")
	s.Programs = append(slices.Clone(s.Programs), guest.Program{Package: "github.com/ibkit/ibkit/test/guest/mlx5/cost", Name: "gocost", PIE: true})
	g := guest.New(b, s)
	verbstest.CompareCost(b, g, "libmlx5", "cost")
}

// BenchmarkPrograms compares ibkit's perftest programs with Debian's on libmlx5, each as
// server and as client, in turn. Two programs that poll and the module's thread share two
// processors, so that the guest's scheduler takes most of the time. The thread, which has
// a real-time priority, is bound to the same processor as ibkit's server: when it was
// bound to the processor of a client, a read of 64 bytes took 13 times as long, with the
// other processor idle.
func BenchmarkPrograms(b *testing.B) {
	g := guest.New(b, spec(b))
	g.Must(b, "sh", "-c", `taskset -p 2 $(ps | awk '$3 == "[verbstest]" { print $1 }')`)
	const rounds, port = 7, 18900
	// The figure is the typical latency or the average bandwidth.
	row := regexp.MustCompile(`(?m)^ \d+[ \t]+\d+[ \t]+[\d.]+[ \t]+([\d.]+)[ \t]+([\d.]+)`)
	run := func(args []string, kind string) float64 {
		server := g.MustStart(b, args...)
		if err := g.AwaitTCP(b.Context(), port); err != nil {
			b.Fatal(err)
		}
		out := g.Must(b, append(slices.Clone(args), "127.0.0.1")...)
		if r, err := server.Wait(b.Context()); err != nil || r.Code != 0 {
			b.Fatalf("%v: got exit code %d, %v, want 0", args, r.Code, err)
		}
		m := row.FindStringSubmatch(out)
		if m == nil {
			b.Fatalf("%v: no figures in\n%s", args, out)
		}
		v, err := strconv.ParseFloat(m[map[string]int{"bw": 1, "lat": 2}[kind]], 64)
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
	for b.Loop() {
		var table strings.Builder
		table.WriteString("| program | bytes | ibkit | perftest | ratio |\n| --- | ---: | ---: | ---: | ---: |\n")
		for _, kind := range []string{"lat", "bw"} {
			for _, verb := range []string{"send", "write", "read"} {
				for _, size := range []string{"64", "4096"} {
					program, n := "ib_"+verb+"_"+kind, "500"
					args := []string{program, "-F", "-s", size, "-n", n, "-p", strconv.Itoa(port)}
					var ours, theirs, ratios []float64
					for range rounds {
						x, y := run(append([]string{"ibkit"}, args...), kind), run(args, kind)
						ours, theirs, ratios = append(ours, x), append(theirs, y), append(ratios, x/y)
					}
					fmt.Fprintf(&table, "| `%s` | %s | %.2f | %.2f | %.2f |\n", program, size, verbstest.Median(ours), verbstest.Median(theirs), verbstest.Median(ratios))
				}
			}
		}
		b.Logf("latency in µs, bandwidth in MB/s, medians of %d\n%s", rounds, &table)
	}
}
