//go:build guest

package perf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
)

// nonsense has data from other programs and from attackers, in printf format.
var nonsense = []string{
	`\377\377\377\377`,                       // a huge length
	`GET / HTTP/1.1\r\n\r\n`,                 // another protocol
	`\000\000\000\004{{{{`,                   // no JSON
	`\000\000\000\100{"hello":{`,             // half a message
	`\000\000\000\026{"finish":{"sent":[]}}`, // wrong order
	``,
}

// nonsenseFor returns the data for a peer. Protocols other than ibkit perf's know neither
// lengths nor JSON.
func nonsenseFor(flags string) []string {
	if flags == "" {
		return nonsense
	}
	return testenv.Cases([]string{nonsense[1], ""}, nonsense[0], nonsense[2], nonsense[3], nonsense[4])
}

// badClients sends nonsense to the server.
func badClients(t *testing.T, g *guest.Guest) {
	for _, text := range nonsense {
		if r := g.MustRun(t, "sh", "-c", fmt.Sprintf("printf '%s' | timeout 120 nc 10.0.0.1 18516", text)); r.Code >= 128 {
			t.Errorf("%q: got exit code %d of nc: %s", text, r.Code, r.Stderr)
		}
	}
}

// badServers sends nonsense to clients.
func badServers(t *testing.T, g *guest.Guest) {
	tcp := uint16(18610)
	for _, flags := range []string{"", "--peer perftest --test write-bw", "--peer pingpong"} {
		for _, text := range nonsenseFor(flags) {
			tcp++
			listen := g.MustStart(t, "sh", "-c", fmt.Sprintf("printf '%s' | timeout 120 nc -l -p %d", text, tcp))
			if err := g.AwaitTCP(t.Context(), tcp); err != nil {
				t.Fatal(err)
			}
			p := g.MustStart(t, append([]string{"ibkit", "perf", fmt.Sprintf("10.0.0.1:%d", tcp)}, strings.Fields(flags)...)...)
			r := ends(t, p, 1)
			blamesPeer(t, r)
			if t.Failed() {
				t.Fatalf("%q, %s:\n%s", text, flags, r.Stderr)
			}
			if _, err := listen.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// blamesPeer checks for a message that blames the peer.
func blamesPeer(t *testing.T, r guest.Result) {
	t.Helper()
	if !strings.Contains(r.Stderr, "the peer") {
		t.Errorf("got no mention of the peer, want one:\n%s", r.Stderr)
	}
}

// badPrograms sends nonsense to servers with another program's protocol.
func badPrograms(t *testing.T, g *guest.Guest) {
	for _, flags := range []string{"--peer perftest --test write-bw", "--peer pingpong"} {
		for _, text := range nonsenseFor(flags) {
			p := g.MustStart(t, append([]string{"ibkit", "perf", "--serve"}, strings.Fields(flags)...)...)
			if err := p.AwaitOutput(t.Context(), "waiting for a client of"); err != nil {
				t.Fatal(err)
			}
			g.MustRun(t, "sh", "-c", fmt.Sprintf("printf '%s' | timeout 120 nc 10.0.0.1 18515", text))
			r := ends(t, p, 1)
			blamesPeer(t, r)
			if t.Failed() {
				t.Fatalf("%q, %s:\n%s", text, flags, r.Stderr)
			}
		}
	}
}
