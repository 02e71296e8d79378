//go:build guest

package kernels_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

// siwModules are the modules that siw uses, by kernel.
var siwModules = map[*debian.Release][]string{
	debian.Bullseye: {"crc32c_generic", "libcrc32c"},
	debian.Trixie:   {"crc32c_generic", "libcrc32c"},
}

// TestSIW connects over software iWARP, with the release's programs and with ibkit. A kernel
// module takes a compiler of the release, so only all cases have it; test/guest/cm has Debian 12.
func TestSIW(t *testing.T) {
	for _, r := range testenv.Cases(nil, debian.Bullseye, debian.Trixie, debian.Sid) {
		t.Run(r.Name, func(t *testing.T) {
			root, err := r.Root(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			g := guest.New(t, guest.Spec{
				Release:  r,
				Modules:  append([]string{"ib_uverbs", "rdma_ucm", "dummy"}, siwModules[r]...),
				Insert:   []string{guest.TreeModule(t, r, "drivers/infiniband/sw/siw", "CONFIG_RDMA_SIW")},
				Files:    map[string]string{libgcc: root + libgcc},
				Tools:    []string{"ip", "rping", "timeout"},
				Programs: []guest.Program{guest.Ibkit},
			})
			const host = "10.0.0.1"
			g.Must(t, "ip", "link", "add", "dummy7", "type", "dummy")
			g.Must(t, "ip", "address", "add", host+"/24", "dev", "dummy7")
			g.Must(t, "ip", "link", "set", "dummy7", "up")
			g.Must(t, "ibkit", "link", "add", "siw0", "--type", "siw", "--netdev", "dummy7", "--yes", "--log", "-")
			t.Run("rping", func(t *testing.T) { siwPings(t, g, host) })
			t.Run("cm", func(t *testing.T) {
				stop := siwServer(t, g, "ibkit", "cm", "--serve", host)
				defer stop()
				if out := g.Must(t, "ibkit", "cm", "--count", "50", "--parallel", "4", host); !strings.Contains(out, "50 of 50 connections established") {
					t.Errorf("got\n%s", out)
				}
			})
			t.Run("perf", func(t *testing.T) {
				// siw counts all memory against the limit, which is 64 KiB in Linux 5.10.
				const unlimited = "ulimit -l unlimited; exec ibkit perf "
				stop := siwServer(t, g, "sh", "-c", unlimited+"--serve")
				defer stop()
				for _, line := range []string{
					"--test send-lat,write-lat,read-lat -s 100 -n 50 --verify", "--test send-bw,read-bw -s 4K -n 100 --verify", "--test write-bw -s 64K -n 100 --qps 3 -b",
				} {
					g.Must(t, "sh", "-c", unlimited+host+" --cm "+line)
				}
			})
		})
	}
}

// siwServer starts a server. stop ends it.
func siwServer(t *testing.T, g *guest.Guest, args ...string) (stop func()) {
	p := g.MustStart(t, args...)
	if err := p.AwaitOutput(t.Context(), "ing "); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := p.Signal(unix.SIGINT); err != nil {
			t.Error(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// siwPings runs rping of the release and of ibkit as both sides. A server of perftest does not
// work on a single host: it listens on all addresses, and siw accepts no packets from lo there.
func siwPings(t *testing.T, g *guest.Guest, host string) {
	lines := [2]string{"rping -s -a " + host + " -v -S 1000 -p PORT", "rping -c -a " + host + " -C 5 -v -V -S 1000 -p PORT"}
	for i, ours := range [][2]bool{{}, {true, false}, {false, true}} {
		for end, r := range siwRun(t, [2]*guest.Guest{g, g}, 18600+siwAttempts*i, lines, ours) {
			// rping may see the end of the connection before its last completion.
			if r.Code != 0 && (ours[end] || r.Code != 255) || strings.Count(r.Stdout, "ping data: rdma-ping-") != 5 {
				t.Errorf("ibkit at the ends %v, end %d: got %s", ours, end, result(r))
			}
		}
	}
}

// siwAttempts limits the runs of siwRun, and is the number of its ports.
const siwAttempts = 10

// siwRun runs a server and a client. ours selects ibkit for each. PORT in the lines is another
// port in each run, from first. A first message can wait in the kernel, see docs/connections.md: such a run is
// repeated.
func siwRun(t *testing.T, ends [2]*guest.Guest, first int, lines [2]string, ours [2]bool) (results [2]guest.Result) {
	t.Helper()
	for port := range siwAttempts {
		port += first
		args := func(end int) []string {
			line := []string{"timeout", "20"}
			if ours[end] {
				line = append(line, "ibkit")
			}
			return append(line, strings.Fields(strings.ReplaceAll(lines[end], "PORT", strconv.Itoa(port)))...)
		}
		server := ends[0].MustStart(t, args(0)...)
		// siw listens later than the state of its ID shows.
		if err := ends[0].Await(t.Context(), "sh", "-c", fmt.Sprintf("grep -q ':%04X .* 0A ' /proc/net/tcp", port)); err != nil {
			t.Fatal(err)
		}
		results[1] = ends[1].MustRun(t, args(1)...)
		var err error
		if results[0], err = server.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		const late = 124 // from timeout
		if results[0].Code != late && results[1].Code != late {
			break
		}
		t.Logf("ibkit at the ends %v: the first message waits in the kernel", ours)
	}
	return results
}
