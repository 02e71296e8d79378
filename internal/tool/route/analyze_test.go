package route

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/sim"
)

func mustAnalyze(t testing.TB, r *Routing, o AnalyzeOptions) *Analysis {
	t.Helper()
	a, err := Analyze(context.Background(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnalyze_Sound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := mustAnalyze(t, mustRead(t, build(t, "fat-tree:radix=8,pods=8")), AnalyzeOptions{})
		if want := uint64(32 * 31); a.Paths != want || a.Reached != want {
			t.Errorf("got %d of %d paths, want %d", a.Reached, a.Paths, want)
		}
		if len(a.Faults)+len(a.Loops)+len(a.CreditLoops)+len(a.Balance)+len(a.Excess) > 0 {
			t.Errorf("got findings in a sound routing: %+v", a)
		}
		// Pairs at the same leaf cross two links, the others four.
		if want := []uint64{0, 0, 32 * 3, 0, 32 * 28}; !slicesEqual(a.Hops, want) {
			t.Errorf("got hops %v, want %v", a.Hops, want)
		}
	})
}

func slicesEqual(a, b []uint64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func BenchmarkAnalyze(b *testing.B) {
	r := mustRead(b, build(b, "fat-tree:levels=3,radix=40,pods=26"))
	b.ResetTimer()
	b.ReportAllocs()
	for b.Loop() {
		a := mustAnalyze(b, r, AnalyzeOptions{})
		if a.Reached != 10400*10399 {
			b.Fatalf("got %d paths", a.Reached)
		}
	}
}

// Links that are not active are findings if paths cross them, each link once.
func TestAnalyze_Inactive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "fat-tree:radix=4,pods=2,spines=2")
		for _, p := range []*sim.Port{&f.Node("leaf001").Ports[3], &f.Node("host00003").Ports[1]} {
			p.Info.State = ib.PortArmed
		}
		a := mustAnalyze(t, mustRead(t, f), AnalyzeOptions{})
		var got []string
		for _, x := range a.Findings(nil) {
			got = append(got, fmt.Sprintf("%s: %s", x.Kind, x.Text()))
		}
		want := []string{
			"not-active: leaf002[1]: 6 paths cross a link without data (Active at this end, Armed at host00003[1])",
			"not-active: leaf001[3]: 4 paths cross a link without data (Armed at this end, Active at spine001[1])",
		}
		if !slices.Equal(got, want) || a.Reached != a.Paths {
			t.Errorf("got findings %q, want %q", got, want)
		}
	})
}
