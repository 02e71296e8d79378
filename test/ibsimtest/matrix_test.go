package ibsimtest

import (
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestShare_Union checks that consecutive variants run each case once.
func TestShare_Union(t *testing.T) {
	cases := []string{"a", "b", "c", "d", "e", "f", "g"}
	for _, n := range []int{1, 2, 3, 7, 9} {
		var union []string
		for i := range n {
			union = append(union, Every(cases, i, n)...)
		}
		slices.Sort(union)
		if !slices.Equal(union, cases) {
			t.Errorf("%d variants: got %q, want %q", n, union, cases)
		}
	}
}

// TestShare_All checks that each variant runs all cases if all are asked for.
func TestShare_All(t *testing.T) {
	cases := []int{1, 2, 3}
	t.Setenv(testenv.AllCasesVariable, "1")
	want := 3
	if got := len(Share(cases, 7, 3)); got != want {
		t.Errorf("got %d cases, want %d", got, want)
	}
}
