//go:build guest

// Package verbs_test runs package verbs on Soft-RoCE.
package verbs_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

const pkg = "github.com/ibkit/ibkit/verbs"

var spec = guest.Spec{
	Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
	Tools:   []string{"ibv_devinfo", "rdma", "ip", "strace"},
}

// TestVerbs holds what is queried against what Debian's ibv_devinfo prints, and
// watches a port go down and up and a device being removed.
func TestVerbs(t *testing.T) {
	guest.RunTests(t, spec, pkg, "-test.run=^TestGuest")
}

// TestCalls looks at the system calls: one open, ioctls, no write to the device,
// no file of libibverbs.
func TestCalls(t *testing.T) {
	s := spec
	s.Programs = []guest.Program{{Package: pkg, Test: true}}
	g := guest.New(t, s)
	r := g.MustRun(t, "strace", "-f", "-e", "trace=ioctl,write,pwrite64,writev,open,openat", "verbs.test", "-test.run=^TestGuestQueries$")
	if r.Code != 0 {
		t.Fatalf("ended with %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	var opens, ioctls int
	fd := ""
	for line := range strings.Lines(r.Stderr) {
		_, call, _ := strings.Cut(line, "] ") // after the thread, if it is another
		if call == "" {
			call = line
		}
		switch {
		case strings.Contains(line, "/dev/infiniband/"):
			opens++
			if i := strings.LastIndex(line, "= "); i >= 0 {
				fd = strings.TrimSpace(line[i+2:])
			}
		case strings.Contains(line, "RDMA_VERBS_IOCTL"):
			ioctls++
		case strings.Contains(call, "write") && fd != "" && strings.Contains(call, "("+fd+","):
			t.Errorf("writes to the device: %s", line)
		case strings.Contains(line, "libibverbs"):
			t.Errorf("opens a file of libibverbs: %s", line)
		}
	}
	if opens != 1 || ioctls < 4 {
		t.Errorf("%d opens and %d ioctls of the device:\n%s", opens, ioctls, r.Stderr)
	}
}
