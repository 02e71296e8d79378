package stats

import (
	"math"
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
