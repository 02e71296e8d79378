//go:build inguest

package perf

import (
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/perf/endpoint"
	"github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
)

// TestGuestHostile has clients that go wrong once the server has all ready for a
// test: each hears why, where it still listens, and the server is as before.
func TestGuestHostile(t *testing.T) {
	server := serving(t, func(o *ServeOptions) { o.Idle, o.MaxTime = time.Second, 3*time.Second })
	gid := port.GID{Addr: netip.MustParseAddr("::ffff:10.0.0.1"), Type: verbs.GIDTypeRoCEv2}
	test := NewTest(Write, Bandwidth, RC, 64)
	test.Verify = true
	good := func(p *prepared) *connect {
		return &connect{GID: gid, MTU: 1024, ReadsIn: 1, QueuePairs: []endpoint.Address{{QPN: p.QueuePairs[0].QPN, RKey: 1}}}
	}
	for name, c := range map[string]struct {
		change func(*connect)
		then   []message
		want   string // of the answer
	}{
		"queue pairs":       {func(c *connect) { c.QueuePairs = nil }, nil, "connect 1 queue pairs: the other side has 0"},
		"MTU":               {func(c *connect) { c.MTU = 77 }, nil, "an MTU of 77"},
		"larger MTU":        {func(c *connect) { c.MTU = 4096 }, nil, "an MTU of 4096"},
		"no GID":            {func(c *connect) { c.GID = port.GID{} }, nil, "makes no sense"},
		"another GID":       {func(c *connect) { c.GID.Addr = netip.MustParseAddr("::ffff:10.0.0.9") }, nil, "makes no sense"},
		"numbers":           {func(c *connect) { c.QueuePairs[0].QPN, c.QueuePairs[0].PSN = 1<<32-1, 1<<32-1 }, []message{{Finish: &finish{}}}, "makes no sense"},
		"nothing sent":      {nil, []message{{Finish: &finish{}}}, "makes no sense"},
		"never sent":        {nil, []message{{Finish: &finish{Sent: []uint64{1 << 63}}}}, "payload is corrupt"},
		"second test":       {nil, []message{{Prepare: &request{Test: test, GIDs: []port.GID{gid}}}}, "makes no sense"},
		"silence":           {func(c *connect) { *c = connect{} }, nil, "the other side says nothing"},
		"silence from then": {nil, nil, "the other side says nothing"},
	} {
		conn, err := net.Dial("tcp", server)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := ask(t, conn, message{Hello: &Identity{}}, message{Prepare: &request{Test: test, GIDs: []port.GID{gid}}})
		if err != nil || answer.Prepared == nil {
			t.Fatalf("%s: %+v, %v", name, answer, err)
		}
		m := good(answer.Prepared)
		if c.change != nil {
			c.change(m)
		}
		if m.MTU != 0 {
			answer, err = ask(t, conn, message{Connect: m})
		}
		for _, next := range c.then {
			if err == nil && answer.Started != nil {
				answer, err = ask(t, conn, next)
			}
		}
		// Meanwhile the server says that it is alive.
		for err == nil && answer.Failure == "" {
			answer, err = readMessage(conn)
		}
		if !strings.Contains(answer.Failure, c.want) {
			t.Errorf("%s: %q, %v", name, answer.Failure, err)
		}
		conn.Close()
	}
	// Nothing is left, and the next is served.
	for end := time.Now().Add(20 * time.Second); ; {
		out, err := exec.Command("rdma", "resource", "show", "qp").Output()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(out), "type RC") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("queue pairs are left:\n%s", out)
		}
	}
	if _, err := Run(t.Context(), Options{Server: server, Tests: []Test{test}, Identity: NewIdentity("client"), GIDIndex: -1}); err != nil {
		t.Error(err)
	}
	// A test may take as long as the server says.
	test.Iterations = 1 << 40
	_, err := Run(t.Context(), Options{Server: server, Tests: []Test{test}, Identity: NewIdentity("client"), GIDIndex: -1})
	if err == nil || !strings.Contains(err.Error(), "server: the test took longer than this server allows: 3s (--max-time)") {
		t.Errorf("a long test: %v", err)
	}
}
