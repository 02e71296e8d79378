package ping

import (
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ping"
)

// A target without a result of any probe, after an interrupt, makes the result partial, and
// its loss is unknown.
func TestView_IsPartial(t *testing.T) {
	for _, test := range []struct {
		name    string
		stats   ping.Stats
		partial bool
		loss    string
	}{
		{"in flight", ping.Stats{Sent: 1}, true, render.Absent},
		{"not sent", ping.Stats{}, true, render.Absent},
		{"lost", ping.Stats{Sent: 2, Lost: 1}, false, "100%"},
		{"received", ping.Stats{Sent: 2, Received: 1}, false, "0%"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := &view{finder: &finder{}}
			r := &ping.Result{Targets: []*ping.Target{{Stats: ping.Stats{Sent: 1, Received: 1}}, {Stats: test.stats}}}
			if got := v.isPartial(r); got != test.partial {
				t.Errorf("got %v, want %v", got, test.partial)
			}
			if got := lossText(&test.stats); got != test.loss {
				t.Errorf("got loss %q, want %q", got, test.loss)
			}
		})
	}
}
