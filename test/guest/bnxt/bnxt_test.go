//go:build guest

package bnxt_test

import (
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// programs are Debian programs that use libbnxt_re.
var programs = []string{
	"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw", "ib_atomic_lat", "ib_atomic_bw",
	"ibv_rc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "ibv_devinfo",
}

// address belongs to the network device below the adapter. Its GID has index 1.
const address = "10.7.0.1"

// A chip is an adapter generation of the module, and the release of Debian with a library for
// it.
type chip struct {
	options string
	release *debian.Release
}

// The chips: Thor, and Thor2 with static and with variable work requests. libbnxt_re 44 has no
// Thor2.
var (
	thor     = chip{"bnxt_gen=5", debian.Bookworm}
	thor2    = chip{"bnxt_gen=7", debian.Trixie}
	variable = chip{"bnxt_gen=7 bnxt_variable=1", debian.Trixie}
)

// boot starts a guest with a single adapter.
func boot(t *testing.T, c chip) *guest.Guest {
	return verbstest.Boot(t, verbstest.Adapter{
		ABI: "bnxt", Device: "bnxt_re0", ToolsFrom: c.release, Address: address, Options: c.options, Tools: programs,
	})
}

// inline are perftest's options: the adapter has up to 96 bytes of inline data, and the
// program's default is 236.
var inline = []string{"-F", "-x", "1", "-I", "96"}

// TestPeers runs ibkit perf with programs on libbnxt_re, each as client and as server.
func TestPeers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		common []string
		peers  []peers.Test
	}{
		"with inline data": {inline, testenv.Cases(nil, []peers.Test{
			{"ib_send_lat -c UD -s 64", "--peer perftest --test send-lat --transport ud -s 64"},
			{"ib_write_bw -b -q 3 -s 512", "--peer perftest --test write-bw -b --qps 3 -s 512"},
			{"ib_send_lat -s 64", "--peer perftest --test send-lat -s 64"},
			{"ib_write_lat -s 2", "--peer perftest --test write-lat -s 2"},
		}...)},
		"without": {[]string{"-F", "-x", "1"}, testenv.Cases(nil, []peers.Test{
			{"ib_read_bw -s 65536", "--peer perftest --test read-bw -s 64K"},
			{"ib_send_bw -s 4096", "--peer perftest --test send-bw -s 4K"},
			{"ib_read_lat -s 8", "--peer perftest --test read-lat -s 8"},
			{"ib_atomic_bw -A CMP_AND_SWAP", "--peer perftest --test compare-swap-bw"},
		}...)},
		"pingpongs": {[]string{"-g", "1"}, testenv.Cases([]peers.Test{
			{"ibv_rc_pingpong -e -s 64", "--peer pingpong --events -s 64"},
		}, []peers.Test{
			{"ibv_rc_pingpong -c -s 4096", "--peer pingpong --verify"},
			{"ibv_ud_pingpong -s 512", "--peer pingpong --transport ud -s 512"},
			{"ibv_srq_pingpong -q 3 -s 256", "--peer pingpong --srq 3 -s 256"},
		}...)},
	} {
		if len(test.peers) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			g := boot(t, thor)
			peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: test.common}, test.peers)
			verbstest.CheckKernel(t, g)
		})
	}
}

// TestThor2 runs programs on a newer libbnxt_re, which has the tables of packet numbers by
// message, and variable work requests.
func TestThor2(t *testing.T) {
	t.Parallel()
	for _, c := range testenv.Cases(nil, thor2, variable) {
		t.Run(c.options, func(t *testing.T) {
			g := boot(t, c)
			peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: inline}, []peers.Test{
				{"ib_send_lat -c UD -s 64", "--peer perftest --test send-lat --transport ud -s 64"},
				{"ib_write_bw -b -q 3 -s 512", "--peer perftest --test write-bw -b --qps 3 -s 512"},
			})
			peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: []string{"-F", "-x", "1"}}, []peers.Test{
				{"ib_atomic_lat", "--peer perftest --test fetch-add-lat"},
				{"ib_read_bw -s 65536", "--peer perftest --test read-bw -s 64K"},
			})
			peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: []string{"-g", "1"}}, []peers.Test{
				{"ibv_srq_pingpong -q 3 -s 256", "--peer pingpong --srq 3 -s 256"},
				{"ibv_rc_pingpong -e -s 64", "--peer pingpong --events -s 64"},
			})
			verbstest.CheckKernel(t, g)
		})
	}
}

// TestVerified runs the ibkit perf tests with verified payloads, and compares ibv_devinfo
// with Debian's.
func TestVerified(t *testing.T) {
	t.Parallel()
	for _, c := range testenv.Cases([]chip{thor}, thor2, variable) {
		t.Run(c.options, func(t *testing.T) {
			g := boot(t, c)
			peers.Verified(t, g, peers.Options{Address: address, Count: "10"}, []string{
				"--test all -s 64", "--test send-lat,write-bw --events -s 1K", "--test send-lat,send-bw --transport ud -s 512",
				"--test write-bw -b --qps 4 -s 64K",
			})
			if out := g.Must(t, "ibkit", "ibv_devinfo", "-v"); c == thor && out != g.Must(t, "ibv_devinfo", "-v") {
				t.Errorf("ibv_devinfo -v differs from Debian's:\n%s", out)
			}
			verbstest.CheckHost(t, g, "BCM57")
			verbstest.CheckKernel(t, g)
		})
	}
}
