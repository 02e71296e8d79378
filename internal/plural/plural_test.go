package plural

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 switches", 1: "1 switch", 2: "2 switches"} {
		if got := Count(n, "switch", "switches"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
