package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSamples(t *testing.T) {
	s := NewSamples()
	for _, v := range []int64{2, 4, 4, 4, 5, 5, 7, 9} {
		s.Add(v)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"count", float64(s.Count), 8}, {"minimum", float64(s.Min), 2}, {"maximum", float64(s.Max), 9},
		{"mean", s.Avg(), 5}, {"standard deviation", s.StdDev(), 2}, {"jitter", s.Jitter(), 1},
		{"median", float64(s.Quantile(50)), 4}, {"last percentile", float64(s.Quantile(100)), 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %v, want %v", c.got, c.want)
			}
		})
	}
	kept := NewSamples()
	kept.Keep(2)
	for _, v := range []int64{3, 1, 2} {
		kept.Add(v)
	}
	if got := kept.Kept(); len(got) != 2 || got[0] != 3 || got[1] != 1 {
		t.Errorf("got the first times %v, want [3 1]", got)
	}
	empty := NewSamples()
	if empty.Avg() != 0 || empty.StdDev() != 0 || empty.Jitter() != 0 || empty.Quantile(50) != 0 {
		t.Errorf("no samples: got mean %v, deviation %v, jitter %v, median %v, want 0", empty.Avg(), empty.StdDev(), empty.Jitter(), empty.Quantile(50))
	}
}

func TestWindows(t *testing.T) {
	var w Windows
	w.Start(5e9)
	for i := range int64(10000) {
		w.Add(5e9+i*1e6, 3)
	}
	n, ns := w.Total()
	if n != 30000 || ns != 9999e6 {
		t.Errorf("got %d messages in %d ns, want 30000 in 9999000000", n, ns)
	}
	rates := w.Rates(50)
	if len(rates) < 40 || len(rates) > 100 {
		t.Errorf("got %d windows, want about 50", len(rates))
	}
	for _, r := range rates {
		if got := r.PerSecond() / 1e3; math.Abs(got-3) > 0.2 {
			t.Errorf("window at %d: got %v messages per ms, want 3", r.Begin, got)
		}
	}
	if got := new(Windows).Rates(50); got != nil {
		t.Errorf("never started: got %v, want none", got)
	}
}

// The expected values are computed by hand from the definition in perftest: completions in
// bursts do not raise the peak, because their messages were posted earlier.
func TestPeak(t *testing.T) {
	for _, test := range []struct {
		name               string
		posts, completions []mark
		want               float64
	}{
		{"nothing", nil, nil, 0},
		{"one message", []mark{{0, 0}}, []mark{{500, 1}}, 2e6},
		{"steady", []mark{{0, 0}, {100, 1}, {200, 2}}, []mark{{1000, 1}, {2000, 2}, {3000, 3}}, 1e6},
		{"burst at the end", []mark{{0, 0}, {0, 1}, {0, 2}, {0, 3}}, []mark{{4000, 1}, {4001, 4}}, 4 / 4001.0 * 1e9},
		{"fast middle", []mark{{0, 0}, {5000, 1}, {5000, 2}, {9000, 3}}, []mark{{5000, 1}, {5500, 3}, {12000, 4}}, 4e6},
		{"completed before the post", []mark{{100, 1}}, []mark{{50, 1}}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := NewPeak(4)
			for _, m := range test.posts {
				p.Posted(m.ns, m.count)
			}
			for _, m := range test.completions {
				p.Completed(m.ns, m.count)
			}
			if got := p.PerSecond(); got < test.want*0.999999 || got > test.want*1.000001 {
				t.Errorf("got %g messages per second, want %g", got, test.want)
			}
		})
	}
	p := NewPeak(1)
	if n := testing.AllocsPerRun(10, func() { p.Posted(1, 2); p.Completed(2, 3) }); n > 0 {
		t.Errorf("got %g allocations, want none", n)
	}
}

// The peak equals the best of all pairs, by the definition.
func TestPeak_Pairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + random.IntN(60)
		p := NewPeak(n)
		var ns int64
		for posted, completed := uint64(0), uint64(0); completed < uint64(n); {
			ns += random.Int64N(100)
			if posted < uint64(n) && (posted == completed || random.IntN(2) == 0) {
				p.Posted(ns, posted)
				posted += min(uint64(1+random.IntN(3)), uint64(n)-posted)
				continue
			}
			completed += 1 + random.Uint64N(posted-completed)
			p.Completed(ns, completed)
		}
		want := 0.0
		for _, post := range p.posts {
			for _, c := range p.completions {
				if c.count > post.count && c.ns > post.ns {
					want = max(want, float64(c.count-post.count)/float64(c.ns-post.ns)*1e9)
				}
			}
		}
		if got := p.PerSecond(); got < want*0.999999 || got > want*1.000001 {
			t.Fatalf("got %g messages per second, want %g\nposts %v\ncompletions %v", got, want, p.posts, p.completions)
		}
	}
}
