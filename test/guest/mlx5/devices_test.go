//go:build guest

package mlx5_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/selftest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// reload loads the module with other parameters.
func reload(t *testing.T, g *guest.Guest, parameters ...string) {
	t.Helper()
	g.Must(t, "rmmod", "verbstest")
	g.Must(t, slices.Concat([]string{"insmod", "/usr/lib/modules/insert/verbstest.ko"}, parameters)...)
}

// TestDevices runs tests between two devices, on RoCE, and on a device that is removed.
func TestDevices(t *testing.T) {
	t.Parallel()
	s := spec(t)
	s.Devices = []guest.Device{{Name: "rxe0", Link: guest.Dummy}} // for the network device
	s.Tools = append(s.Tools, "ip", "rdma")
	g := guest.New(t, s)
	t.Run("two devices", func(t *testing.T) {
		reload(t, g, "devices=2", "strict=2")
		server := g.MustStart(t, "ibkit", "perf", "--serve", "-d", "mlx5_1")
		if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
			t.Fatal(err)
		}
		for _, transport := range []string{"rc", "xrc"} {
			out := g.Must(t, "ibkit", "perf", "127.0.0.1", "-d", "mlx5_0", "--verify", "-n", count, "--test", "send-bw,write-lat", "-s", "1K", "--transport", transport)
			if !strings.Contains(out, "LID 7") || !strings.Contains(out, "LID 8") {
				t.Errorf("got output without LID 7 and LID 8:\n%s", out)
			}
		}
		end(t, g, server)
		theirs := g.MustStart(t, "ib_write_bw", "-F", "-d", "mlx5_1", "-n", count, "-p", "18900")
		if err := g.AwaitTCP(t.Context(), 18900); err != nil {
			t.Fatal(err)
		}
		g.Must(t, "ibkit", "ib_write_bw", "-F", "-d", "mlx5_0", "-n", count, "-p", "18900", "127.0.0.1")
		peers.Finish(t, theirs)
		verbstest.CheckKernel(t, g)
	})
	t.Run("RoCE", func(t *testing.T) {
		g.Must(t, "rdma", "link", "delete", "rxe0")
		netdev := g.Ports[0].Netdev
		reload(t, g, "netdev="+netdev, "strict=2")
		server := g.MustStart(t, "ibkit", "perf", "--serve")
		if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
			t.Fatal(err)
		}
		for _, transport := range []string{"rc", "xrc", "ud"} {
			g.Must(t, "ibkit", "perf", "127.0.0.1", "--verify", "-n", count, "--test", "send-lat", "-s", "512", "--transport", transport)
		}
		end(t, g, server)
		theirs := g.MustStart(t, "ib_send_bw", "-F", "-c", "UD", "-s", "512", "-n", count, "-x", "1", "-p", "18900")
		if err := g.AwaitTCP(t.Context(), 18900); err != nil {
			t.Fatal(err)
		}
		g.Must(t, "ibkit", "ib_send_bw", "-F", "-c", "UD", "-s", "512", "-n", count, "-x", "1", "-p", "18900", "127.0.0.1")
		peers.Finish(t, theirs)
		verbstest.CheckKernel(t, g)
	})
	// Packets need a GRH: native tests select GIDs without an option, as the ibkit side
	// does with Debian's programs, which need -x on InfiniBand.
	t.Run("GRH", func(t *testing.T) {
		reload(t, g, "devices=2", "strict=2", "grh=2") // only the second device
		for _, devices := range [][2]string{{"mlx5_1", "mlx5_0"}, {"mlx5_0", "mlx5_1"}} {
			server := g.MustStart(t, "ibkit", "perf", "--serve", "-d", devices[0])
			if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
				t.Fatal(err)
			}
			out := g.Must(t, "ibkit", "perf", "127.0.0.1", "-d", devices[1], "--verify", "-n", count, "--test", "send-lat,write-bw", "-s", "1K")
			if strings.Count(out, "GID 0 fe80::") < 2 {
				t.Errorf("server on %s: got output without two GIDs:\n%s", devices[0], out)
			}
			end(t, g, server)
		}
		reload(t, g, "devices=2", "strict=2", "grh=3")
		server := g.MustStart(t, "ibkit", "perf", "--serve", "-d", "mlx5_1")
		if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
			t.Fatal(err)
		}
		for _, transport := range []string{"rc", "ud", "xrc"} {
			out := g.Must(t, "ibkit", "perf", "127.0.0.1", "-d", "mlx5_0", "--verify", "-n", count, "--test", "send-lat", "-s", "1K", "--transport", transport)
			if !strings.Contains(out, "GID 0 fe80::") {
				t.Errorf("got output without a GID:\n%s", out)
			}
		}
		end(t, g, server)
		for i, test := range []struct{ theirs, ours string }{
			{"ib_write_bw -F -x 0", "ibkit ib_write_bw -F"}, {"ib_send_lat -F -x 0 -c UD -s 512", "ibkit ib_send_lat -F -x 0 -c UD -s 512"},
			{"ibv_rc_pingpong -g 0", "ibkit ibv_rc_pingpong -g 0"}, {"ibv_ud_pingpong -g 0", "ibkit ibv_ud_pingpong -g 0"},
		} {
			t.Run(test.theirs, func(t *testing.T) {
				for k, roles := range [][2]string{{test.theirs, test.ours}, {test.ours, test.theirs}} {
					tcp := 18910 + 2*i + k
					tail := []string{"-n", count, "-p", fmt.Sprint(tcp)}
					server := g.MustStart(t, slices.Concat(strings.Fields(roles[0]), []string{"-d", "mlx5_1"}, tail)...)
					if err := g.AwaitTCP(t.Context(), uint16(tcp)); err != nil {
						t.Fatal(err)
					}
					g.Must(t, slices.Concat(strings.Fields(roles[1]), []string{"-d", "mlx5_0"}, tail, []string{"127.0.0.1"})...)
					peers.Finish(t, server)
				}
			})
		}
		g.Must(t, "sh", "-c", "echo 4 >/proc/sys/vm/nr_hugepages")
		selftest.Run(t, g, "mlx5_0", selftest.Expected{})
		verbstest.CheckKernel(t, g)
	})
	t.Run("removal", func(t *testing.T) {
		reload(t, g, "strict=2")
		server := g.MustStart(t, "ibkit", "perf", "--serve")
		if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
			t.Fatal(err)
		}
		client := g.MustStart(t, "ibkit", "perf", "127.0.0.1", "--test", "write-bw", "--duration", "10m", "-s", "4K")
		if err := g.Await(t.Context(), "sh", "-c", "rdma res show qp | grep -q 'state RTS'"); err != nil {
			t.Fatal(err)
		}
		g.Must(t, "rmmod", "verbstest")
		r, err := client.Wait(t.Context())
		if err != nil || r.Code != 1 || !strings.Contains(r.Stderr, "removed") {
			t.Errorf("got exit code %d, %v and %q, want 1 and a removed device", r.Code, err, r.Stderr)
		}
		end(t, g, server)
		verbstest.CheckKernel(t, g)
	})
}

