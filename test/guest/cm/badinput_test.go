//go:build guest

package cm_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/cm"
	"github.com/ibkit/ibkit/test/guest"
)

// interrupted are the causes of connections that fail because the peer or the link disappears.
var interrupted = []cm.Cause{
	cm.CauseNoListener, cm.CauseRefused, cm.CauseRejected, cm.CauseNoReply, cm.CauseNotEstablished, cm.CauseNoDisconnect,
	cm.CauseNoRoute, cm.CauseNoNeighbour, cm.CauseNoDevice, cm.CauseStale,
}

// checkInterrupted checks the result from a client after the peer or link has disappeared.
func checkInterrupted(t *testing.T, r guest.Result, count int) {
	t.Helper()
	var v cm.Result
	if err := json.Unmarshal([]byte(r.Stdout), &v); err != nil {
		t.Fatalf("exit code %d: %v:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	if v.Connections != count || len(v.Failed) == 0 || r.Code != 3 {
		t.Errorf("got exit code %d, %d connections, failures %+v, want 3, %d and failures", r.Code, v.Connections, v.Failed, count)
	}
	for _, f := range v.Failed {
		t.Logf("%d × %s: %s", f.Count, f.Cause, f.Error)
		if !slices.Contains(interrupted, f.Cause) {
			t.Errorf("got cause %q: %s", f.Cause, f.Error)
		}
	}
}

// noIDs checks that ibkit has left no ID and no queue pair in the kernel.
func noIDs(t *testing.T, g *guest.Guest) {
	t.Helper()
	for _, kind := range []string{"cm_id", "qp"} {
		if err := g.Await(t.Context(), "sh", "-c", "! rdma resource show "+kind+" | grep ibkit"); err != nil {
			t.Error(err)
		}
	}
}

// wait waits for the end of a process.
func wait(t *testing.T, p *guest.Process) guest.Result {
	t.Helper()
	r, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func signal(t *testing.T, p *guest.Process, s unix.Signal) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// TestFlood floods a listener. Some clients are killed.
func TestFlood(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec(guest.Dummy))
	host := g.Ports[0].Addr.String()
	server := g.MustStart(t, "ibkit", "cm", "--serve", "--max", "16")
	if err := server.AwaitOutput(t.Context(), "accepting connections"); err != nil {
		t.Fatal(err)
	}
	run(t, g, 0, "ibkit", "cm", host) // opens the device
	pid := regexp.MustCompile(`LISTEN .*pid (\d+)`).FindStringSubmatch(g.Must(t, "rdma", "resource", "show", "cm_id"))
	if pid == nil {
		t.Fatal("got no listener")
	}
	files := "ls /proc/" + pid[1] + "/fd | wc -l"
	before := strings.TrimSpace(g.Must(t, "sh", "-c", files))

	var clients []*guest.Process
	for range 3 {
		clients = append(clients, g.MustStart(t, "ibkit", "cm", "--count", fmt.Sprint(testenv.Rounds(100, 300)), "--parallel", "64", host))
	}
	killed := []*guest.Process{
		g.MustStart(t, "ibkit", "cm", "--count", "100000", "--parallel", "64", host),
		g.MustStart(t, "ucmatose", "-s", host, "-c", "200", "-C", "0"),
	}
	for _, p := range clients {
		if r := wait(t, p); r.Code != 0 && r.Code != 3 {
			t.Errorf("got exit code %d, want 0 or 3:\n%s%s", r.Code, r.Stdout, r.Stderr)
		}
	}
	for _, p := range killed {
		signal(t, p, unix.SIGKILL)
		wait(t, p)
	}
	// The server keeps serving, and all connections end.
	if err := g.Await(t.Context(), "ibkit", "cm", host); err != nil {
		t.Error(err)
	}
	if err := g.Await(t.Context(), "sh", "-c", fmt.Sprintf("test $(%s) -le %s", files, before)); err != nil {
		t.Errorf("open files of the server: got %s, want %s", g.Must(t, "sh", "-c", files), before)
	}
	if err := g.Await(t.Context(), "sh", "-c", "! rdma resource show qp | grep ibkit"); err != nil {
		t.Error(err)
	}
	signal(t, server, unix.SIGTERM)
	r := wait(t, server)
	t.Log(r.Stdout)
	if !regexp.MustCompile(`[1-9]\d* rejected`).MatchString(r.Stdout) {
		t.Errorf("got %q, want rejections", r.Stdout)
	}
	// A peer that gives up during accept is named, not the command that fails then.
	if strings.Contains(r.Stdout+r.Stderr, "invalid argument") {
		t.Errorf("got %s%s, want the events that ended requests", r.Stdout, r.Stderr)
	}
	noIDs(t, g)
}

// TestKilledServer kills the server at each connection step.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec(guest.Dummy))
	host := g.Ports[0].Addr.String()
	start := func(t *testing.T, args ...string) *guest.Process {
		t.Helper()
		p := g.MustStart(t, args...)
		if err := g.Await(t.Context(), "sh", "-c", listens); err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("connect", func(t *testing.T) {
		server := start(t, "ibkit", "cm", "--serve")
		signal(t, server, unix.SIGSTOP)
		r := g.MustRun(t, "ibkit", "cm", "--json", "--step-timeout", "1s", host)
		checkInterrupted(t, r, 1)
		waiting := g.MustStart(t, "ibkit", "cm", "--json", "--step-timeout", "60s", host)
		if err := g.Await(t.Context(), "sh", "-c", "rdma resource show qp | grep ibkit"); err != nil {
			t.Error(err)
		}
		signal(t, server, unix.SIGKILL)
		wait(t, server)
		checkInterrupted(t, wait(t, waiting), 1)
		noIDs(t, g)
	})
	t.Run("any step", func(t *testing.T) {
		for range 3 {
			server := start(t, "ibkit", "cm", "--serve")
			client := g.MustStart(t, "ibkit", "cm", "--json", "--step-timeout", "5s", "--count", "400", "--parallel", "8", host)
			if err := g.Await(t.Context(), "sh", "-c", "rdma resource show qp | grep ibkit"); err != nil {
				t.Error(err)
			}
			signal(t, server, unix.SIGKILL)
			wait(t, server)
			checkInterrupted(t, wait(t, client), 400)
			noIDs(t, g)
		}
	})
	// The clients end when the server does not.
	for _, c := range []struct{ name, server, client, running string }{
		{"ping", "rping -s", "ibkit rping -c -a HOST", "rdma resource show cm_id | grep 'ibkit.*CONNECT\\|CONNECT.*ibkit'"},
		{"messages", "ucmatose -c 20 -C 2000 -S 10000", "ibkit ucmatose -c 20 -C 2000 -S 10000 -s HOST", "rdma resource show cm_id | grep 'ibkit.*CONNECT\\|CONNECT.*ibkit'"},
		{"missing connections", "ucmatose -c 3", "ibkit ucmatose -s HOST", "rdma resource show cm_id | grep 'ibkit.*CONNECT\\|CONNECT.*ibkit'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := start(t, strings.Fields(c.server)...)
			client := g.MustStart(t, strings.Fields(strings.ReplaceAll(c.client, "HOST", host))...)
			if err := g.Await(t.Context(), "sh", "-c", c.running); err != nil {
				t.Error(err)
			}
			signal(t, server, unix.SIGKILL)
			wait(t, server)
			r := wait(t, client)
			t.Logf("exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
			noIDs(t, g)
		})
	}
}

// hangs are the steps of TestHang in package rdmacm.
var hangs = []string{"address", "route", "connect", "response", "reject", "establish", "disconnect"}

// TestKilledClient connects clients to servers that hang at each connection step, all at a
// time, and kills the clients.
func TestKilledClient(t *testing.T) {
	t.Parallel()
	s := spec(guest.Dummy)
	s.Programs = append(s.Programs, guest.Program{Package: pkg, Test: true})
	g := guest.New(t, s)
	host := g.Ports[0].Addr.String()
	for _, c := range []struct {
		name           string
		server, client []string
	}{
		{"cm", []string{"ibkit", "cm", "--serve"}, []string{"ibkit", "cm", host}},
		{"cmtime", []string{"ibkit", "cmtime"}, []string{"ibkit", "cm", host}},
		{"rping", []string{"ibkit", "rping", "-s", "-P", "-p", "7471"}, []string{"rping", "-c", "-a", host, "-p", "7471", "-C", "1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := g.MustStart(t, c.server...)
			if err := g.Await(t.Context(), "sh", "-c", listens); err != nil {
				t.Fatal(err)
			}
			var clients []*guest.Process
			for _, step := range hangs {
				p := g.MustStart(t, "env", "IBKIT_HANG="+step, "rdmacm.test", "-test.run=^TestHang$")
				if err := p.AwaitOutput(t.Context(), "hanging"); err != nil {
					t.Fatal(err)
				}
				clients = append(clients, p)
			}
			run(t, g, 0, c.client...)
			for _, p := range clients {
				signal(t, p, unix.SIGKILL)
				wait(t, p)
			}
			run(t, g, 0, c.client...)
			// Only the server's listeners are left.
			if err := g.Await(t.Context(), "sh", "-c", "! rdma resource show qp | grep ibkit && ! rdma resource show cm_id | grep -v LISTEN"); err != nil {
				t.Error(err)
			}
			signal(t, server, unix.SIGTERM)
			r := wait(t, server)
			t.Logf("exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
			noIDs(t, g)
		})
	}
}

// TestLinkDown takes the client's link down during connections. The link stays down,
// see TestLinkUp.
func TestLinkDown(t *testing.T) {
	t.Parallel()
	a, b := guest.NewPair(t, spec(guest.Wire), spec(guest.Wire))
	server := a.MustStart(t, "ibkit", "cm", "--serve")
	if err := server.AwaitOutput(t.Context(), "accepting connections"); err != nil {
		t.Fatal(err)
	}
	client := b.MustStart(t, "ibkit", "cm", "--json", "--step-timeout", "2s", "--count", "60", "--rate", "20", "--parallel", "8", a.Ports[0].Addr.String())
	if err := b.Await(t.Context(), "sh", "-c", "rdma resource show qp | grep ibkit"); err != nil {
		t.Error(err)
	}
	b.Must(t, "ip", "link", "set", b.Ports[0].Netdev, "down")
	checkInterrupted(t, wait(t, client), 60)
	noIDs(t, b)
	signal(t, server, unix.SIGTERM)
	t.Log(wait(t, server).Stdout)
	noIDs(t, a)
}

// TestLinkUp takes the link down and up while Debian's cmtime connects. Soft-RoCE queue
// pair 1 may send no packet any more then, for any program: ibkit connects if cmtime does,
// and both do after the device has been created again.
func TestLinkUp(t *testing.T) {
	t.Parallel()
	a, b := guest.NewPair(t, spec(guest.Wire), spec(guest.Wire))
	server := a.MustStart(t, "ibkit", "cm", "--serve")
	if err := server.AwaitOutput(t.Context(), "accepting connections"); err != nil {
		t.Fatal(err)
	}
	host, netdev := a.Ports[0].Addr.String(), b.Ports[0].Netdev
	b.Must(t, "cmtime", "-s", host, "-c", "3")
	client := b.MustStart(t, "sh", "-c", "while cmtime -s "+host+" -c 300; do :; done")
	awaitLine := func(command, line string) {
		t.Helper()
		if err := b.Await(t.Context(), "sh", "-c", command+" | grep '"+line+"'"); err != nil {
			t.Fatal(err)
		}
	}
	awaitLine("rdma resource show cm_id", "state CONNECT")
	b.Must(t, "ip", "link", "set", netdev, "down")
	awaitLine("rdma link", "state DOWN")
	b.Must(t, "ip", "link", "set", netdev, "up")
	awaitLine("rdma link", "state ACTIVE")
	theirs := b.MustRun(t, "timeout", "15", "cmtime", "-s", host, "-c", "3")
	ours := b.MustRun(t, "ibkit", "cm", "--step-timeout", "15s", host)
	t.Logf("cmtime: exit code %d; ibkit cm: exit code %d\n%s", theirs.Code, ours.Code, ours.Stdout)
	if theirs.Code == 0 && ours.Code != 0 {
		t.Errorf("cmtime connects, ibkit cm does not:\n%s%s", ours.Stdout, ours.Stderr)
	}
	signal(t, client, unix.SIGKILL)
	if _, err := client.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Must(t, "rdma", "link", "delete", "rxe0")
	b.Must(t, "rdma", "link", "add", "rxe0", "type", "rxe", "netdev", netdev)
	awaitLine("rdma link", "state ACTIVE")
	// The new device has GIDs some time later, and the new queue pairs have the same
	// numbers as earlier queue pairs, which the server's kernel rejects as stale until it
	// has removed its own.
	for _, client := range []string{"ibkit cm " + host, "cmtime -s " + host + " -c 3"} {
		if err := b.Await(t.Context(), strings.Fields(client)...); err != nil {
			t.Error(err)
		}
	}
	noIDs(t, b)
	signal(t, server, unix.SIGTERM)
	wait(t, server)
}
