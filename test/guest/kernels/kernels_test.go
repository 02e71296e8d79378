//go:build guest

// Package kernels_test runs ibkit in the kernels of other Debian releases, beside their
// programs.
package kernels_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/selftest"
)

// tools are the programs that ibkit is compared with, and their helpers.
var tools = []string{
	"ibv_devinfo", "ibv_devices", "ibstat", "ibstatus", "sed", "basename",
	"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw", "ib_atomic_lat", "ib_atomic_bw",
	"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong",
	"rping", "ucmatose", "udaddy", "mckey", "cmtime", "rdma_client", "rdma_server",
}

// libgcc is a library that rping loads to end a thread.
const libgcc = "/lib/x86_64-linux-gnu/libgcc_s.so.1"

// TestRelease runs all tests of a release in a single guest, because a boot takes longer than
// most of them. The other tests in guests have this host's release.
func TestRelease(t *testing.T) {
	for _, r := range testenv.Cases([]*debian.Release{debian.Trixie}, debian.Bullseye, debian.Sid) {
		t.Run(r.Name, func(t *testing.T) {
			root, err := r.Root(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			g := guest.New(t, guest.Spec{
				Release:  r,
				Files:    map[string]string{libgcc: root + libgcc},
				Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
				Tools:    tools,
				Programs: []guest.Program{guest.Ibkit},
			})
			if !strings.HasPrefix(g.Release, r.Kernel+".") {
				t.Errorf("got kernel %s, want %s", g.Release, r.Kernel)
			}
			t.Run("devices", func(t *testing.T) { devices(t, g, r) })
			t.Run("methods", func(t *testing.T) { methods(t, g, r) })
			t.Run("examples", func(t *testing.T) { examples(t, g) })
			t.Run("multicast", func(t *testing.T) { multicast(t, g) })
			if !r.Before(debian.Trixie) {
				t.Run("cmtime", func(t *testing.T) { cmtime(t, g, r) })
			}
			t.Run("perf", func(t *testing.T) { perf(t, g) })
			t.Run("dma-buf", func(t *testing.T) { dmaBuf(t, g, r) })
			t.Run("self-test", func(t *testing.T) { selfTest(t, g, r) })
		})
	}
}

// oldFailures are the cases that fail because of Soft-RoCE in Linux 5.10, some not always: it
// never completes work requests after an error, the responder's error is lost, and a read
// writes to memory without this right.
var oldFailures = []string{
	"rc flush", "uc flush", "ud flush", "rc error: send, wrong lkey", "rc error: write past the end of the local region", "rc error: read into a region without local write",
	"rc error: write, wrong rkey", "rc error: read, wrong rkey", "rc error: atomic, wrong rkey", "rc error: write past the end of a region",
	"rc error: read past the end of a region", "rc error: write, region without remote write", "rc error: read, region without remote read",
	"rc error: atomic, region without remote atomic", "rc error: write, queue pair without remote write", "rc error: read, queue pair without remote read",
	"rc error: atomic, queue pair without remote atomic", "rc error: misaligned atomic",
}

// selfTest runs the self-test on Soft-RoCE.
func selfTest(t *testing.T, g *guest.Guest, r *debian.Release) {
	expected := selftest.Expected{Unsupported: []string{
		"rc flush of receives in the error state", "uc flush of receives in the error state", "ud flush of receives in the error state",
		"device region of a dma-buf",
	}}
	if r.Before(debian.Bookworm) {
		expected.Unsupported = append(expected.Unsupported, "rc memory window and invalidate")
		expected.Failing = oldFailures
	}
	g.Must(t, "sh", "-c", "echo 4 >/proc/sys/vm/nr_hugepages")
	selftest.Run(t, g, "rxe0", expected)
}
