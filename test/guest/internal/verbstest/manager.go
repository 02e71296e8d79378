//go:build guest

package verbstest

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
)

// CheckManager connects queue pairs of a RoCE adapter with the connection manager: Debian's
// programs on the C library at both ends, at one end, and ibkit at both; cm; and perf with
// verified payloads.
func CheckManager(t *testing.T, a Adapter) {
	a.CM = true
	a.Tools = append(a.Tools, "rdma", "rdma_client", "rdma_server", "ucmatose")
	g := Boot(t, a)
	peers.Managed(t, g, a.Address, testenv.Cases([]peers.Pair{
		{Server: "rdma_server", Client: "rdma_client -s HOST"},
	}, peers.Pair{Server: "ucmatose -c 3 -C 2", Client: "ucmatose -s HOST -c 3 -C 2"}), peers.Identical)
	Connect(t, g, a)
	CheckKernel(t, g)
}

// Connect runs ibkit cm and perf with themselves on an adapter.
func Connect(t *testing.T, g *guest.Guest, a Adapter) {
	t.Helper()
	t.Run("cm", func(t *testing.T) { cm(t, g, a) })
	others := []string{"--cm --test send-bw,read-bw -s 4K --qps 2", "--cm --test send-lat --events -s 1K"}
	if !a.IWARP { // which has no datagrams
		others = append(others, "--cm --transport ud --test send-lat -s 1K")
	}
	t.Run("perf", func(t *testing.T) {
		peers.Verified(t, g, peers.Options{Address: a.Address, Count: "50"}, testenv.Cases([]string{"--cm --test send-lat,write-lat,read-lat -s 100"}, others...))
	})
}

// cm runs ibkit cm.
func cm(t *testing.T, g *guest.Guest, a Adapter) {
	server := g.MustStart(t, "ibkit", "cm", "--serve")
	if err := server.AwaitOutput(t.Context(), "accepting connections"); err != nil {
		t.Fatal(err)
	}
	type step struct {
		args string
		code int
		want string
	}
	for _, c := range testenv.Cases([]step{
		{a.Address, 0, a.Device + "/1"},
		{"--count 50 --parallel 4 " + a.Address, 0, "50 of 50 connections established"},
	}, step{a.Address + ":5", 3, "no listener"}) {
		r := g.MustRun(t, append([]string{"ibkit", "cm"}, strings.Fields(c.args)...)...)
		if r.Code != c.code || !strings.Contains(r.Stdout, c.want) {
			t.Errorf("%s: got exit code %d, want %d and %q\n%s%s", c.args, r.Code, c.code, c.want, r.Stdout, r.Stderr)
		}
	}
	_ = server.Signal(unix.SIGINT) // it may have ended
	peers.Finish(t, server)
}
