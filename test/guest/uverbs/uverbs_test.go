//go:build guest

// Package uverbs_test runs package verbs on Soft-RoCE.
package uverbs_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

const pkg = "github.com/ibkit/ibkit/verbs"

var spec = guest.Spec{
	Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
	Tools:   []string{"ibv_devinfo", "rdma", "ip", "strace"},
}

// TestVerbs compares queries with Debian's ibv_devinfo, and watches a port go down and up
// and a device removal.
func TestVerbs(t *testing.T) {
	t.Parallel()
	guest.RunTests(t, spec, pkg, "-test.run=^TestGuest")
}

// calls has the system calls in a trace that concern the device and libibverbs.
type calls struct {
	opens, ioctls, libibverbs int
	maps                      int // for both sides to write
	doorbells, arms           int // POST_SEND and REQ_NOTIFY_CQ writes
	others                    int // on the device's file
}

// Trace lines: a call with the device node, and the beginning of a POST_SEND and a
// REQ_NOTIFY_CQ write: command and lengths in words.
var (
	call     = regexp.MustCompile(`(\w+)\((.*/dev/infiniband/uverbs.*)`)
	doorbell = regexp.MustCompile(`"\\34\\0\\0\\0\\10\\0\\1\\0.*, 32\b`)
	arm      = regexp.MustCompile(`"\\27\\0\\0\\0\\4\\0\\0\\0.*, 16\b`)
)

// trace runs a program with strace, which prints the file for each descriptor.
func trace(t *testing.T, g *guest.Guest, args ...string) calls {
	t.Helper()
	r := g.MustRun(t, slices.Concat(
		[]string{"strace", "-f", "--seccomp-bpf", "-y", "-e", "trace=open,openat,ioctl,mmap,write,writev,pwrite64,pwritev"}, args)...)
	if r.Code != 0 {
		t.Fatalf("%v: got exit code %d:\n%s%s", args, r.Code, r.Stdout, r.Stderr)
	}
	var c calls
	for line := range strings.Lines(r.Stderr) {
		if m := call.FindStringSubmatch(line); m == nil {
			if strings.Contains(line, "libibverbs") && !strings.Contains(line, "ENOENT") {
				c.libibverbs++
			}
		} else if name, args := m[1], m[2]; strings.HasPrefix(name, "open") {
			c.opens++
		} else if name == "ioctl" && strings.Contains(args, "RDMA_VERBS_IOCTL") {
			c.ioctls++
		} else if name == "mmap" && strings.Contains(args, "PROT_READ|PROT_WRITE, MAP_SHARED") {
			c.maps++
		} else if name == "write" && doorbell.MatchString(args) {
			c.doorbells++
		} else if name == "write" && arm.MatchString(args) {
			c.arms++
		} else {
			c.others++
		}
	}
	if t.Failed() || c.ioctls == 0 {
		t.Log(r.Stderr)
	}
	return c
}

// TestCalls checks the system calls: a single open, ioctls, no write to the device, no
// libibverbs file. Debian's ibv_devinfo verifies the trace.
func TestCalls(t *testing.T) {
	t.Parallel()
	s := spec
	s.Programs = []guest.Program{{Package: pkg, Test: true}}
	g := guest.New(t, s)
	if c := trace(t, g, "ibv_devinfo", "-v"); c.opens == 0 || c.ioctls == 0 || c.libibverbs == 0 {
		t.Errorf("ibv_devinfo: %+v", c)
	}
	c := trace(t, g, "verbs.test", "-test.run=^TestGuestQueries$")
	if c.opens != 1 || c.ioctls < 4 || c.maps+c.doorbells+c.arms+c.others != 0 || c.libibverbs != 0 {
		t.Errorf("queries: %+v", c)
	}
	t.Logf("queries: %+v", c)

	// A queue pair sends 53 messages to another, and each waits for an event: rings are
	// mapped, a doorbell is a write.
	c = trace(t, g, "verbs.test", "-test.run=^TestGuestCompletionEvents$")
	if c.opens != 2 || c.maps != 2*3 || c.doorbells != 53 || c.arms == 0 || c.arms > 3*100 || c.others != 0 || c.libibverbs != 0 {
		t.Errorf("data: %+v", c)
	}
	t.Logf("data: %+v", c)
}

// TestFull tests a device with features that Soft-RoCE lacks.
func TestFull(t *testing.T) {
	t.Parallel()
	guest.RunTests(t, guest.Spec{
		Modules: []string{"ib_uverbs"},
		Insert:  []string{guest.Module(t, debian.Bookworm, "testdata/ibfull")},
	}, pkg, "-test.run=^TestFull$")
}
