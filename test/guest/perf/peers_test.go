//go:build guest

package perf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
)

// peerTools are the Debian programs for ibkit perf --peer.
var peerTools = []string{"ib_send_lat", "ib_write_bw", "ib_read_bw", "ib_write_lat", "ibv_rc_pingpong", "ibv_srq_pingpong"}

// TestPeer runs the command with Debian programs as peers, each as client and as
// server.
func TestPeer(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:    peerTools,
		Programs: []guest.Program{guest.Ibkit},
	})
	for i, c := range []struct{ theirs, ours, want string }{
		{"ib_send_lat -d rxe0 -C -s 64 -n 200", "--peer perftest --test send-lat -s 64 -n 200", "P99.99"},
		{"ib_write_bw -d rxe0 -F -b -s 4096 -n 300", "--peer perftest --test write-bw -b -s 4K -n 300", "BACK"},
		{"ib_read_bw -d rxe0 -F -D 3 -f 1 -s 1024", "--peer perftest --test read-bw -D 3s --margin 1s -s 1K", "PEAK"},
		{"ibv_rc_pingpong -d rxe0 -g 1 -s 4096 -n 200", "--peer pingpong -n 200 --verify", "verified"},
		{"ibv_srq_pingpong -d rxe0 -g 1 -q 4 -s 64 -n 300", "--peer pingpong --srq 4 -s 64 -n 300", "P99.99"},
	} {
		t.Run(c.theirs, func(t *testing.T) {
			tcp := 18600 + 2*i
			theirs := append(strings.Fields(c.theirs), "-p", fmt.Sprint(tcp))
			server := g.MustStart(t, theirs...)
			listens := fmt.Sprintf("grep -q ':%04X .* 0A ' /proc/net/tcp /proc/net/tcp6", tcp)
			if err := g.Await(t.Context(), "sh", "-c", listens); err != nil {
				t.Fatal(err)
			}
			out := g.Must(t, append([]string{"ibkit", "perf", fmt.Sprintf("127.0.0.1:%d", tcp)}, strings.Fields(c.ours)...)...)
			if !strings.Contains(out, c.want) || !strings.Contains(out, "server: "+theirs[0]+", Ethernet, GID ::ffff:10.0.0.1") {
				t.Errorf("got no %q or no port of the server:\n%s", c.want, out)
			}
			finish(t, server)

			serving := g.MustStart(t, append([]string{"ibkit", "perf", "--serve", "--bind", fmt.Sprintf(":%d", tcp+1), "--json"}, strings.Fields(c.ours)...)...)
			if err := serving.AwaitOutput(t.Context(), "waiting for a client of"); err != nil {
				t.Fatal(err)
			}
			theirs[len(theirs)-1] = fmt.Sprint(tcp + 1)
			g.Must(t, append(theirs, "127.0.0.1")...)
			out = finish(t, serving)
			testenv.CheckSchema(t, "../../../schema/perf.json", out)
		})
	}
}

// finish waits for a program, which must succeed, and returns the output.
func finish(t *testing.T, p *guest.Process) string {
	t.Helper()
	r, err := p.Wait(t.Context())
	if err != nil || r.Code != 0 {
		t.Fatalf("got exit code %d, %v, want 0:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	return r.Stdout
}
