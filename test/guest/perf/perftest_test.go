//go:build guest

package perf_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// TestPerftest connects package perftest to perftest programs, each as client and as server.
func TestPerftest(t *testing.T) {
	t.Parallel()
	guest.RunTests(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools: []string{
			"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw", "ib_atomic_lat", "ib_atomic_bw",
		},
	}, "github.com/ibkit/ibkit/internal/tool/perf/perftest", "-test.run=^TestGuest")
}
