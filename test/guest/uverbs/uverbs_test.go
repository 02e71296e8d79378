//go:build guest

// Package uverbs_test runs package verbs on Soft-RoCE.
package uverbs_test

import (
	"slices"
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

// calls is what a trace shows of the device and of libibverbs.
type calls struct{ opens, ioctls, writes, libibverbs int }

// trace runs a program with strace, which names the file of each descriptor.
func trace(t *testing.T, g *guest.Guest, args ...string) calls {
	t.Helper()
	const node = "/dev/infiniband/uverbs"
	r := g.MustRun(t, slices.Concat(
		[]string{"strace", "-f", "-y", "-e", "trace=open,openat,ioctl,write,writev,pwrite64"}, args)...)
	if r.Code != 0 {
		t.Fatalf("%v ended with %d:\n%s%s", args, r.Code, r.Stdout, r.Stderr)
	}
	var c calls
	for line := range strings.Lines(r.Stderr) {
		switch {
		case strings.Contains(line, "open") && strings.Contains(line, `"`+node):
			c.opens++
		case strings.Contains(line, "<"+node) && strings.Contains(line, "RDMA_VERBS_IOCTL"):
			c.ioctls++
		case strings.Contains(line, "<"+node) && strings.Contains(line, "write"):
			c.writes++
		case strings.Contains(line, "libibverbs") && !strings.Contains(line, "ENOENT"):
			c.libibverbs++
		}
	}
	if t.Failed() || c.ioctls == 0 {
		t.Log(r.Stderr)
	}
	return c
}

// TestCalls looks at the system calls: one open, ioctls, no write to the device,
// no file of libibverbs. Debian's ibv_devinfo shows that the trace would have it.
func TestCalls(t *testing.T) {
	s := spec
	s.Programs = []guest.Program{{Package: pkg, Test: true}}
	g := guest.New(t, s)
	if c := trace(t, g, "ibv_devinfo", "-v"); c.opens == 0 || c.ioctls == 0 || c.libibverbs == 0 {
		t.Errorf("ibv_devinfo: %+v", c)
	}
	c := trace(t, g, "verbs.test", "-test.run=^TestGuestQueries$")
	if c.opens != 1 || c.ioctls < 4 || c.writes != 0 || c.libibverbs != 0 {
		t.Errorf("package verbs: %+v", c)
	}
	t.Logf("package verbs: %+v", c)
}

// TestFull is about a device that has what Soft-RoCE has not.
func TestFull(t *testing.T) {
	guest.RunTests(t, guest.Spec{
		Modules: []string{"ib_uverbs"},
		Insert:  []string{guest.Module(t, "testdata/ibfull")},
	}, pkg, "-test.run=^TestFull$")
}