// TestObjects runs the program objects: OPEN_QP, moderation, refusals, and posting while the
// device is removed. It runs the self-test on RoCE.
func TestObjects(t *testing.T) {
	t.Parallel()
	s := spec(t)
	s.Devices = []guest.Device{{Name: "rxe0", Link: guest.Dummy}} // for the network device
	s.Programs = append(slices.Clone(s.Programs), guest.Program{Package: "github.com/ibkit/ibkit/test/guest/mlx5/objects", Name: "objects"})
	s.Tools = append(s.Tools, "ip", "rdma")
	g := guest.New(t, s)
	g.Must(t, "rdma", "link", "delete", "rxe0")
	t.Run("objects", func(t *testing.T) {
		reload(t, g, "strict=2")
		t.Log(g.Must(t, "objects"))
		verbstest.CheckKernel(t, g)
	})
	t.Run("removal", func(t *testing.T) {
		p := g.MustStart(t, "objects", "removal")
		if err := p.AwaitOutput(t.Context(), "posting"); err != nil {
			t.Fatal(err)
		}
		g.Must(t, "rmmod", "verbstest")
		if r, err := p.Wait(t.Context()); err != nil || r.Code != 0 {
			t.Errorf("got exit code %d, %v and %q, want 0", r.Code, err, r.Stderr)
		}
		verbstest.CheckKernel(t, g)
		g.Must(t, "insmod", "/usr/lib/modules/insert/verbstest.ko")
	})
	// Debian's ib_send_lat -e ends with "Couldn't post send" on the module, see
	// docs/providers.md.
	t.Run("latency with events", func(t *testing.T) {
		args := []string{"ibkit", "ib_send_lat", "-F", "-e", "-s", "2000", "-n", "100", "-p", "18901"}
		server := g.MustStart(t, args...)
		if err := g.AwaitTCP(t.Context(), 18901); err != nil {
			t.Fatal(err)
		}
		g.Must(t, append(args, "127.0.0.1")...)
		peers.Finish(t, server)
	})
	t.Run("self-test on RoCE", func(t *testing.T) {
		reload(t, g, "netdev="+g.Ports[0].Netdev, "strict=2")
		g.Must(t, "sh", "-c", "echo 4 >/proc/sys/vm/nr_hugepages")
		selftest.Run(t, g, "mlx5_0", selftest.Expected{})
		verbstest.CheckKernel(t, g)
	})
}

// end ends a server.
func end(t *testing.T, g *guest.Guest, p *guest.Process) {
	t.Helper()
	_ = p.Signal(unix.SIGINT) // it may have ended
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}
