package route

import (
	"testing"
	"testing/synctest"
)

// Channels follow the tables as a Tracer does.
func TestChannels_Path(t *testing.T) {
	for _, description := range []string{"fat-tree:radix=8,pods=4", "torus:x=4,y=4", "dragonfly", "rails"} {
		t.Run(description, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := mustRead(t, build(t, description))
				c, tracer := NewChannels(r), NewTracer(r)
				if !c.HasTables() {
					t.Fatal("got switches without tables, want tables")
				}
				for from := range c.Ends() {
					for to := range c.Ends() {
						if from != to {
							comparePath(t, c, tracer.Unicast(c.End(from), c.End(to).LID), from, to)
						}
					}
				}
			})
		})
	}
}

// comparePath compares the channels with a path, which begins with the source's link and
// ends with the destination's.
func comparePath(t *testing.T, c *Channels, want Path, from, to int) {
	t.Helper()
	got, ok := c.Path(nil, from, to)
	if !ok || len(got) != len(want.Hops)-2 {
		t.Fatalf("%d to %d: got %d channels, arrival %v; want %d", from, to, len(got), ok, len(want.Hops)-2)
	}
	for i, channel := range got {
		if c.Port(int(channel)) != want.Hops[i+1].Output {
			t.Fatalf("%d to %d: got another port at link %d", from, to, i)
		}
		if of, ok := c.Of(want.Hops[i+1].Output); !ok || of != int(channel) {
			t.Fatalf("got channel %d, want %d", of, channel)
		}
	}
}

// A path with a loop or dead end does not arrive.
func TestChannels_NoArrival(t *testing.T) {
	for _, description := range []string{"forwarding-loop", "dead-end"} {
		t.Run(description, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := mustRead(t, build(t, description))
				c, lost := NewChannels(r), 0
				for from := range c.Ends() {
					for to := range c.Ends() {
						if _, ok := c.Path(nil, from, to); !ok && from != to {
							lost++
						}
					}
				}
				a := mustAnalyze(t, r, AnalyzeOptions{})
				if want := int(a.Paths - a.Reached); lost != want || want == 0 {
					t.Errorf("got %d lost paths, want %d", lost, want)
				}
			})
		})
	}
}

// All shortest paths between two leaves of a fat tree share both leaves but no link, and
// in a ring of three switches each path is unique.
func TestShortestPaths_Common(t *testing.T) {
	for _, test := range []struct {
		description      string
		links            int
		common, switches int
	}{
		{"fat-tree:radix=8,pods=4", 2, 0, 2},
		{"torus:x=3,y=3,hosts=1", 1, 1, 2},
	} {
		t.Run(test.description, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := mustRead(t, build(t, test.description))
				c := NewChannels(r)
				from, to := c.At(0), -1
				for i := range c.Ends() {
					if at := c.At(i); at != from && to < 0 {
						to = at
					}
				}
				got := NewShortestPaths(c).Common(from, to)
				if got.Links != test.links || len(got.Channels) != test.common || len(got.Switches) != test.switches {
					t.Errorf("got %+v, want %d links, of which %d are common, and %d switches", got, test.links, test.common, test.switches)
				}
			})
		})
	}
}
