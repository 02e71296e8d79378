package top

import (
	"testing"
	"time"
)

func TestIntervalFor(t *testing.T) {
	for _, test := range []struct{ took, want time.Duration }{
		{0, 5 * time.Second},
		{200 * time.Millisecond, 5 * time.Second},
		{210 * time.Millisecond, 6 * time.Second},
		{820 * time.Millisecond, 21 * time.Second}, // 62,400 ports
	} {
		t.Run(test.took.String(), func(t *testing.T) {
			if got := intervalFor(test.took); got != test.want {
				t.Errorf("%v: got %v, want %v", test.took, got, test.want)
			}
		})
	}
}
