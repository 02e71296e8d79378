package top_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// sample runs the sampler on a simulated fabric until it has some samples. before is called
// before each but the first, with the sample count so far.
func sample(t testing.TB, description string, n int, before func(f *sim.Fabric, n int)) []*top.Sample {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	var all []*top.Sample
	o := top.Options{
		Source:  fabric.Source{OpenPort: f.Opener(""), Client: umad.ClientOptions{Timeout: 500 * time.Millisecond}},
		Limits:  counters.Limits{Thresholds: counters.RecommendedThresholds(), Wait: counters.DefaultWait},
		Samples: n, Interval: 20 * time.Millisecond, Rescan: time.Hour,
	}
	err = top.Run(t.Context(), o, func(s *top.Sample) {
		all = append(all, s)
		if before != nil && len(all) < n {
			before(f, len(all))
		}
	}, func(err error) { t.Error(err) })
	if err != nil || len(all) != n {
		t.Fatalf("got %d samples, error %v, want %d", len(all), err, n)
	}
	return all
}

func apply(t testing.TB, f *sim.Fabric, command string) {
	t.Helper()
	c, err := f.ParseCommand("test", 1, command)
	if err == nil {
		err = f.Do(c, new(strings.Builder))
	}
	if err != nil {
		t.Fatal(err)
	}
}

const tree = "fat-tree:radix=4,pods=2,spines=2"

// names returns a state's links in order.
func names(s *top.State) (all []string) {
	for _, row := range s.Rows() {
		all = append(all, s.Sample().Links[row].Name)
	}
	return all
}

func TestState_Rows(t *testing.T) {
	var all []*top.Sample
	synctest.Test(t, func(t *testing.T) {
		all = sample(t, tree, 2, func(f *sim.Fabric, _ int) {
			apply(t, f, "counter leaf001[2] SymbolErrorCounter 50")
			apply(t, f, "counter host00003[1] PortRcvErrors 200")
			apply(t, f, "counter leaf001[1] PortXmitData 2000000")
		})
	})
	s := top.NewState(10)
	for _, one := range all {
		s.Add(one)
	}
	const errors2, errors1, busy = "leaf002[1] - host00003[1]", "leaf001[2] - host00002[1]", "leaf001[1] - host00001[1]"
	for _, test := range []struct {
		name  string
		set   func()
		first []string
		count int
	}{
		{"severity", func() {}, []string{errors2, errors1, busy}, 8},
		{"errors", func() { s.Order = top.ByErrors }, []string{errors2, errors1, busy}, 8},
		{"utilization", func() { s.Order = top.ByUtilization }, []string{busy}, 8},
		{"findings", func() { s.Order = top.ByFindings }, []string{errors1, errors2}, 8},
		{"name", func() { s.Order = top.ByName }, []string{busy, errors1}, 8},
		{"reversed", func() { s.Order, s.Reverse = top.ByErrors, true }, []string{busy}, 8},
		{"problems", func() { s.Reverse, s.Problems = false, true }, []string{errors2, errors1}, 2},
		{"filter", func() { s.Problems, s.Filter = false, "LEAF002" }, []string{errors2}, 4},
		{"filter without links", func() { s.Filter = "nosuch" }, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.set()
			got := names(s)
			if len(got) != test.count || !slices.Equal(got[:min(len(test.first), len(got))], test.first) {
				t.Errorf("got %q, want %d that begin with %q", got, test.count, test.first)
			}
		})
	}
}

// The worst finding of a link decides, not only errors: links with congestion are before links
// without findings.
func TestState_Severity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := top.NewState(2)
		for _, one := range sample(t, "demo", 2, func(*sim.Fabric, int) { time.Sleep(5 * time.Second) }) {
			s.Add(one)
		}
		want := []string{
			"leaf1[1] - spine1[1]", // narrow, and symbol errors
			"leaf2[5] - node07[1]", // slow
			"leaf3[4] - node10[1]", // not active
			"leaf4[4] - node14[1]", // congested: a warning
			"leaf1[3] - node01[1]",
		}
		if got := names(s); len(got) != 24 || !slices.Equal(got[:len(want)], want) {
			t.Errorf("got %q, want first %q", got, want)
		}
		s.Reverse = true
		if got := names(s); got[23] != want[0] || got[20] != want[3] {
			t.Errorf("got %q, want the worst last", got)
		}
	})
}

func TestState_Move(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := sample(t, tree, 5, nil)
		s := top.NewState(3)
		check := func(want *top.Sample, paused bool) {
			t.Helper()
			if s.Sample() != want || s.Paused() != paused {
				at, of := s.Position()
				t.Errorf("got sample %d of %d, paused %v", at, of, s.Paused())
			}
		}
		if s.Sample() != nil || s.Rows() != nil {
			t.Error("got a sample before the first one")
		}
		for _, one := range all[:3] {
			s.Add(one)
			check(one, false)
		}
		s.Move(-1)
		check(all[1], true)
		s.Add(all[3]) // removes all[0]
		check(all[1], true)
		s.Move(-5)
		check(all[1], true)
		s.Add(all[4]) // removes the sample that is shown
		check(all[2], true)
		s.Move(1)
		check(all[3], true)
		s.Move(2)
		check(all[4], false)
		s.Pause()
		check(all[4], true)
		s.Pause()
		check(all[4], false)
	})
}

