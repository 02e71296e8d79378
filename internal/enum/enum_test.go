package enum

import (
	"fmt"
	"testing"
)

type color uint8

func (c color) String() string { return fmt.Sprint("color ", uint8(c)) }

func TestParse(t *testing.T) {
	for text, want := range map[string]color{"color 1": 1, "color 3": 3} {
		t.Run(text, func(t *testing.T) {
			var got color
			if err := Parse(&got, 1, 3, "color", []byte(text)); err != nil || got != want {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
}

func TestParse_Unknown(t *testing.T) {
	for _, text := range []string{"color 0", "color 4", ""} {
		t.Run(text, func(t *testing.T) {
			got := color(2)
			err := Parse(&got, 1, 3, "color", []byte(text))
			if want := fmt.Sprintf("parse color %q: unknown", text); err == nil || err.Error() != want || got != 2 {
				t.Errorf("got %v, %v, want 2 and %s", got, err, want)
			}
		})
	}
}
