//go:build guest

package perf_test

import (
	"encoding/json"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

// counters reads the local counters while ibkit perf runs: Soft-RoCE has no agent for
// counters, so the command reads the kernel's counters.
func counters(t *testing.T, g *guest.Guest) {
	traffic := client(t, g, "10.0.0.1 --test write-bw")
	awaitTests(t, g, 2)
	awaitTraffic(t, g)
	r := g.MustRun(t, "ibkit", "counters", "--json", "--window", "3s")
	if err := traffic.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	ends(t, traffic, 4, "interrupted")
	var report struct {
		Schema string
		Window float64 `json:"window_seconds"`
		Ports  []struct {
			Device string
			Rates  map[string]float64
		}
	}
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatalf("%v: exit code %d: %s%s", err, r.Code, r.Stdout, r.Stderr)
	}
	if report.Schema != "ibkit/counters-local/3" || len(report.Ports) != 1 || report.Ports[0].Device != "rxe0" || report.Window < 2.9 {
		t.Fatalf("got %s%s, want a window of 3 s of rxe0", r.Stdout, r.Stderr)
	}
	rates := report.Ports[0].Rates
	if rates["sent_pkts"] < 100 || rates["rcvd_pkts"] < 100 {
		t.Errorf("got %v packets sent and %v received per second, want at least 100 each", rates["sent_pkts"], rates["rcvd_pkts"])
	}
}
