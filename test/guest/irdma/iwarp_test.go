//go:build guest

package irdma_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestIWARP connects queue pairs of iWARP with the connection manager: Debian's programs in
// both roles, cm, and perf with verified payloads. The driver's own work requests are at
// the start of each send queue, three with the second generation, one with the first.
func TestIWARP(t *testing.T) {
	t.Parallel()
	for _, options := range testenv.Cases([]string{"irdma_gen=2"}, "irdma_gen=1") {
		t.Run(options, func(t *testing.T) {
			const libgcc = "/lib/x86_64-linux-gnu/libgcc_s.so.1" // rping loads it to end a thread
			a := verbstest.Adapter{
				ABI: "irdma", Device: "irdma0", Address: address, IWARP: true, Options: options, Files: map[string]string{libgcc: libgcc},
				Tools: append([]string{"rdma", "timeout", "rping", "rdma_client", "rdma_server"}, programs...),
			}
			g := verbstest.Boot(t, a)
			t.Run("rping", func(t *testing.T) {
				peers.Managed(t, g, address, []peers.Pair{{Server: "rping -s -a HOST -v -S 1000", Client: "rping -c -a HOST -C 10 -v -V -S 1000"}}, samePings)
			})
			peers.Managed(t, g, address, testenv.Cases(nil, peers.Pair{Server: "rdma_server", Client: "rdma_client -s HOST"}), peers.Identical)
			t.Run("perftest", func(t *testing.T) { measure(t, g) })
			verbstest.Connect(t, g, a)
			if testenv.AllCases() {
				t.Run("killed server", func(t *testing.T) { kill(t, g) })
			}
			verbstest.CheckKernel(t, g)
		})
	}
}

// kill ends a server without its own close. The driver closes the connections.
func kill(t *testing.T, g *guest.Guest) {
	server, client := verbstest.Post(t, g, address, "--cm", "--test", "send-lat", "--events")
	if err := server.Signal(unix.SIGKILL); err != nil {
		t.Error(err)
	}
	if _, err := server.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	r, err := client.Wait(t.Context())
	if err != nil || r.Code != 1 || !strings.Contains(r.Stderr, "the peer closed the connection") {
		t.Errorf("got exit code %d, %v and %q, want 1 and the end of the peer", r.Code, err, r.Stderr)
	}
	if left := g.Must(t, "rdma", "resource", "show", "qp"); strings.Contains(left, "pid") {
		t.Errorf("got queue pairs that are left over:\n%s", left)
	}
}

// samePings compares the pings. Debian's rping ends with 255 if it sees the end of the
// connection before its last completion.
func samePings(ours bool, got, want guest.Result) bool {
	return got.Stdout == want.Stdout && (got.Code == 0 || !ours && got.Code == 255)
}

// results is the start of a line with results of perftest, which not each end prints.
const results = "\n 1024 "

// measure runs perftest programs.
func measure(t *testing.T, g *guest.Guest) {
	var pairs []peers.Pair
	for _, line := range testenv.Cases(nil, "ib_write_bw -n 1000 -q 2", "ib_read_bw -n 100", "ib_write_lat -I 8 -n 50", "ib_read_lat -n 50", "ib_send_lat -I 8 -n 50") {
		line += " -R -F -s 1024"
		pairs = append(pairs, peers.Pair{Server: line, Client: line + " HOST"})
	}
	peers.Managed(t, g, address, pairs, func(_ bool, got, want guest.Result) bool {
		return got.Code == 0 && strings.Contains(got.Stdout, results) == strings.Contains(want.Stdout, results)
	})
}
