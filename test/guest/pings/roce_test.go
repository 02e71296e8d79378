//go:build guest

// Package pings_test pings in guests: over Soft-RoCE, and over InfiniBand ports of
// a kernel.
package pings_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// TestRoCE pings a server over both kinds of GIDs.
func TestRoCE(t *testing.T) {
	guest.RunTests(t, guest.Spec{Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}}},
		"github.com/ibkit/ibkit/ping", "-test.run=^TestGuest")
}
