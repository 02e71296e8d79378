//go:build guest

package irdma_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// programs are Debian programs that use libirdma.
var programs = []string{
	"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw",
	"ibv_rc_pingpong", "ibv_ud_pingpong", "ibv_devinfo",
}

// address belongs to the network device below the adapter. Its GID has index 1.
const address = "10.7.0.1"

// boot starts a guest with a single adapter.
func boot(t *testing.T, options string) *guest.Guest {
	return verbstest.Boot(t, verbstest.Adapter{ABI: "irdma", Device: "irdma0", Address: address, Options: options, Tools: programs})
}

// inline are perftest's options: the adapter has up to 101 bytes of inline data, and the
// program's default is 236.
var inline = []string{"-F", "-x", "1", "-I", "101"}

// TestPeers runs ibkit perf with programs on libirdma, each as client and as server.
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
		}...)},
		"pingpongs": {[]string{"-g", "1"}, testenv.Cases([]peers.Test{
			{"ibv_rc_pingpong -e -s 64", "--peer pingpong --events -s 64"},
		}, []peers.Test{
			{"ibv_rc_pingpong -c -s 4096", "--peer pingpong --verify"},
			{"ibv_ud_pingpong -s 512", "--peer pingpong --transport ud -s 512"},
		}...)},
	} {
		if len(test.peers) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			g := boot(t, "")
			peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: test.common}, test.peers)
			verbstest.CheckKernel(t, g)
		})
	}
}

// TestThird runs programs on a newer libirdma, which has the third generation: atomics,
// shared receive queues and completions of 64 bytes.
func TestThird(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 60 s
		return
	}
	g := verbstest.Boot(t, verbstest.Adapter{
		ABI: "irdma", Device: "irdma0", ToolsFrom: debian.Sid, Address: address, Options: "irdma_gen=3",
		Tools: append([]string{"ib_atomic_lat", "ib_atomic_bw", "ibv_srq_pingpong"}, programs...),
	})
	peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: []string{"-F", "-x", "1"}}, []peers.Test{
		{"ib_atomic_lat", "--peer perftest --test fetch-add-lat"},
		{"ib_atomic_bw -A CMP_AND_SWAP", "--peer perftest --test compare-swap-bw"},
		{"ib_send_lat -c UD -s 64", "--peer perftest --test send-lat --transport ud -s 64"},
		{"ib_write_bw -b -q 3 -s 512", "--peer perftest --test write-bw -b --qps 3 -s 512"},
		{"ib_read_bw -s 65536", "--peer perftest --test read-bw -s 64K"},
	})
	peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: []string{"-g", "1"}}, []peers.Test{
		{"ibv_srq_pingpong -q 3 -s 256", "--peer pingpong --srq 3 -s 256"},
		{"ibv_rc_pingpong -e -s 64", "--peer pingpong --events -s 64"},
		{"ibv_ud_pingpong -s 512", "--peer pingpong --transport ud -s 512"},
	})
	verbstest.CheckKernel(t, g)
}

// TestVerified runs the ibkit perf tests with verified payloads, and compares ibv_devinfo
// with Debian's.
func TestVerified(t *testing.T) {
	t.Parallel()
	for _, options := range testenv.Cases([]string{"irdma_gen=2"}, "irdma_gen=1", "irdma_gen=3") {
		t.Run(options, func(t *testing.T) {
			g := boot(t, options)
			all := "--test all -s 64"
			old := !strings.Contains(options, "3") // libirdma 44 has no third generation
			if old {                               // no atomics
				all = "--test send-lat,send-bw,write-lat,write-bw,read-lat,read-bw -s 64"
			}
			peers.Verified(t, g, peers.Options{Address: address, Count: "10"}, []string{
				all, "--test send-lat,write-bw --events -s 1K", "--test send-lat,send-bw --transport ud -s 512", "--test write-bw -b --qps 4 -s 64K",
			})
			if out := g.Must(t, "ibkit", "ibv_devinfo", "-v"); old && out != g.Must(t, "ibv_devinfo", "-v") {
				t.Errorf("ibv_devinfo -v differs from Debian's:\n%s", out)
			}
			verbstest.CheckHost(t, g, map[string]string{"irdma_gen=1": "X722", "irdma_gen=2": "E810", "irdma_gen=3": "Infrastructure"}[options])
			verbstest.CheckKernel(t, g)
		})
	}
}

// TestWorkRequests posts the same work requests with libirdma and with package
// verbs/internal/irdma, and compares the bytes in the rings. The output is
// verbs/internal/irdma/testdata/libirdma.wqes.
func TestWorkRequests(t *testing.T) {
	t.Parallel()
	a := verbstest.Adapter{ABI: "irdma", Device: "irdma0", Address: address, Tools: []string{"ibv_devinfo"}}
	verbstest.CompareRings(t, "irdma", a, testenv.Cases(nil, []verbstest.Rings{
		{Options: "irdma_gen=1", Arguments: "1"}, {Options: "irdma_gen=2", Arguments: "2"}, {Release: debian.Sid, Options: "irdma_gen=3", Arguments: "3"}, // libirdma 44 has no third generation
	}...))
}
