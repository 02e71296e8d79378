package page

import (
	"math"
	"testing"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/top"
)

// sampleOf returns a sample with ports that have some error rates.
func sampleOf(at time.Time, rates map[uint8]float32) *top.Sample {
	s := &top.Sample{Layout: &top.Layout{}, Time: at}
	for number, errors := range rates {
		s.Ports = append(s.Ports, top.Port{Port: &fabric.Port{Node: &fabric.Node{GUID: 1}, Number: number}})
		s.Values = append(s.Values, top.Value{Errors: errors, Xmit: unknown, Wait: 0.5})
	}
	return s
}

// TestHistory checks the values of ports, also of a port that is not in each sweep, and that
// the history keeps a limited number of sweeps and ports.
func TestHistory(t *testing.T) {
	var h history
	at := time.Unix(1000, 0)
	for n := range 100 {
		rates := map[uint8]float32{1: float32(n)}
		if n%2 == 0 && n < 90 {
			rates[2] = float32(n)
		}
		if n < 20 {
			rates[3] = 1
		}
		h.add(sampleOf(at.Add(time.Duration(n)*time.Minute), rates))
	}
	points := h.of(1, 1)
	if len(points) != historyLength || points[0].Errors != 40 || points[59].Errors != 99 || !points[59].Time.Equal(at.Add(99*time.Minute)) || points[59].Wait != 0.5 {
		t.Errorf("got %d points from %v to %v", len(points), points[0], points[len(points)-1])
	}
	if !math.IsNaN(float64(points[0].Xmit)) {
		t.Errorf("got transmission %v, want unknown", points[0].Xmit)
	}
	for i, p := range h.of(1, 2) {
		if n := 40 + i; n%2 == 0 && n < 90 {
			if p.Errors != float32(n) {
				t.Errorf("sweep %d: got %v errors", n, p.Errors)
			}
		} else if !math.IsNaN(float64(p.Errors)) {
			t.Errorf("sweep %d: got %v errors, want unknown", n, p.Errors)
		}
	}
	if len(h.ports) != 2 {
		t.Errorf("got %d ports, want 2 without the port that is gone", len(h.ports))
	}
}
