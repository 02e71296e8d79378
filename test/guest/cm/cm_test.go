//go:build guest

// Package cm_test runs package rdmacm and the commands that connect on Soft-RoCE.
package cm_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

const pkg = "github.com/ibkit/ibkit/rdmacm"

// TestPackage runs the tests in package rdmacm: connections from a device to itself.
func TestPackage(t *testing.T) {
	t.Parallel()
	guest.RunTests(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:   []string{"ip", "rdma"},
	}, pkg, "-test.run=^TestGuest")
}

// TestRemoval removes the device that a connection uses.
func TestRemoval(t *testing.T) {
	t.Parallel()
	guest.RunTests(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:   []string{"ip", "rdma"},
	}, pkg, "-test.run=^TestRemoval$")
}

// TestAddressChange moves an address to another network device.
func TestAddressChange(t *testing.T) {
	t.Parallel()
	guest.RunTests(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Modules: []string{"bonding"},
		Tools:   []string{"ip", "rdma"},
	}, pkg, "-test.run=^TestAddressChange$")
}

// TestAbandon kills a process that has opened 10,000 IDs.
func TestAbandon(t *testing.T) {
	t.Parallel()
	s := spec(guest.Dummy)
	s.Programs = append(s.Programs, guest.Program{Package: pkg, Test: true})
	g := guest.New(t, s)
	const count = "rdma resource show cm_id | grep -c rdmacm.test"
	p := g.MustStart(t, "rdmacm.test", "-test.run=^TestAbandon$")
	if err := p.AwaitOutput(t.Context(), "abandoned"); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(g.Must(t, "sh", "-c", count)); got != "10000" {
		t.Errorf("got %s IDs, want 10000", got)
	}
	signal(t, p, unix.SIGKILL)
	wait(t, p)
	if err := g.Await(t.Context(), "sh", "-c", "! "+count); err != nil {
		t.Error(err)
	}
	stop := serve(t, g)
	run(t, g, 0, "ibkit", "cm", g.Ports[0].Addr.String())
	stop()
	noIDs(t, g)
}
