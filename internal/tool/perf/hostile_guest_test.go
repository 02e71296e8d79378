//go:build inguest

package perf

import (
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/verbs"
)

// TestGuestHostile runs clients that violate the protocol after the server has prepared
// a test. Each must receive the reason, and the server must continue.
func TestGuestHostile(t *testing.T) {
	server := startServer(t, func(o *ServeOptions) { o.Idle, o.MaxTime = time.Second, 3*time.Second })
	gid := port.GID{Addr: netip.MustParseAddr("::ffff:10.0.0.1"), Type: verbs.GIDTypeRoCEv2}
	test := NewTest(Write, Bandwidth, RC, 64)
	test.Verify = true
	good := func(p *prepared) *connect {
		return &connect{GID: gid, MTU: 1024, MaxDestRdAtomic: 1, QueuePairs: []endpoint.Address{{QPN: p.QueuePairs[0].QPN, RKey: 1}}}
	}
	for name, c := range map[string]struct {
		change func(*connect)
		then   []message
		want   string // in the answer
	}{
		"queue pairs":   {func(c *connect) { c.QueuePairs = nil }, nil, "connect 1 queue pairs: the peer has 0"},
		"MTU":           {func(c *connect) { c.MTU = 77 }, nil, "MTU 77"},
		"larger MTU":    {func(c *connect) { c.MTU = 4096 }, nil, "MTU 4096"},
		"no GID":        {func(c *connect) { c.GID = port.GID{} }, nil, "invalid message"},
		"another GID":   {func(c *connect) { c.GID.Addr = netip.MustParseAddr("::ffff:10.0.0.9") }, nil, "invalid message"},
		"numbers":       {func(c *connect) { c.QueuePairs[0].QPN, c.QueuePairs[0].PSN = 1<<32-1, 1<<32-1 }, []message{{Finish: &finish{}}}, "invalid message"},
		"nothing sent":  {nil, []message{{Finish: &finish{}}}, "invalid message"},
		"never sent":    {nil, []message{{Finish: &finish{Sent: []uint64{1 << 63}}}}, "payload is corrupt"},
		"second test":   {nil, []message{{Prepare: &request{Test: test, GIDs: []port.GID{gid}}}}, "invalid message"},
		"silence":       {func(c *connect) { *c = connect{} }, nil, "the peer does not respond"},
		"later silence": {nil, nil, "the peer does not respond"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", server)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := exchange(t, conn, message{Hello: &host.Identity{}}, message{Prepare: &request{Test: test, GIDs: []port.GID{gid}}})
			if err != nil || answer.Prepared == nil {
				t.Fatalf("%s: prepare: got %+v, %v", name, answer, err)
			}
			m := good(answer.Prepared)
			if c.change != nil {
				c.change(m)
			}
			if m.MTU != 0 {
				answer, err = exchange(t, conn, message{Connect: m})
			}
			for _, next := range c.then {
				if err == nil && answer.Started != nil {
					answer, err = exchange(t, conn, next)
				}
			}
			// Skip the server's keepalive messages.
			for err == nil && answer.Failure == "" {
				answer, err = readMessage(conn)
			}
			if !strings.Contains(answer.Failure, c.want) {
				t.Errorf("%s: got failure %q, %v, want %q", name, answer.Failure, err, c.want)
			}
			conn.Close()
		})
	}
	// All queue pairs are destroyed, and the next test runs.
	for end := time.Now().Add(time.Minute); ; {
		out, err := exec.Command("rdma", "resource", "show", "qp").Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(out), "type RC") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("got queue pairs, want none:\n%s", out)
		}
	}
	if _, err := Run(t.Context(), Options{Server: server, Tests: []Test{test}, Identity: host.NewIdentity("client"), GIDIndex: -1}); err != nil {
		t.Error(err)
	}
	// The server ends a test that takes too long.
	test.Iterations = 1 << 40
	_, err := Run(t.Context(), Options{Server: server, Tests: []Test{test}, Identity: host.NewIdentity("client"), GIDIndex: -1})
	if err == nil || !strings.Contains(err.Error(), "server: the test exceeds the server's max-time of 3s") {
		t.Errorf("long test: got %v, want a failure by max-time", err)
	}
}
