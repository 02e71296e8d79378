package mesh

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Only a finding that blames a host alone drains it. Hosts at a slow cable, and
// hosts that few flows do not distinguish from others, are avoided.
func TestResult_ListHosts(t *testing.T) {
	rail := pairwise
	rail.Schedule.Name = "rail"
	for _, test := range []struct {
		fabric  string
		options SimulateOptions
		faults  string
		want    []string
		good    int
	}{
		{small, pairwise, "", nil, 16},
		{small, pairwise, "host00003=60%", []string{"host00003 slow-node drain"}, 15},
		{small, pairwise, "host00003=hang", []string{"host00003 hung drain"}, 15},
		{small, pairwise, "host00003=+3us", []string{"host00003 slow-node drain"}, 15},
		{small, pairwise, "host00003=96%", nil, 16},
		{small, pairwise, "host00003=missing", nil, 15},
		{small, pairwise, "leaf001[5]=50%", nil, 16},
		{small, pairwise, "leaf002=50%", nil, 16},
		{small, pairwise, "host00010=40% host00002=40%", []string{"host00002 slow-node drain", "host00010 slow-node drain"}, 14},
		{"rails:hosts=8,rails=4", rail, "host003=60%", []string{"host003 slow-node drain"}, 7},
		{"rails:hosts=8,rails=4", rail, "host003/mlx5_1=60%", []string{"host003 slow-cable avoid"}, 7},
		{"demo", pairwise, "", []string{"node10 unreachable avoid"}, 15},
		{"fat-tree:radix=8,pods=4,hosts=1", pairwise, "host00003=60%", []string{"host00003 slow-node avoid"}, 3},
		{"fat-tree:radix=8,pods=4,hosts=1", pairwise, "leaf003[1]=60%", []string{"host00003 slow-link avoid"}, 3},
	} {
		t.Run(test.fabric+" "+test.faults, func(t *testing.T) {
			r := simulated(t, wire(t, test.fabric), test.options, strings.Fields(test.faults)...)
			r.ListHosts()
			var got []string
			for _, b := range r.BadHosts {
				got = append(got, fmt.Sprintf("%s %s %s", b.Host, b.Kind, b.Action))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q: %v", got, test.want, r.Findings)
			}
			if good := r.GoodHosts(); len(good) != test.good || slices.ContainsFunc(r.BadHosts, func(b BadHost) bool { return slices.Contains(good, b.Host) }) {
				t.Errorf("got good hosts %q, want %d", good, test.good)
			}
		})
	}
}
