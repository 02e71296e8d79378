//go:build guest

package pings_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// standingProbe pings a server over several flow labels, by a list of hosts with their leaf
// switches, and judges the window.
func standingProbe(t *testing.T, server, client *guest.Guest) {
	to, from := server.Ports[0].Addr.String(), client.Ports[0].Addr.String()
	client.Must(t, "sh", "-c", fmt.Sprintf("printf '%s leaf1\\n%s leaf2\\n' >/tmp/hosts", to, from))
	r := client.MustRun(t, "ibkit", "ping", "--mesh", "--hosts-file", "/tmp/hosts", "--paths", "4", "--rate", "80", "-w", "1s", "-t", "20000", "--results", "/tmp/pings")
	for _, want := range []string{"cover 1 of 1 pair of leaf switches", from + " pings 4 targets, each every 50ms", "  1 peer  ", "  0 lost\n"} {
		if out := r.Stderr + r.Stdout; r.Code != 0 || !strings.Contains(out, want) {
			t.Errorf("got exit code %d, %s, want %q", r.Code, out, want)
		}
	}
	window := client.Must(t, "cat", "/tmp/pings")
	for _, want := range []string{`"source":"` + from + `","leaf":"leaf2"`, `"class":"other-leaf","peers":4,`, `"dst":"` + to + `"`} {
		if !strings.Contains(window, want) {
			t.Errorf("got %s, want %s", window, want)
		}
	}
	if r := client.MustRun(t, "ibkit", "mesh", "analyze", "/tmp/pings", "--hosts-only"); r.Code != 0 || !strings.Contains(r.Stdout, "no findings") {
		t.Errorf("got exit code %d, %s%s, want no findings", r.Code, r.Stdout, r.Stderr)
	}
}
