//go:build guest

package perf_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
)

// managedLines are perftest command lines where the connection manager connects the
// programs, and with -R also their queue pairs: each program, each transport.
var managedLines = []string{
	"ib_send_lat -R -n 50 -c UD", "ib_send_lat -R -n 50 -e --use-srq", "ib_send_bw -R -n 100 -b -q 3", "ib_send_bw -R -n 100 -e -T 32 --out_json",
	"ib_write_lat -R -n 50", "ib_write_bw -R -s 64 -D 2", "ib_read_lat -R -n 50 -U -u 16", "ib_read_bw -R -n 100 -o 1 --report_gbits",
	"ib_atomic_lat -R -n 50 -A CMP_AND_SWAP", "ib_atomic_bw -R -n 50 -b -e", "ib_send_bw -z -n 100 -c UD", "ib_write_bw -z -n 100 -c UC",
}

// moreManagedLines have more combinations of programs and options.
var moreManagedLines = []string{
	"ib_send_lat -R -n 50", "ib_send_lat -R -n 20 -a -c UD",
	"ib_send_bw -R -n 100", "ib_send_bw -R -n 100 -c UD", "ib_send_bw -R -n 100 -c UD -b -q 2",
	"ib_write_lat -R -D 2", "ib_write_lat -R -n 50 -s 5000 --out_json -T 8",
	"ib_write_bw -R -n 100 -q 2", "ib_write_bw -R -n 100 -b -s 4096",
	"ib_read_lat -R -n 50", "ib_read_bw -R -n 100 -q 4", "ib_read_bw -R -n 100 -b",
	"ib_atomic_lat -R -n 50", "ib_atomic_bw -R -n 50",
	"ib_send_lat -z -n 50", "ib_send_bw -z -n 100 -b", "ib_write_lat -z -n 50",
	"ib_read_lat -z -n 50", "ib_read_bw -z -n 100 -q 2", "ib_atomic_lat --comm_rdma_cm -n 50", "ib_atomic_bw -z -n 50 -b",
}

// TestClassicNames_CM replaces a perftest program with ibkit at one end, then at the
// other, and compares the output without figures. It leaves no object in the kernel.
func TestClassicNames_CM(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:    append([]string{"rdma", "ip", "strace"}, classicTools...),
		Programs: []guest.Program{guest.Ibkit},
	})
	showFrequency(t, g)
	for i, line := range testenv.Cases(managedLines, moreManagedLines...) {
		t.Run(line, func(t *testing.T) {
			c := managedLine{g: g, args: append(strings.Fields(line), "-F"), port: 19000 + 4*i}
			theirServer, ourClient := c.run(t, 0, c.args, c.ours())
			ourServer, theirClient := c.run(t, 1, c.ours(), c.args)
			compareLayouts(t, "server", ourServer, theirServer)
			compareLayouts(t, "client", ourClient, theirClient)
			c.run(t, 2, c.ours(), c.ours())
		})
	}
	nothingLeft(t, g)
}

// showFrequency adds the processor frequency to /proc/cpuinfo: without it perftest
// prints no figures.
func showFrequency(t *testing.T, g *guest.Guest) {
	t.Helper()
	g.Must(t, "sh", "-c", `sed 's/^flags/cpu MHz\t\t: 1000.000\nflags/' /proc/cpuinfo >/root/cpuinfo && mount --bind /root/cpuinfo /proc/cpuinfo`)
}

// A managedLine is a perftest command line with connection manager connections.
type managedLine struct {
	g    *guest.Guest
	args []string
	port int // and the following ports
}

func (c managedLine) ours() []string { return append([]string{"ibkit"}, c.args...) }

// run runs a program at each end and returns the output from both and their JSON files.
func (c managedLine) run(t *testing.T, n int, serves, asks []string) (server, client string) {
	t.Helper()
	port := strconv.Itoa(c.port + n)
	json := slices.Contains(c.args, "--out_json")
	end := func(args []string, side string, more ...string) []string {
		args = slices.Concat(args, []string{"-p", port}, more)
		if json {
			args = append(args, "--out_json_file=/root/"+side)
		}
		return args
	}
	s := c.g.MustStart(t, end(serves, "server")...)
	awaitManaged(t, c.g, port)
	client = c.g.Must(t, end(asks, "client", c.g.Ports[0].Addr.String())...)
	server = finish(t, s)
	if json {
		server += c.g.Must(t, "sh", "-c", "cat /root/server && rm /root/server || true")
		client += c.g.Must(t, "cat", "/root/client")
	}
	return server, client
}

// awaitManaged waits until a program listens at a connection manager port.
func awaitManaged(t *testing.T, g *guest.Guest, port string) {
	t.Helper()
	if err := g.Await(t.Context(), "sh", "-c", fmt.Sprintf("rdma resource show cm_id | grep 'LISTEN.*:%s '", port)); err != nil {
		t.Fatal(err)
	}
}
