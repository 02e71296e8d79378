//go:build oracle

package oracle

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// flood sends pings, which must all be answered.
func flood(t *testing.T, s *ibsimtest.Sim, from, lid string) {
	t.Helper()
	r := s.MustRunC(t, from, "ibping", "-f", "-c", "100", lid)
	if !strings.Contains(r.Stdout, "100 packets transmitted, 100 received, 0% packet loss") {
		t.Errorf("%s%s", r.Stdout, r.Stderr)
	}
}

// TestServedPing connects two C programs through a served fabric. The fabric's agents do
// not take part.
func TestServedPing(t *testing.T) {
	s := serveLive(t, "demo")
	const server, client = "node05", "node07"
	lid := lidOf(t, s, server)
	s.NewPingServer(t, server)
	flood(t, s, client, lid)
}

// TestServedAgentPing pings a node that answers through its own agent.
func TestServedAgentPing(t *testing.T) {
	s := serveLive(t, "--ping", "node05", "demo")
	lid := lidOf(t, s, "node05")
	flood(t, s, "node07", lid)
	if r := s.MustRunC(t, "node07", "ibping", "-f", "-c", "1", lid); !strings.Contains(r.Stdout, "--- node05 (Lid "+lid+") ibping statistics ---") {
		t.Errorf("%s%s", r.Stdout, r.Stderr)
	}
	if r := s.MustRunC(t, "node07", "ibping", "-f", "-c", "1", "-t", "100", lidOf(t, s, "node06")); !strings.Contains(r.Stdout, "1 packets transmitted, 0 received") {
		t.Errorf("a node without a server answers: %s%s", r.Stdout, r.Stderr)
	}
}
