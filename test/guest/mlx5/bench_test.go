//go:build guest

package mlx5_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// costRounds is the number of runs of each program, in turn.
const costRounds = 7

// counterparts are the functions of libibverbs by method of package verbs.
var counterparts = []struct{ ours, theirs string }{
	{"PostSend", "ibv_post_send"}, {"PostSend", "ibv_wr"}, {"PostRecv", "ibv_post_recv"}, {"Poll", "ibv_poll_cq"},
}

// BenchmarkCost compares the processor time of posting and polling with that of libmlx5,
// on the same module in the same guest. Ratios compare runs of the same round, because the
// speed of a guest changes with the load of its host.
func BenchmarkCost(b *testing.B) {
	s := withLibrary(b, spec(b), "cost")
	s.Programs = append(slices.Clone(s.Programs), guest.Program{Package: "github.com/ibkit/ibkit/test/guest/mlx5/cost", Name: "gocost"})
	g := guest.New(b, s)
	for b.Loop() {
		var all [costRounds]map[string]float64
		for i := range all {
			all[i] = map[string]float64{}
			for _, program := range []string{"cost", "gocost"} {
				for line := range strings.Lines(g.Must(b, program)) {
					var name string
					var batch int
					var ns float64
					if _, err := fmt.Sscan(line, &name, &batch, &ns); err != nil {
						b.Fatalf("%s: got %q: %v", program, line, err)
					}
					all[i][fmt.Sprint(name, " ", batch)] = ns
				}
			}
		}
		var table strings.Builder
		table.WriteString("| ibkit | libmlx5 | batch | ibkit, ns | libmlx5, ns | ratio |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
		for _, c := range counterparts {
			for _, batch := range []int{1, 16, 64} {
				var ours, theirs, ratios []float64
				for _, round := range all {
					x, y := round[fmt.Sprint(c.ours, " ", batch)], round[fmt.Sprint(c.theirs, " ", batch)]
					ours, theirs, ratios = append(ours, x), append(theirs, y), append(ratios, x/y)
				}
				fmt.Fprintf(&table, "| `%s` | `%s` | %d | %.0f | %.0f | %.2f |\n", c.ours, c.theirs, batch, median(ours), median(theirs), median(ratios))
			}
		}
		b.Logf("time per message, medians of %d\n%s", costRounds, &table)
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
