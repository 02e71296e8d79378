package route

import (
	"slices"
	"testing"
	"testing/synctest"
)

// TestChannels_Crossing compares the paths through each port with all traced paths.
func TestChannels_Crossing(t *testing.T) {
	for _, description := range []string{"fat-tree:radix=8,pods=4", "torus:x=4,y=4", "dragonfly", "rails", "demo"} {
		t.Run(description, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := mustRead(t, build(t, description))
				c, tracer := NewChannels(r), NewTracer(r)
				want := map[*Port][][2]int{}
				for to := range c.Ends() {
					for from := range c.Ends() {
						if from == to {
							continue
						}
						p := tracer.Unicast(c.End(from), c.End(to).LID)
						for _, h := range p.Hops {
							want[h.Output] = append(want[h.Output], [2]int{from, to})
						}
					}
				}
				for _, n := range r.Nodes {
					for i := range n.Ports {
						got := [][2]int{}
						for from, to := range c.Crossing(&n.Ports[i]) {
							got = append(got, [2]int{from, to})
						}
						if !slices.Equal(got, want[&n.Ports[i]]) {
							t.Errorf("%v[%d]: got %v, want %v", n.GUID, i, got, want[&n.Ports[i]])
						}
					}
				}
			})
		})
	}
}
