package host

import "testing"

func TestLoad(t *testing.T) {
	const first, second = "cpu  100 5 30 1000 7 0 0 0 0 0\ncpu0 1 2 3 4\n", "cpu  130 5 90 1090 7 0 0 0 0 0\n"
	if got := parseLoad(second).Since(parseLoad(first)); got != 25 {
		t.Errorf("got %v %%, want 25", got)
	}
	for name, text := range map[string]string{"empty": "", "other file": "intr 1 2 3", "short": "cpu 1 2"} {
		t.Run(name, func(t *testing.T) {
			if l := parseLoad(text); l != nil || l.Since(parseLoad(first)) != 0 || parseLoad(first).Since(l) != 0 {
				t.Errorf("got %+v, want no load", l)
			}
		})
	}
}
