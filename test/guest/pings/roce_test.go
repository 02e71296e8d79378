//go:build guest

package pings_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

// TestRoCE pings another host over Soft-RoCE by all kinds of addresses, until that host's
// link goes down.
func TestRoCE(t *testing.T) {
	t.Parallel()
	a, b, gid, ip := rocePair(t)
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"-f -c 50 GID", 0, "50 sent, 50 received, 0 lost, "},
		{"-f -c 50 --payload-size 128 ip:GID%NETDEV", 0, "50 sent, 50 received, 0 lost, "},
		{"-f -c 50 --payload-size 128 ::ffff:ADDR", 0, "50 sent, 50 received, 0 lost, "},
		{"-f -c 50 ADDR", 0, "50 sent, 50 received, 0 lost, "},
		{"-c 10 -i 1ms -C rxe0 ADDR GID", 0, "20 sent, 20 received, 0 lost, "},
		{"-c 1 --json --via vendor ADDR", 0, `"gid":"::ffff:ADDR"`},
		{"-c 1 -t 100 --oui 7 ADDR", 3, "1 sent, 0 received, 1 lost"},
		{"-c 1 -t 100 --oui 7 ADDR", 3, "hint: a ping server has to run on the target: ibkit ping --serve"},
		{"-c 1 -t 1000 --oui 7 GID", 3, "hint: a ping server has to run on the target: ibkit ping --serve"}, // the kernel refuses
		{"-c 1 --via sma GID", 2, "has no subnet management"},
		{"-c 1 --via pma ADDR", 2, "reached by IPv4 addresses"},
		{"-c 1 ADDR 7", 4, "find path to 7: "},
		{"-c 1 192.0.2.77", 1, "find path to 192.0.2.77"},
	} {
		t.Run(test.args, func(t *testing.T) {
			put := strings.NewReplacer("GID", gid, "ADDR", ip, "NETDEV", b.Ports[0].Netdev)
			r := b.MustRun(t, strings.Fields("ibkit ping "+put.Replace(test.args))...)
			if out := r.Stdout + r.Stderr; r.Code != test.code || !strings.Contains(out, put.Replace(test.want)) {
				t.Errorf("got exit code %d, want %d:\n%s", r.Code, test.code, out)
			}
		})
	}
	t.Run("addresses", func(t *testing.T) { otherHostsAddresses(t, b, a) })
	t.Run("mesh", func(t *testing.T) { standingProbe(t, a, b) })
	goDown(t, b, a, []string{gid, ip}, "lost\n")
}

