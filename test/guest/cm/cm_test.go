//go:build guest

// Package cm_test runs package rdmacm and the commands that connect on Soft-RoCE.
package cm_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

const pkg = "github.com/ibkit/ibkit/rdmacm"

// TestPackage runs the tests of package rdmacm: connections of a device to itself.
func TestPackage(t *testing.T) {
	t.Parallel()
	guest.RunTests(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:   []string{"ip", "rdma"},
	}, pkg, "-test.run=^TestGuest")
}

// TestRemoval removes the device of a connection.
func TestRemoval(t *testing.T) {
	t.Parallel()
	guest.RunTests(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:   []string{"ip", "rdma"},
	}, pkg, "-test.run=^TestRemoval$")
}
