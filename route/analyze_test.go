package route

import (
	"context"
	"testing"
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
	a := mustAnalyze(t, mustRead(t, build(t, "fat-tree:radix=8,pods=8")), AnalyzeOptions{})
	if want := uint64(32 * 31); a.Paths != want || a.Reached != want {
		t.Errorf("got %d of %d paths, want %d", a.Reached, a.Paths, want)
	}
	if len(a.Faults)+len(a.Loops)+len(a.CreditLoops)+len(a.Balance)+len(a.Excess) > 0 {
		t.Errorf("got findings in a sound routing: %+v", a)
	}
	// Pairs at one leaf cross two links, the others four.
	if want := []uint64{0, 0, 32 * 3, 0, 32 * 28}; !slicesEqual(a.Hops, want) {
		t.Errorf("got hops %v, want %v", a.Hops, want)
	}
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
