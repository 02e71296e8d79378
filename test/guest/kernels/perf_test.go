//go:build guest

package kernels_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
)

// perf runs ibkit perf with each perftest program and pingpong, as client and as server.
func perf(t *testing.T, g *guest.Guest) {
	address := g.Ports[0].Addr.String()
	peers.Run(t, g, peers.Options{Address: address, Count: "100", Common: []string{"-F", "-x", "1"}}, []peers.Test{
		{"ib_send_lat -c UD -s 64", "--peer perftest --test send-lat --transport ud -s 64"},
		{"ib_send_bw -c UC -s 4096", "--peer perftest --test send-bw --transport uc -s 4K"},
		{"ib_write_lat -s 2", "--peer perftest --test write-lat -s 2"},
		{"ib_write_bw -b -q 3 -s 512", "--peer perftest --test write-bw -b --qps 3 -s 512"},
		{"ib_read_lat -s 2048", "--peer perftest --test read-lat -s 2K"},
		{"ib_read_bw -s 65536", "--peer perftest --test read-bw -s 64K"},
		{"ib_atomic_lat", "--peer perftest --test fetch-add-lat"},
		{"ib_atomic_bw -A CMP_AND_SWAP", "--peer perftest --test compare-swap-bw"},
	})
	peers.Run(t, g, peers.Options{Address: address, Count: "100", Common: []string{"-g", "1"}}, []peers.Test{
		{"ibv_rc_pingpong -c -s 4096", "--peer pingpong --verify"},
		{"ibv_uc_pingpong -e -s 64", "--peer pingpong --transport uc --events -s 64"},
		{"ibv_ud_pingpong -s 512", "--peer pingpong --transport ud -s 512"},
		{"ibv_srq_pingpong -q 3 -s 256", "--peer pingpong --srq 3 -s 256"},
	})
}
