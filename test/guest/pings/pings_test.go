//go:build guest

// Package pings_test pings in a guest: over Soft-RoCE, and over InfiniBand ports in a
// kernel with a simulated fabric.
package pings_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
)

// TestPings runs all tests in this package in a single guest.
func TestPings(t *testing.T) {
	t.Parallel()
	spec := ibports.Spec(t, "ibping", "ibaddr", "rdma")
	spec.Devices = []guest.Device{{Name: "rxe0"}}
	spec.Modules = append(spec.Modules, "veth")
	spec.Programs = append(spec.Programs, guest.Program{Package: "github.com/ibkit/ibkit/ping", Test: true})
	g := guest.New(t, spec)
	t.Run("exchanges over RoCE", func(t *testing.T) {
		g.Must(t, "ping.test", "-test.v", "-test.run=^TestGuest")
	})
	t.Run("addresses on Ethernet", func(t *testing.T) { ethernetAddresses(t, g) })
	t.Run("a port that comes and goes", func(t *testing.T) { comeAndGo(t, g) })
	ibports.PlugIn(t, g, "demo", "node05", "node07")
	t.Run("addresses on InfiniBand", func(t *testing.T) { infinibandAddresses(t, g) })
	for _, server := range []string{"ibping -S -C ibtest0", "ibkit ibping -S -C ibtest0", "ibkit ping --serve"} {
		t.Run(server, func(t *testing.T) { pairs(t, g, strings.Fields(server)) })
	}
}

// comeAndGo removes a server's port and adds it again.
func comeAndGo(t *testing.T, g *guest.Guest) {
	server := g.MustStart(t, "ibkit", "ping", "--serve")
	if err := server.AwaitOutput(t.Context(), "serving pings at rxe0/1 (Ethernet)"); err != nil {
		t.Fatal(err)
	}
	g.Must(t, "rdma", "link", "delete", "rxe0")
	if err := server.AwaitOutput(t.Context(), "(rxe0): device removed"); err != nil {
		t.Fatal(err)
	}
	g.Must(t, "rdma", "link", "add", "rxe1", "type", "rxe", "netdev", g.Ports[0].Netdev)
	if err := server.AwaitOutput(t.Context(), "serving pings at rxe1/1"); err != nil {
		t.Fatal(err)
	}
	r := end(t, server)
	if r.Code != 4 || !strings.Contains(r.Stdout, "rxe0/1, rxe1/1 for ") {
		t.Errorf("got exit code %d, want 4 and both devices:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	g.Must(t, "rdma", "link", "delete", "rxe1")
}

// end interrupts a server and returns the result.
func end(t *testing.T, p *guest.Process) guest.Result {
	t.Helper()
	if err := p.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var times = regexp.MustCompile(`\d+\.\d{3}|time \d+ ms`)

// pairs pings a server by LID and by GUID with both clients, from the other port
// and from its own.
func pairs(t *testing.T, g *guest.Guest, server []string) {
	p := g.MustStart(t, server...)
	lid := strings.TrimSpace(g.Must(t, "cat", "/sys/class/infiniband/ibtest0/ports/1/lid"))
	gid := strings.TrimSpace(g.Must(t, "cat", "/sys/class/infiniband/ibtest0/ports/1/gids/0"))
	guid := "0x" + strings.ReplaceAll(gid[len("fe80:0000:0000:0000:"):], ":", "")
	// The kernel delivers pings after the server has registered.
	ready := fmt.Sprintf("ibping -f -c 1 -t 100 -C ibtest1 %s | grep -q ' 1 received'", lid)
	if err := g.Await(t.Context(), "sh", "-c", ready); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"-f -c 20 -C ibtest1 LID",
		"-f -c 20 -C ibtest1 -G GUID",
		"-c 1 -C ibtest0 -P 1 LID",
		"-f -c 1 -t 100 -C ibtest1 -o 0x1406 LID",
		"-f -c 1 -t 100 -C ibtest1 0xbff0",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(strings.NewReplacer("GUID", guid, "LID", lid).Replace(line))
			mask := func(r guest.Result) string { return times.ReplaceAllString(r.Stdout, "TIME") }
			got := g.MustRun(t, append([]string{"ibkit", "ibping"}, args...)...)
			want := g.MustRun(t, append([]string{"ibping"}, args...)...)
			for again := 0; again < 2 && mask(got) != mask(want); again++ {
				want = g.MustRun(t, append([]string{"ibping"}, args...)...) // it loses packets on a busy machine
			}
			if got.Code != want.Code || mask(got) != mask(want) || !strings.Contains(want.Stdout, "statistics") {
				t.Errorf("got exit code %d, want %d:\n%s%s\n%s", got.Code, want.Code, cmp.Diff(mask(want), mask(got)), want.Stderr, got.Stderr)
			}
		})
	}
	for _, line := range []string{
		"-f -c 20 --payload-size 128 LID", "-f -c 20 -G GUID", "-c 20 -i 1ms LID GUID", "-f -c 20 --via pma LID", "-f -c 20 --via sma LID",
		"-f -c 20 0,1",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields("ibkit ping -C ibtest1 " + strings.NewReplacer("GUID", guid, "LID", lid).Replace(line))
			if r := g.MustRun(t, args...); r.Code != 0 || !strings.Contains(r.Stdout, "0 lost, 0 late, 0 duplicated, 0 corrupted, ") {
				t.Errorf("got exit code %d, want 0 without losses:\n%s%s", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
	r := end(t, p)
	if server[1] == "ping" && (r.Code != 0 || !strings.Contains(r.Stdout, " 0 failed; 0 ignored")) {
		t.Errorf("got exit code %d of the server, want 0 without failures:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}
