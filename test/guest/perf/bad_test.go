//go:build guest

package perf_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

// TestBad causes each failure that is possible between two peers. The remaining one
// must report it in one message and end, and the server must continue with other
// clients.
func TestBad(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:    []string{"rdma"},
		Programs: []guest.Program{guest.Ibkit},
	})
	server := serve(t, g, "--max-memory", "1T")
	for _, c := range []struct {
		name string
		bad  func(*testing.T, *guest.Guest)
	}{
		{"interrupted", interrupted}, {"client killed", clientKilled}, {"client sends nonsense", badClients}, {"limits", limits},
		{"link down", linkDown}, {"device removed", removed},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.bad(t, g)
			g.Must(t, "ibkit", "perf", "10.0.0.1", "-n", "20", "--test", "write-lat")
			nothingLeft(t, g)
		})
	}
	finishServer(t, server)
	t.Run("server killed", func(t *testing.T) { killed(t, g) })
	t.Run("stopped", func(t *testing.T) {
		noticed := stopped(t, g) // runs in the background
		t.Run("server sends nonsense", func(t *testing.T) { badServers(t, g) })
		t.Run("client of a program sends nonsense", func(t *testing.T) { badPrograms(t, g) })
		noticed(t)
		nothingLeft(t, g)
	})
}

// nothingLeft waits until no verbs object of ibkit exists.
func nothingLeft(t *testing.T, g *guest.Guest) {
	t.Helper()
	const script = `for kind in cm_id qp cq mr pd; do rdma resource show $kind; done >/root/left; ! grep "comm ibkit" /root/left`
	if err := g.Await(t.Context(), "sh", "-c", script); err != nil {
		t.Error(err)
	}
}

// client starts a client with a test that lasts until something ends it, with messages in
// single packets. On a busy machine acknowledgements take longer than the default timeout,
// 67 ms.
func client(t *testing.T, g *guest.Guest, args string) *guest.Process {
	t.Helper()
	line := []string{"ibkit", "perf", "-D", "600s", "--qp-timeout", "17"}
	if !strings.Contains(args, "--size") {
		line = append(line, "--size", "1K")
	}
	return g.MustStart(t, append(line, strings.Fields(args)...)...)
}

// awaitTests waits until a number of queue pairs is connected, two for each test.
func awaitTests(t *testing.T, g *guest.Guest, queuePairs int) {
	t.Helper()
	script := fmt.Sprintf(`[ "$(rdma resource show qp | grep 'type RC' | grep -c 'state RTS')" = %d ]`, queuePairs)
	if err := g.Await(t.Context(), "sh", "-c", script); err != nil {
		t.Fatal(fmt.Errorf("wait for a test to run: %w", err))
	}
}

// awaitTraffic waits until the device has sent messages that count: after the warm-up
// of a test, which takes 200 ms or 100 messages, and more packets than the messages in
// flight have, 128 packets.
func awaitTraffic(t *testing.T, g *guest.Guest) {
	t.Helper()
	const script = `sent=/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts
await() {
	end=$(($(cat $sent) + $1))
	until [ $(cat $sent) -ge $end ]; do sleep 0.1; done
}
await 10
sleep 0.3
await 1000`
	g.Must(t, "sh", "-c", script)
}

// ends waits for the end of a program, and checks its exit code and that it prints one
// message with all of some texts.
func ends(t *testing.T, p *guest.Process, code int, want ...string) guest.Result {
	t.Helper()
	begin := time.Now()
	r, err := p.Wait(t.Context())
	checkMessage(t, r, want...)
	if err != nil || r.Code != code {
		t.Errorf("got exit code %d, %v, want %d:\n%s%s", r.Code, err, code, r.Stdout, r.Stderr)
	}
	t.Logf("%v: %s", time.Since(begin).Round(time.Second), r.Stderr)
	return r
}

// checkMessage checks the standard error of a program for texts. It must contain one message: a
// line, and possibly one with a hint.
func checkMessage(t *testing.T, r guest.Result, want ...string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(r.Stderr, text) {
			t.Errorf("got no %q in the message:\n%s%s", text, r.Stdout, r.Stderr)
		}
	}
	lines := 0
	for line := range strings.Lines(r.Stderr) {
		if !strings.HasPrefix(line, "hint: ") && !strings.HasPrefix(line, "serving ") && !strings.HasPrefix(line, "waiting ") {
			lines++
		}
	}
	if lines != 1 {
		t.Errorf("got %d messages, want 1:\n%s", lines, r.Stderr)
	}
}