// TestTwoRails pings addresses on two networks at the same time, each through the device
// in that network.
func TestTwoRails(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0"}, {Name: "rxe1"}},
		Modules:  []string{"ib_umad"},
		Programs: []guest.Program{guest.Ibkit},
	})
	server := g.MustStart(t, "ibkit", "ping", "--serve")
	if err := server.AwaitOutput(t.Context(), "rxe1/1 (Ethernet)"); err != nil {
		t.Fatal(err)
	}
	first, second := g.Ports[0].Addr.String(), g.Ports[1].Addr.String()
	awaitPing(t, g, first)
	awaitPing(t, g, second)
	sent := func(device string) string {
		return g.Must(t, "cat", "/sys/class/infiniband/"+device+"/ports/1/hw_counters/sent_pkts")
	}
	before := []string{sent("rxe0"), sent("rxe1")}
	r := g.MustRun(t, "ibkit", "ping", "-c", "20", "-i", "5ms", "-q", second, first)
	for _, want := range []string{"\n" + second + " +vendor +20 +20 +0%", "\n" + first + " +vendor +20 +20 +0%", "40 sent, 40 received, 0 lost"} {
		if !regexp.MustCompile(want).MatchString(r.Stdout) {
			t.Errorf("got %s%s, want %s", r.Stdout, r.Stderr, want)
		}
	}
	for i, device := range []string{"rxe0", "rxe1"} {
		if sent(device) == before[i] {
			t.Errorf("got no packet sent by %s, want those to its network", device)
		}
	}
	// Addresses without a path do not stop the others, and each has a separate cause.
	r = g.MustRun(t, "ibkit", "ping", "-c", "1", "-q", first, "192.0.2.7", "fe80::7", "198.51.100.7", "none")
	for _, want := range []string{
		"ping: find path to 192.0.2.7: no RoCE port of this host leads there", "ping: find path to 198.51.100.7: no RoCE port",
		"ping: find path to fe80::7: several ports lead there", "ping: find path to none: ",
	} {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("got no %q", want)
		}
	}
	if r.Code != 4 || !strings.Contains(r.Stdout, "1 sent, 1 received") || strings.Count(r.Stderr, "find path") != 4 || t.Failed() {
		t.Errorf("got exit code %d, want 4:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}

// TestRoCEUnplugged takes down the link on the pinging host.
func TestRoCEUnplugged(t *testing.T) {
	t.Parallel()
	_, b, gid, ip := rocePair(t)
	goDown(t, b, b, []string{gid, ip}, "unreachable: ")
}

// rocePair boots two hosts. The first host answers pings at a GID and an IP address.
func rocePair(t *testing.T) (a, b *guest.Guest, gid, ip string) {
	t.Helper()
	spec := guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Wire}},
		Modules:  []string{"ib_umad"},
		Tools:    []string{"ip"},
		Programs: []guest.Program{guest.Ibkit},
	}
	a, b = guest.NewPair(t, spec, spec)
	server := a.MustStart(t, "ibkit", "ping", "--serve")
	if err := server.AwaitOutput(t.Context(), "serving pings at rxe0/1 (Ethernet)"); err != nil {
		t.Fatal(err)
	}
	ip = a.Ports[0].Addr.String()
	gid = strings.TrimSpace(a.Must(t, "cat", "/sys/class/infiniband/rxe0/ports/1/gids/0"))
	for _, address := range []string{gid, ip} {
		awaitPing(t, b, address)
	}
	return a, b, gid, ip
}

// awaitPing waits until an address answers: the kernel has to resolve it first.
func awaitPing(t *testing.T, from *guest.Guest, address string) {
	t.Helper()
	line := fmt.Sprintf("ibkit ping -q -c 1 -t 500 --via vendor %s | grep -q ' 0%% loss'", address)
	if err := from.Await(t.Context(), "sh", "-c", line); err != nil {
		t.Fatal(err)
	}
}

// sums matches a summary with replies and losses.
var sums = regexp.MustCompile(`\d+ sent, [1-9]\d* received, .*, [\d.]*[1-9][\d.]*% loss in`)

// goDown takes a link down while a guest pings addresses, and checks the probe outcomes.
func goDown(t *testing.T, from, g *guest.Guest, addresses []string, outcome string) {
	var running []*guest.Process
	for _, address := range addresses {
		awaitPing(t, from, address)
		p := from.MustStart(t, "ibkit", "ping", "-c", "0", "-i", "20ms", "-t", "200", address)
		if err := p.AwaitOutput(t.Context(), " time="); err != nil {
			t.Fatal(err)
		}
		running = append(running, p)
	}
	netdev := g.Ports[0].Netdev
	g.Must(t, "ip", "link", "set", netdev, "down")
	defer func() { g.Must(t, "ip", "link", "set", netdev, "up") }()
	for i, p := range running {
		if err := p.AwaitOutput(t.Context(), outcome); err != nil {
			t.Fatal(err)
		}
		if err := p.Signal(unix.SIGINT); err != nil {
			t.Fatal(err)
		}
		r, err := p.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Code != 3 || !sums.MatchString(r.Stdout) {
			t.Errorf("%s: got exit code %d\n%s%s", addresses[i], r.Code, r.Stdout, r.Stderr)
		}
	}
}
