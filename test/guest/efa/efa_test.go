//go:build guest

package efa_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// programs are Debian programs that use libefa.
var programs = []string{"ib_send_lat", "ib_send_bw", "ib_read_lat", "ib_read_bw", "ibv_ud_pingpong", "ibv_devinfo"}

// address is that of the programs' TCP connections.
const address = "10.7.0.1"

// adapter returns an adapter in a guest.
func adapter(options string) verbstest.Adapter {
	return verbstest.Adapter{ABI: "efa", Device: "efa_0", Address: address, Alone: true, Options: options, Tools: programs}
}

// srd are options of perftest, which needs the GID index to send to GIDs.
var srd = []string{"-F", "-x", "0"}

// TestPeers runs ibkit perf with programs on libefa, each as client and as server. libefa
// refuses sends without a completion, which ib_send_bw -c UD posts without -Q 1.
func TestPeers(t *testing.T) {
	t.Parallel()
	g := verbstest.Boot(t, adapter(""))
	peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: srd}, testenv.Cases([]peers.Test{
		{"ib_send_lat -c SRD -s 32", "--peer perftest --test send-lat --transport srd -s 32"},
	}, []peers.Test{
		{"ib_send_bw -c SRD -b -q 3 -s 4096", "--peer perftest --test send-bw --transport srd -b --qps 3 -s 4K"},
		{"ib_read_lat -c SRD -s 8", "--peer perftest --test read-lat --transport srd -s 8"},
		{"ib_read_bw -c SRD -s 65536", "--peer perftest --test read-bw --transport srd -s 64K"},
		{"ib_send_lat -c UD -s 64", "--peer perftest --test send-lat --transport ud -s 64"},
		{"ib_send_bw -c UD -Q 1 -s 512", "--peer perftest --test send-bw --transport ud -s 512"},
	}...))
	peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: []string{"-g", "0"}}, testenv.Cases(nil, []peers.Test{
		{"ibv_ud_pingpong -s 512", "--peer pingpong --transport ud -s 512"},
		{"ibv_ud_pingpong -e -s 64", "--peer pingpong --transport ud --events -s 64"},
	}...))
	verbstest.CheckKernel(t, g)
}

// TestWrites runs programs on a newer libefa, which has writes. Before release 63, it has no
// inline data in writes, and ib_write_lat has it by default.
func TestWrites(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 40 s
		return
	}
	a := adapter("efa_writes=1")
	a.ToolsFrom = debian.Trixie
	a.Tools = append([]string{"ib_write_lat", "ib_write_bw"}, programs...)
	g := verbstest.Boot(t, a)
	peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: srd}, []peers.Test{
		{"ib_write_lat -c SRD -s 8 -I 0", "--peer perftest --test write-lat --transport srd -s 8"},
		{"ib_write_bw -c SRD -b -q 3 -s 65536", "--peer perftest --test write-bw --transport srd -b --qps 3 -s 64K"},
		{"ib_read_bw -c SRD -s 65536", "--peer perftest --test read-bw --transport srd -s 64K"},
		{"ib_send_bw -c SRD -s 4096", "--peer perftest --test send-bw --transport srd -s 4K"},
	})
	verbstest.CheckKernel(t, g)
}

// TestVerified runs the ibkit perf tests with verified payloads, also with completions in
// another order, and compares ibv_devinfo with Debian's.
func TestVerified(t *testing.T) {
	t.Parallel()
	for _, options := range testenv.Cases(nil, "efa_writes=0 efa_reorder=0", "efa_writes=1 efa_reorder=1") {
		t.Run(options, func(t *testing.T) {
			g := verbstest.Boot(t, adapter(options))
			writes := ""
			if strings.HasPrefix(options, "efa_writes=1") {
				writes = ",write-lat,write-bw"
			}
			peers.Verified(t, g, peers.Options{Address: address, Count: "50"}, []string{
				"--test send-lat,send-bw,read-bw" + writes + " --transport srd -s 4K",
				"--test send-bw --transport srd --events -s 1K",
				"--test read-lat,read-bw -b --qps 4 --transport srd -s 64K",
				"--test send-lat,send-bw --transport ud -s 512",
			})
			if out := g.Must(t, "ibkit", "ibv_devinfo", "-v"); out != g.Must(t, "ibv_devinfo", "-v") {
				t.Errorf("ibv_devinfo -v differs from Debian's:\n%s", out)
			}
			verbstest.CheckHost(t, g, "Elastic Fabric Adapter")
			verbstest.CheckKernel(t, g)
		})
	}
}
