package getopt

import (
	"testing"
)

func TestStrtol(t *testing.T) {
	for text, want := range map[string]int{"12abc": 12, "0x1f": 31, "010": 8, "-3": -3, "x": 0, "": 0, " 7": 7, "08": 0} {
		t.Run(text, func(t *testing.T) {
			if got := Strtol(text); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		})
	}
}

// Numbers are read as C reads them.
func TestNumbers(t *testing.T) {
	if got := Strtoull("0xffffffffffffffff"); got != 1<<64-1 {
		t.Errorf("%#x", got)
	}
	for s, want := range map[string]int{"010": 10, "0x1": 0, "-3,": -3, "": 0} {
		t.Run(s, func(t *testing.T) {
			if got := Atoi(s); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		})
	}
}
