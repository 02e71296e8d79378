//go:build guest

package verbstest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// costRounds is the number of runs for each program, in turn.
const costRounds = 7

// counterparts are the libibverbs functions for methods in package verbs.
var counterparts = []struct{ ours, theirs string }{
	{"PostSend", "ibv_post_send"}, {"PostSend", "ibv_wr"}, {"PostRecv", "ibv_post_recv"}, {"Poll", "ibv_poll_cq"},
}

// Cost compares the cost of posting and polling with an adapter's C library, on the same module
// in the same guest. Doorbells are ordinary memory: a trap for each would take most of the time.
func Cost(b *testing.B, library string, a Adapter, arguments ...string) {
	b.Helper()
	a.Options, a.Tools = "strict=0", []string{"ibv_devinfo"}
	a.Files = map[string]string{"/usr/bin/cost": Compile(b, "../mlx5/testdata/cost.c")}
	a.Programs = []guest.Program{{Package: "github.com/ibkit/ibkit/test/guest/mlx5/cost", Name: "gocost", PIE: true}}
	CompareCost(b, Boot(b, a), library, append([]string{"cost"}, arguments...)...)
}

// CompareCost logs the processor time for posting and polling with a C library's program and
// with the program gocost. Ratios compare runs in the same round, because a guest's speed
// changes with the load on its host. Each run has other addresses: with fixed ones, another
// layout of the program changed a figure by up to 60 ns.
func CompareCost(b *testing.B, g *guest.Guest, library string, program ...string) {
	b.Helper()
	for b.Loop() {
		var all [costRounds]map[string]float64
		for i := range all {
			all[i] = map[string]float64{}
			for _, args := range [][]string{program, {"gocost"}} {
				for line := range strings.Lines(g.Must(b, args...)) {
					var name string
					var batch int
					var ns float64
					if _, err := fmt.Sscan(line, &name, &batch, &ns); err != nil {
						b.Fatalf("%s: got %q: %v", args, line, err)
					}
					all[i][fmt.Sprint(name, " ", batch)] = ns
				}
			}
		}
		var table strings.Builder
		fmt.Fprintf(&table, "| ibkit | %s | batch | ibkit, ns | %[1]s, ns | ratio | range |\n| --- | --- | ---: | ---: | ---: | ---: | --- |\n", library)
		for _, c := range counterparts {
			for _, batch := range []int{1, 16, 64} {
				var ours, theirs, ratios []float64
				for _, round := range all {
					x, y := round[fmt.Sprint(c.ours, " ", batch)], round[fmt.Sprint(c.theirs, " ", batch)]
					if y == 0 { // the library lacks the function
						continue
					}
					ours, theirs, ratios = append(ours, x), append(theirs, y), append(ratios, x/y)
				}
				if len(ratios) > 0 {
					fmt.Fprintf(&table, "| `%s` | `%s` | %d | %.0f | %.0f | %.2f | %.2f to %.2f |\n",
						c.ours, c.theirs, batch, Median(ours), Median(theirs), Median(ratios), ratios[0], ratios[len(ratios)-1])
				}
			}
		}
		b.Logf("time per message, medians of %d\n%s", costRounds, &table)
	}
}

// Median returns the median of values, which it sorts.
func Median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
