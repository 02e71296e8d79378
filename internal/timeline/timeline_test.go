package timeline

import (
	"slices"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	line, err := New[int]()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	line.Add(start.Add(2*time.Millisecond), 3)
	line.Add(start.Add(time.Millisecond), 1)
	line.Add(start.Add(time.Millisecond), 2)
	var got []int
	line.Run(func(due []int) {
		if got = append(got, due...); len(got) == 3 {
			line.Add(time.Now(), 4) // during deliver
		}
		if len(got) == 4 {
			line.End()
		}
	})
	if !slices.Equal(got, []int{1, 2, 3, 4}) {
		t.Errorf("got order %v, want 1 to 4", got)
	}
	if now := time.Now(); now.Before(start.Add(2 * time.Millisecond)) {
		t.Errorf("got all values %v after the start, want at least 2 ms", now.Sub(start))
	}
}