// interrupted ends clients by a signal: they must report partial results as such.
func interrupted(t *testing.T, g *guest.Guest) {
	for _, test := range []string{"10.0.0.1 --test send-lat", "10.0.0.1 --test write-bw -b --json"} {
		p := client(t, g, test)
		awaitTests(t, g, 2)
		awaitTraffic(t, g)
		if err := p.Signal(unix.SIGINT); err != nil {
			t.Fatal(err)
		}
		r := ends(t, p, 4, "interrupted")
		if !strings.Contains(test, "--json") {
			if !strings.Contains(r.Stdout, "partial: the test ended early") {
				t.Errorf("got no note about a partial test:\n%s", r.Stdout)
			}
			continue
		}
		var document struct{ Results []struct{ Partial bool } }
		if err := json.Unmarshal([]byte(r.Stdout), &document); err != nil || len(document.Results) != 1 || !document.Results[0].Partial {
			t.Errorf("got %v, want a partial result:\n%s", err, r.Stdout)
		}
	}
	for _, test := range []string{"perftest --test send-lat -n 10000000", "pingpong -n 10000000"} {
		server, p := programs(t, g, test)
		awaitTraffic(t, g)
		if err := p.Signal(unix.SIGINT); err != nil {
			t.Fatal(err)
		}
		if r := ends(t, p, 4, "interrupted"); !strings.Contains(r.Stdout, "partial: the test ended early") {
			t.Errorf("got no note about a partial test:\n%s", r.Stdout)
		}
		if err := server.Signal(unix.SIGINT); err != nil { // a program of libibverbs does not notice
			t.Fatal(err)
		}
		if r, err := server.Wait(t.Context()); err != nil || r.Code != 4 && r.Code != 1 {
			t.Errorf("got exit code %d, %v, want 1 or 4:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
		}
	}
	p := client(t, g, "10.0.0.1 --size 64,128")
	awaitTests(t, g, 2)
	if err := p.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if r, err := p.Wait(t.Context()); err != nil || r.Code != 4 && r.Code != 1 { // counting may not have started
		t.Errorf("got exit code %d, %v, want 1 or 4:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
}

// clientKilled kills clients.
func clientKilled(t *testing.T, g *guest.Guest) {
	for _, test := range []string{"10.0.0.1 --test send-bw -b", "10.0.0.1 --test read-lat"} {
		p := client(t, g, test)
		awaitTests(t, g, 2)
		if err := p.Signal(unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		awaitTests(t, g, 0)
	}
}

// killed kills the server during a test: the client must report it, with partial
// results.
func killed(t *testing.T, g *guest.Guest) {
	for _, test := range []string{"send-lat", "send-bw", "read-bw --events"} {
		server := serve(t, g)
		p := client(t, g, "10.0.0.1 --test "+test)
		awaitTests(t, g, 2)
		awaitTraffic(t, g)
		if err := server.Signal(unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		r := ends(t, p, 1, "the peer closed the connection")
		if !strings.Contains(r.Stdout, "partial: the test ended early") {
			t.Errorf("got no note about a partial test:\n%s", r.Stdout)
		}
		nothingLeft(t, g)
	}
	server := serve(t, g)
	p := client(t, g, "10.0.0.1 --test write-lat")
	awaitTests(t, g, 2)
	finishServer(t, server)
	ends(t, p, 1, "server: ", "interrupt signal received")
}

// stopped stops one peer during a test. The other one waits until its stall timeout.
// stopped returns a function that checks the results.
func stopped(t *testing.T, g *guest.Guest) (noticed func(*testing.T)) {
	t.Helper()
	const other = "10.0.0.1:18600"
	toStop, server := serve(t, g), serve(t, g, "--bind", other, "--idle", "3s")
	var clients []*guest.Process
	for _, test := range []string{"send-lat --events", "send-bw --events", "read-lat", "write-bw -b --events"} {
		clients = append(clients, client(t, g, "10.0.0.1 --test "+test))
	}
	left := client(t, g, other+" --test send-bw --events")
	awaitTests(t, g, 10)
	// Other peers never send anything.
	for i, flags := range []string{"", "--peer perftest", "--peer pingpong"} {
		tcp := uint16(18601 + i)
		g.MustStart(t, "sh", "-c", fmt.Sprintf("sleep 600 | nc -l -p %d", tcp))
		if err := g.AwaitTCP(t.Context(), tcp); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, g.MustStart(t, append([]string{"ibkit", "perf", fmt.Sprintf("10.0.0.1:%d", tcp)}, strings.Fields(flags)...)...))
	}
	awaitTraffic(t, g)
	for _, p := range []*guest.Process{toStop, left} {
		if err := p.Signal(unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	return func(t *testing.T) {
		if err := server.AwaitOutput(t.Context(), "the peer does not respond"); err != nil {
			t.Error(err)
		}
		g.Must(t, "ibkit", "perf", other, "-n", "20", "--test", "write-lat")
		for _, p := range clients {
			if r := ends(t, p, 1, "the peer"); r.Elapsed > 2*time.Minute {
				t.Errorf("got %v until the client noticed, want less than 2 minutes", r.Elapsed)
			}
		}
		for _, p := range []*guest.Process{toStop, left} {
			if err := p.Signal(unix.SIGCONT); err != nil {
				t.Fatal(err)
			}
		}
		ends(t, left, 1)
		for _, s := range []*guest.Process{toStop, server} {
			finishServer(t, s)
		}
	}
}

// linkDown takes the link down during a test: shortly, so that retries succeed, and for
// longer.
func linkDown(t *testing.T, g *guest.Guest) {
	const flap = "ip link set dummy0 down; sleep 0.1; ip link set dummy0 up; ip -6 addr add fe80::77/64 dev dummy0 nodad; ip addr replace 10.0.0.1/24 dev dummy0"
	p := g.MustStart(t, "ibkit", "perf", "127.0.0.1", "--test", "write-bw", "-D", "4s", "--qp-timeout", "18")
	awaitTests(t, g, 2)
	g.Must(t, "sh", "-c", flap)
	if r, err := p.Wait(t.Context()); err != nil || r.Code > 1 {
		t.Errorf("got exit code %d, %v, want 0 or 1:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	awaitGIDs(t, g)
	p = client(t, g, "127.0.0.1 --test send-lat")
	awaitTests(t, g, 2)
	g.Must(t, "ip", "link", "set", "dummy0", "down")
	if r, err := p.Wait(t.Context()); err != nil || r.Code != 1 || !strings.Contains(r.Stderr, "port 1 of rxe0 went down") {
		t.Errorf("got exit code %d, %v, want 1:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	g.Must(t, "sh", "-c", flap)
	awaitGIDs(t, g)
}

// removed removes the device during tests.
func removed(t *testing.T, g *guest.Guest) {
	for _, test := range []string{"write-lat", "read-bw"} {
		t.Run(test, func(t *testing.T) {
			p := client(t, g, "127.0.0.1 --test "+test)
			awaitTests(t, g, 2)
			g.Must(t, "rdma", "link", "delete", "rxe0")
			if r, err := p.Wait(t.Context()); err != nil || r.Code != 1 || !strings.Contains(r.Stderr, "use rxe0: device removed") {
				t.Errorf("%s: got exit code %d, %v, want 1:\n%s%s", test, r.Code, err, r.Stdout, r.Stderr)
			}
			g.Must(t, "rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "dummy0")
			awaitGIDs(t, g)
		})
	}
	for _, start := range []func() (server, client *guest.Process){
		func() (server, client *guest.Process) { return programs(t, g, "perftest --test write-bw -D 60s") },
		func() (server, client *guest.Process) {
			server = g.MustStart(t, "ibkit", "ib_read_lat", "-D", "60")
			if err := g.AwaitTCP(t.Context(), 18515); err != nil {
				t.Fatal(err)
			}
			client = g.MustStart(t, "ibkit", "ib_read_lat", "-D", "60", "10.0.0.1")
			awaitTests(t, g, 2)
			return server, client
		},
	} {
		server, p := start()
		g.Must(t, "rdma", "link", "delete", "rxe0")
		for _, side := range []*guest.Process{server, p} {
			if r, err := side.Wait(t.Context()); err != nil || r.Code != 1 || !strings.Contains(r.Stderr, "device removed") && !strings.Contains(r.Stderr, "the peer closed the connection") {
				t.Errorf("got exit code %d, %v, want 1:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
			}
		}
		g.Must(t, "rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "dummy0")
		awaitGIDs(t, g)
	}
}

// programs starts server and client of a test with the protocol of another program, and
// returns when the test runs.
func programs(t *testing.T, g *guest.Guest, test string) (server, client *guest.Process) {
	t.Helper()
	args := append([]string{"--peer"}, strings.Fields(test)...)
	server = g.MustStart(t, append([]string{"ibkit", "perf", "--serve"}, args...)...)
	if err := server.AwaitOutput(t.Context(), "waiting for a client of"); err != nil {
		t.Fatal(err)
	}
	client = g.MustStart(t, append([]string{"ibkit", "perf", "10.0.0.1"}, args...)...)
	awaitTests(t, g, 2)
	return server, client
}

// awaitGIDs waits for the GIDs of the device.
func awaitGIDs(t *testing.T, g *guest.Guest) {
	t.Helper()
	if err := g.Await(t.Context(), "sh", "-c", "grep -q ffff: /sys/class/infiniband/rxe0/ports/1/gids/*"); err != nil {
		t.Fatal(err)
	}
}
