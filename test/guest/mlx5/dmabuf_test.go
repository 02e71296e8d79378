//go:build guest

package mlx5_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/dmabuf"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// exporters are drivers of dma-bufs, by the release with their kernel.
var exporters = map[*debian.Release]string{debian.Bookworm: vgem, debian.Trixie: dmabuf.UDMABuf}

// eachExporter runs a test with the exporters. The module for another release takes a
// compiler of the release, so only all cases have it.
func eachExporter(t *testing.T, test func(t *testing.T, r *debian.Release)) {
	t.Parallel()
	for _, r := range testenv.Cases([]*debian.Release{debian.Bookworm}, debian.Trixie) {
		t.Run(r.Name, func(t *testing.T) { test(t, r) })
	}
}

// TestDMABuf runs tests with payloads in dma-bufs: on both sides, and with libmlx5 as the
// peer.
func TestDMABuf(t *testing.T) { eachExporter(t, testDMABuf) }

func testDMABuf(t *testing.T, r *debian.Release) {
	t.Parallel()
	g := guest.New(t, specOf(t, r))
	g.Must(t, "sh", "-c", "echo 2 > /sys/module/verbstest/parameters/strict")
	if out := g.MustRun(t, "ibkit", "doctor", "--only", "devices").Stdout; !strings.Contains(out, "mlx5, firmware 20.38.1002, dma-buf") {
		t.Errorf("got no ability to register dma-bufs in\n%s", out)
	}
	source := "dmabuf:" + exporters[r]
	serve(t, g, source)
	for _, args := range []string{
		"--test all -s 4K", "--test all --transport xrc -s 512", "--test send-lat,send-bw --transport ud -s 512",
		"--test send-bw,write-bw,read-bw -s 64K --qps 2 -b", "--test write-lat --imm -s 4K",
	} {
		t.Run(args, func(t *testing.T) { measure(t, g, source, args) })
	}
	t.Run("libmlx5", func(t *testing.T) {
		peers.Run(t, g, options, []peers.Test{
			{"ib_write_bw -F -s 4096", "--peer perftest --test write-bw -s 4K --memory " + source},
			{"ib_write_lat -F -s 64", "--peer perftest --test write-lat -s 64 --memory " + source},
			{"ib_read_bw -F -s 65536", "--peer perftest --test read-bw -s 64K --memory " + source},
			{"ib_send_lat -F -s 512", "--peer perftest --test send-lat -s 512 --memory " + source},
		})
	})
	verbstest.CheckKernel(t, g)
}

// serve starts a server with a source of memory.
func serve(t *testing.T, g *guest.Guest, source string) {
	t.Helper()
	server := g.MustStart(t, "ibkit", "perf", "--serve", "--memory", source)
	if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
		t.Fatal(err)
	}
}

// measure runs tests with verified payloads in memory of a source, which the server has too.
func measure(t *testing.T, g *guest.Guest, source, args string) {
	t.Helper()
	out := g.Must(t, append([]string{"ibkit", "perf", "127.0.0.1", "--memory", source, "--verify", "-n", count, "--json"}, strings.Fields(args)...)...)
	var r perf.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Results {
		client, server := m.ClientPort.Memory, m.ServerPort.Memory
		if !m.Verified || client == nil || *client != source || server == nil || *server != source {
			t.Errorf("%v: got verified %v in memory %v and %v, want %s", m.Test, m.Verified, client, server, source)
		}
	}
	if len(r.Results) == 0 {
		t.Errorf("got no result in\n%s", out)
	}
}
