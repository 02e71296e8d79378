//go:build guest

// Package perf_test runs data-plane tests on Soft-RoCE, with Debian's programs at
// the other side.
package perf_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// TestPingpong has package pingpong talk to libibverbs' examples, each as client
// and as server.
func TestPingpong(t *testing.T) {
	guest.RunTests(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:   []string{"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong"},
	}, "github.com/ibkit/ibkit/perf/pingpong", "-test.run=^TestGuest")
}

// TestPerf has both sides of package perf talk to each other.
func TestPerf(t *testing.T) {
	guest.RunTests(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
	}, "github.com/ibkit/ibkit/perf", "-test.run=^TestGuest")
}
