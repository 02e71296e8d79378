//go:build guest

// Package perf_test runs data path tests on Soft-RoCE, with Debian's programs as peers.
package perf_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
)

// TestPingpong connects package pingpong to the libibverbs examples, each as client
// and as server.
func TestPingpong(t *testing.T) {
	t.Parallel()
	guest.RunTests(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:   []string{"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong"},
	}, "github.com/ibkit/ibkit/internal/tool/perf/pingpong", "-test.run=^TestGuest")
}

// TestPerf tests package perf and its command in a single guest.
func TestPerf(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:    []string{"rdma", "strace"},
		Programs: []guest.Program{guest.Ibkit, {Package: "github.com/ibkit/ibkit/internal/tool/perf", Test: true}},
	})
	t.Run("package", func(t *testing.T) {
		g.Must(t, "env", testenv.CasesSetting(), "perf.test", "-test.v", "-test.run=^TestGuest")
	})
	t.Run("command", func(t *testing.T) { command(t, g) })
	nothingLeft(t, g)
}

// serve starts a server and returns when it is ready.
func serve(t *testing.T, g *guest.Guest, args ...string) *guest.Process {
	t.Helper()
	server := g.MustStart(t, append([]string{"ibkit", "perf", "--serve"}, args...)...)
	if err := server.AwaitOutput(t.Context(), "serving tests at"); err != nil {
		t.Fatal(err)
	}
	return server
}

// command runs ibkit perf.
func command(t *testing.T, g *guest.Guest) {
	server := serve(t, g)
	for _, c := range []struct {
		args string
		code int
		want []string // on either stream
	}{
		{"10.0.0.1 -n 200", 0, []string{
			"client: rxe0/1, Ethernet, GID 1 ::ffff:10.0.0.1, RoCE v2 (address of the control connection)",
			"send over rc latency in µs, one way, MTU 1024", "P99.99", "send over rc bandwidth in Gb/s, MTU 1024", "ns per reading",
		}},
		{"10.0.0.1 --test all --size 512 -n 50 --verify --json", 0, []string{`"verified": true`, `"op": "compare-swap"`}},
		{"10.0.0.1 --test write-bw,send-bw -D 1s --qps 4 --threads 2 -b --size 64,4K --unit mib", 0, []string{"MiB/s in both directions, MTU 1024, 4 queue pairs, 2 threads", "SUM"}},
		{"10.0.0.1 --test write-bw -n 200 -b --size 64,4K --classic", 0, []string{"RDMA_Write Bidirectional BW Test", "BW average[MB/sec]", " 4096       200 "}},
		{"10.0.0.1 --test read-lat -D 300ms --classic", 0, []string{"RDMA_Read Latency Test", "tps average"}},
		{"10.0.0.1 --test send-bw --transport ud --events -n 300 --json", 0, []string{`"transport": "ud"`}},
		{"10.0.0.1 --test send-lat --events --inline -n 100 -x 0 --max-p99 1ns", 3, []string{"is above --max-p99 1ns", "GID 0 fe80::", "(requested)", "events, inline"}},
		{"10.0.0.1 --test write-bw --min-bw 1000 -n 100 --plot /root/plot.svg", 3, []string{"Gb/s is below --min-bw 1000", "write over rc"}},
		{"10.0.0.1 --test send-bw,read-lat --inline --size 64,4K -n 20 --json", 4, []string{"measure send bw rc 4096 B: ", "hint: reduce the message size or omit --inline", `"op": "read"`}},
		{"10.0.0.1 --transport ud --size 2K", 1, []string{"the MTU is 1024, and a datagram is a single packet"}},
		{"10.0.0.1 --transport ud --test read-bw", 2, []string{"--transport ud: read is not supported"}},
		{"10.0.0.1 --size 1G --test write-bw --verify", 1, []string{"server: the test needs", "max-memory"}},
		{"10.0.0.1:1", 1, []string{"connection refused", "hint: start the server first"}},
		{"10.0.0.1:1 --json", 1, []string{"connection refused", `"not_begun": [`}},
		{"10.0.0.1 -d rxe7", 1, []string{"no RDMA device of this name", "hint: ibkit devinfo"}},
		{"10.0.0.1 --ib-port 2", 1, []string{"use port 2 of rxe0: the device has one port"}},
		{"10.0.0.1 -x 77", 1, []string{"use GID 77: no active port has a GID of this index"}},
		{"10.0.0.1 --qps 1000 --test write-bw -s 64 -n 20 --max-p99 1s", 2, []string{"--max-p99 has no effect"}},
		{"10.0.0.1 --qps 1000 --test write-bw -s 64 -n 20", 0, []string{"1000 queue pairs", " 20000 "}},
		{"10.0.0.1 --qps 1000 --test write-bw -s 64 -n 20 --tx-depth 128", 1, []string{"above a limit of the device", "hint: reduce --tx-depth"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := g.MustRun(t, append([]string{"ibkit", "perf"}, strings.Fields(c.args)...)...)
			// A busy machine may pause a test by time for all of it.
			for d := 2; strings.Contains(r.Stderr, "no message completed") && d <= 16; d *= 2 {
				longer := strings.Replace(c.args, "-D 1s", fmt.Sprintf("-D %ds", d), 1)
				r = g.MustRun(t, append([]string{"ibkit", "perf"}, strings.Fields(longer)...)...)
			}
			for _, want := range c.want {
				if !strings.Contains(r.Stdout+r.Stderr, want) {
					t.Errorf("got no %q in the output", want)
				}
			}
			if r.Code != c.code {
				t.Errorf("got exit code %d, want %d", r.Code, c.code)
			}
			if strings.Contains(c.args, "--json") {
				testenv.CheckSchema(t, "../../../schema/perf.json", r.Stdout)
			}
			if t.Failed() {
				t.Logf("%s%s", r.Stdout, r.Stderr)
			}
		})
	}
	t.Run("plot", func(t *testing.T) {
		if plot := g.Must(t, "cat", "/root/plot.svg"); !strings.Contains(plot, "Bandwidth by size") {
			t.Errorf("got plot\n%s", plot)
		}
	})
	t.Run("processor time", func(t *testing.T) { processorTime(t, g) })
	t.Run("system calls", func(t *testing.T) { systemCalls(t, g) })
	t.Run("counters", func(t *testing.T) { counters(t, g) })
	finishServer(t, server)
}

