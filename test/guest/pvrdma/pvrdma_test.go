//go:build guest

package pvrdma_test

import (
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// programs are Debian programs that use libvmw_pvrdma.
var programs = []string{
	"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_bw", "ib_atomic_lat",
	"ibv_rc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "ibv_devinfo",
}

// address belongs to the network device below the adapter. Its GID has index 1.
const address = "10.7.0.1"

// boot starts a guest with a single adapter.
func boot(t *testing.T) *guest.Guest {
	return verbstest.Boot(t, verbstest.Adapter{ABI: "pvrdma", Device: "vmw_pvrdma0", Address: address, Tools: programs})
}

// TestPeers runs ibkit perf with programs on libvmw_pvrdma, each as client and as server.
func TestPeers(t *testing.T) {
	t.Parallel()
	g := boot(t)
	peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: []string{"-F", "-x", "1"}}, testenv.Cases([]peers.Test{
		{"ib_send_lat -c UD -s 64", "--peer perftest --test send-lat --transport ud -s 64"},
		{"ib_write_bw -b -q 3 -s 512", "--peer perftest --test write-bw -b --qps 3 -s 512"},
		{"ib_read_bw -s 65536", "--peer perftest --test read-bw -s 64K"},
		{"ib_atomic_lat", "--peer perftest --test fetch-add-lat"},
	}, []peers.Test{
		{"ib_send_lat -s 64", "--peer perftest --test send-lat -s 64"},
		{"ib_send_bw -s 4096", "--peer perftest --test send-bw -s 4K"},
		{"ib_write_lat -s 2", "--peer perftest --test write-lat -s 2"},
	}...))
	peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: []string{"-g", "1"}}, testenv.Cases([]peers.Test{
		{"ibv_rc_pingpong -e -s 64", "--peer pingpong --events -s 64"},
		{"ibv_srq_pingpong -q 3 -s 256", "--peer pingpong --srq 3 -s 256"},
	}, []peers.Test{
		{"ibv_rc_pingpong -c -s 4096", "--peer pingpong --verify"},
		{"ibv_ud_pingpong -s 512", "--peer pingpong --transport ud -s 512"},
	}...))
	verbstest.CheckKernel(t, g)
}

// TestVerified runs the ibkit perf tests with verified payloads, and compares ibv_devinfo
// with Debian's.
func TestVerified(t *testing.T) {
	t.Parallel()
	g := boot(t)
	peers.Verified(t, g, peers.Options{Address: address, Count: "10"}, []string{
		"--test all -s 64", "--test send-lat,write-bw --events -s 1K", "--test send-lat,send-bw --transport ud -s 512", "--test write-bw -b --qps 4 -s 64K",
	})
	if out := g.Must(t, "ibkit", "ibv_devinfo", "-v"); out != g.Must(t, "ibv_devinfo", "-v") {
		t.Errorf("ibv_devinfo -v differs from Debian's:\n%s", out)
	}
	verbstest.CheckKernel(t, g)
}