// Layouts from earlier scans count as memory, so that a link that flaps does not fill it.
func TestState_Memory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := sample(t, tree, 1, nil)[0]
		layout := *one.Layout
		layout.Ports = make([]top.Port, 20<<10) // 20 MB
		s := top.NewState(100)
		for range 10 {
			next, copied := *one, layout
			next.Layout = &copied
			s.Add(&next)
		}
		if at, of := s.Position(); at != 4 || of != 4 {
			t.Errorf("got sample %d of %d, want 4 of 4", at, of)
		}
		for range 10 {
			next := *s.Sample()
			s.Add(&next)
		}
		if _, of := s.Position(); of != 14 {
			t.Errorf("got %d samples, want 14: they share a layout", of)
		}
	})
}

// A link that goes down is not in later samples, and its history has unknown values.
func TestState_Layouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := sample(t, tree, 4, func(f *sim.Fabric, n int) {
			if n == 2 {
				apply(t, f, "unlink leaf002[1]")
			}
		})
		s := top.NewState(10)
		for _, one := range all {
			s.Add(one)
		}
		if before, now := len(all[1].Links), len(all[3].Links); before != 8 || now != 7 {
			t.Errorf("got %d and %d links, want 8 and 7", before, now)
		}
		var leaf *top.Node
		for i := range all[3].Nodes {
			if n := &all[3].Nodes[i]; n.Name == "leaf002" {
				leaf = n
			}
		}
		if r := s.ReportPort(leaf.GUID, 1); r != nil {
			t.Errorf("got a report of a port that is down: %+v", r)
		}
		for port, want := range map[uint8][]bool{1: {false, true, false, false}, 2: {false, true, true, true}} {
			var known []bool
			for _, p := range s.History(leaf.GUID, port) {
				known = append(known, !math.IsNaN(float64(p.Errors)))
			}
			if !slices.Equal(known, want) {
				t.Errorf("port %d: got %v, want %v", port, known, want)
			}
		}
	})
}

// Reports contain unknown values as null, which NaN would make invalid.
func TestState_Reports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := top.NewState(2)
		s.Add(sample(t, "demo", 1, nil)[0])
		one := s.Sample().Ports[0]
		for _, r := range []*top.Report{s.ReportLinks(0), s.ReportNode(one.Port.Node.GUID), s.ReportPort(one.Port.Node.GUID, one.Number)} {
			b, err := json.Marshal(r)
			if err != nil || !strings.Contains(string(b), `"errors_per_second":null`) {
				t.Errorf("got %s, %v", b, err)
			}
		}
		if r := s.ReportLinks(3); len(r.Links) != 3 {
			t.Errorf("got %d links, want 3", len(r.Links))
		}
		if r := s.ReportNode(1); r != nil {
			t.Errorf("got %+v for an unknown node", r)
		}
	})
}

// Paths are followed between passes.
func TestRun_Paths(t *testing.T) {
	f, err := sim.Build(tree)
	if err != nil {
		t.Fatal(err)
	}
	requests := make(chan top.PathRequest, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var paths *top.Paths
	requests <- top.PathRequest{
		Find: func(r *route.Routing) (p route.Pair, err error) {
			for _, n := range r.Nodes {
				switch port := &n.Ports[1]; n.Desc.String() {
				case "host00001":
					p.From, p.FromLID = port, port.LID
				case "host00004":
					p.To, p.ToLID = port, port.LID
				}
			}
			return p, nil
		},
		Done: func(p *top.Paths, err error) {
			if paths = p; err != nil {
				t.Error(err)
			}
			stop()
		},
	}
	o := top.Options{
		Source: fabric.Source{OpenPort: f.Opener("")},
		Limits: counters.Limits{}, Interval: time.Hour, Rescan: time.Hour, Paths: requests,
	}
	if err := top.Run(ctx, o, func(*top.Sample) {}, func(error) {}); err != nil {
		t.Fatal(err)
	}
	if len(paths.Forward.Hops) != 4 || len(paths.Reverse.Hops) != 4 {
		t.Errorf("got %d and %d hops, want 4 and 4", len(paths.Forward.Hops), len(paths.Reverse.Hops))
	}
}

// BenchmarkState_Rows sorts the 31,200 links for 10,400 hosts.
func BenchmarkState_Rows(b *testing.B) {
	all := sample(b, "fat-tree:levels=3,radix=40,pods=26", 1, nil)
	for i := range all[0].Values {
		all[0].Values[i] = top.Value{Errors: rand.Float32(), Xmit: rand.Float32(), Rcv: rand.Float32(), Wait: rand.Float32()}
	}
	s := top.NewState(2)
	s.Add(all[0])
	for b.Loop() {
		s.Reverse = !s.Reverse
		s.Rows()
	}
}