// finishServer ends a server by an interrupt.
func finishServer(t *testing.T, server *guest.Process) {
	t.Helper()
	if err := server.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if r, err := server.Wait(t.Context()); err != nil || r.Code != 0 {
		t.Errorf("got exit code %d of the server, want 0: %v\n%s", r.Code, err, r.Stderr)
	}
}

// processorTime checks that loops in short tests use no more processor time than they
// last: preparation time does not count.
func processorTime(t *testing.T, g *guest.Guest) {
	type side struct {
		Seconds float64
		User    float64 `json:"cpu_user_seconds"`
		System  float64 `json:"cpu_system_seconds"`
	}
	out := g.Must(t, "ibkit", "perf", "10.0.0.1", "--test", "send-lat,write-bw,send-bw", "-n", "5", "-s", "1M", "--json")
	var document struct {
		Results []struct {
			Client side `json:"client_side"`
			Server side `json:"server_side"`
		}
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil || len(document.Results) != 3 {
		t.Fatalf("%v in\n%s", err, out)
	}
	for _, r := range document.Results {
		for _, s := range []side{r.Client, r.Server} {
			if s.User+s.System > s.Seconds {
				t.Errorf("got %v s of processor time in %v s", s.User+s.System, s.Seconds)
			}
		}
	}
}

// systemCalls checks that rings are mapped, and that a running test makes no system
// calls but doorbells.
func systemCalls(t *testing.T, g *guest.Guest) {
	count := func(n string) (ioctls, doorbells, maps int) {
		r := g.MustRun(t, "strace", "-f", "--seccomp-bpf", "-y", "-e", "trace=openat,ioctl,write,mmap",
			"ibkit", "perf", "10.0.0.1", "--test", "write-bw", "-s", "64", "-n", n, "--warmup", "0")
		if r.Code != 0 || strings.Contains(r.Stderr, "libibverbs") {
			t.Errorf("got exit code %d, want 0:\n%s%s", r.Code, r.Stdout, r.Stderr)
		}
		for line := range strings.Lines(r.Stderr) {
			if !strings.Contains(line, "</dev/infiniband/uverbs0>") {
				continue
			}
			ioctls += strings.Count(line, "ioctl(")
			doorbells += strings.Count(line, "write(")
			maps += strings.Count(line, "mmap(")
		}
		return ioctls, doorbells, maps
	}
	few, _, _ := count("20")
	many, doorbells, maps := count("100")
	if many != few || doorbells != 100 || maps < 3 {
		t.Errorf("got %d requests for 20 messages and %d for 100, %d doorbells and %d mappings", few, many, doorbells, maps)
	}
}
