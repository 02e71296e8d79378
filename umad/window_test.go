package umad

import (
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	w := window{size: 4, limit: 64}
	check := func(after string, want int) {
		t.Helper()
		if w.size != want {
			t.Errorf("after %s: got %d, want %d", after, w.size, want)
		}
	}
	for range 12 {
		w.grow()
	}
	check("12 replies", 16)
	w.shrink(90, 100)
	check("a loss", 8)
	w.shrink(95, 104) // was in flight when the window was halved
	check("a second loss of the same congestion", 8)
	for range 8 {
		w.grow()
	}
	check("a window of replies", 9)
	for i := range 10 {
		w.shrink(200+i, 200+i)
	}
	check("many losses", 1)
	for range 10000 {
		w.grow()
	}
	check("many replies", 64)
}

func TestRTT(t *testing.T) {
	var e rtt
	if got := e.lateAfter(); got != minLateAfter {
		t.Errorf("before the first reply: got %v, want %v", got, minLateAfter)
	}
	for range 100 {
		e.add(100 * time.Millisecond)
	}
	if got := e.lateAfter(); e.smoothed != 100*time.Millisecond || got < 400*time.Millisecond || got > 401*time.Millisecond {
		t.Errorf("steady round trips of 100ms: got %+v, late after %v, want 100ms and 400ms", e, got)
	}
	e.add(300 * time.Millisecond)
	if got := e.lateAfter(); got < 600*time.Millisecond {
		t.Errorf("after an outlier: got %v, want at least 600ms", got)
	}
}
