//go:build guest

// Package devices_test compares devinfo's classic names with Debian's tools on Soft-RoCE,
// and its own views with iproute2.
package devices_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/releases"
)

var spec = guest.Spec{
	Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}, {Name: "rxe1", Link: guest.Veth}},
	Tools:    []string{"ibv_devinfo", "ibv_devices", "ibstat", "ibstatus", "sed", "basename", "rdma", "ip", "strace"},
	Programs: []guest.Program{guest.Ibkit},
}

// pid matches the process ID in infiniband-diags warnings.
var pid = regexp.MustCompile(`\[[0-9]+\]`)

// lines have each option and each failure of the classic names once.
var lines = []string{
	"ibv_devinfo", "ibv_devinfo -l", "ibv_devinfo -d rxe0 -v", "ibv_devinfo -d rxe0 -i 1", "ibv_devinfo -i 2", "ibv_devinfo -i x",
	"ibv_devinfo -i 257", "ibv_devinfo -d nosuch", "ibv_devinfo -x", "ibv_devinfo --verb", "ibv_devinfo -d", "ibv_devinfo --list=1", "ibv_devinfo rest",
	"ibv_devices",
	"ibstat", "ibstat -l", "ibstat -p", "ibstat rxe1 1", "ibstat -s rxe0", "ibstat nosuch", "ibstat -x", "ibstat -- rxe0 -1",
	"ibstatus", "ibstatus rxe1:1", "ibstatus rxe0:2", "ibstatus nosuch", "ibstatus -h",
}

// moreLines combine them in other ways.
var moreLines = []string{
	"ibv_devinfo -v", "ibv_devinfo -d rxe1", "ibv_devinfo -i 1", "ibv_devinfo -d rxe0 -i 7", "ibv_devinfo -i 0",
	"ibv_devinfo --ib-d rxe0", "ibv_devinfo --nosuch", "ibv_devinfo -vd rxe1", "ibv_devinfo -d nosuch -l",
	"ibv_devices rest",
	"ibstat -s", "ibstat rxe0", "ibstat rxe0 -1", "ibstat -p rxe1", "ibstat -l rxe1", "ibstat -h", "ibstat --port_list",
	"ibstatus rxe0", "ibstatus rxe0 rxe1",
}

// TestClassic compares output, messages and exit codes with Debian's tools.
func TestClassic(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec)
	for _, line := range testenv.Cases(lines, moreLines...) {
		t.Run(line, func(t *testing.T) { compare(t, g, line) })
	}
	t.Run("trace", func(t *testing.T) { trace(t, g) })
	t.Run("rdma", func(t *testing.T) { agree(t, g) })
	t.Run("missing nodes", func(t *testing.T) { missingNodes(t, g) })
}

// missingNodes compares ibkit with Debian's tools while uverbs nodes are missing.
func missingNodes(t *testing.T, g *guest.Guest) {
	lines := testenv.Cases([]string{"ibv_devices", "ibv_devinfo"}, "ibv_devinfo -l", "ibv_devinfo -d rxe0")
	for _, node := range []string{"uverbs0", "uverbs1"} {
		g.Must(t, "rm", "/dev/infiniband/"+node)
		for _, line := range lines {
			t.Run(node+" "+line, func(t *testing.T) { compare(t, g, line) })
		}
	}
}

// compare runs a command line with Debian's tool and with ibkit, which has the tool's output
// in the release that ibkit follows.
func compare(t *testing.T, g *guest.Guest, line string) {
	t.Helper()
	args := strings.Fields(line)
	want := g.MustRun(t, args...)
	want.Stdout, want.Stderr = releases.Upgrade(args[0], want.Stdout), releases.Upgrade(args[0], want.Stderr)
	got := g.MustRun(t, append([]string{"ibkit"}, args...)...)
	for _, c := range []struct{ name, got, want string }{
		{"stdout", got.Stdout, want.Stdout},
		{"stderr", pid.ReplaceAllString(got.Stderr, "[]"), pid.ReplaceAllString(want.Stderr, "[]")},
		{"exit code", fmt.Sprint(got.Code), fmt.Sprint(want.Code)},
	} {
		if c.got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, c.got, c.want)
		}
	}
}

// BenchmarkClassic measures ibkit and Debian processes in turn, by the guest's clock, and
// reports medians and their ratio.
func BenchmarkClassic(b *testing.B) {
	g := guest.New(b, spec)
	const rounds = 31
	for _, line := range []string{"ibv_devinfo", "ibv_devinfo -v", "ibstat"} {
		b.Run(strings.ReplaceAll(line, " ", ""), func(b *testing.B) {
			args := strings.Fields(line)
			var took [2][]time.Duration
			for b.Loop() {
				for range rounds {
					for i, a := range [][]string{append([]string{"ibkit"}, args...), args} {
						took[i] = append(took[i], g.MustRun(b, a...).Elapsed)
					}
				}
			}
			var median [2]time.Duration
			for i := range took {
				slices.Sort(took[i])
				median[i] = took[i][len(took[i])/2]
			}
			b.ReportMetric(median[0].Seconds()*1e3, "ms-ours")
			b.ReportMetric(median[1].Seconds()*1e3, "ms-Debian")
			b.ReportMetric(float64(median[0])/float64(median[1]), "ratio")
		})
	}
}

// trace checks the ibv_devinfo system calls.
func trace(t *testing.T, g *guest.Guest) {
	r := g.MustRun(t, "strace", "-f", "--seccomp-bpf", "-y", "-e", "trace=openat,ioctl,write", "ibkit", "ibv_devinfo", "-v")
	const node = "/dev/infiniband/uverbs"
	if n := strings.Count(r.Stderr, `"`+node); n != len(spec.Devices) {
		t.Errorf("%d opens of %d devices", n, len(spec.Devices))
	}
	if !strings.Contains(r.Stderr, "RDMA_VERBS_IOCTL") {
		t.Error("no RDMA_VERBS_IOCTL")
	}
	for line := range strings.Lines(r.Stderr) {
		if strings.Contains(line, "write(") && strings.Contains(line, "<"+node) || strings.Contains(line, "libibverbs") {
			t.Error(line)
		}
	}
}

// agree compares ibkit with iproute2.
func agree(t *testing.T, g *guest.Guest) {
	var links []struct {
		Ifname, Netdev, State string
		Port                  int
		Physical              string `json:"physical_state"`
	}
	if err := json.Unmarshal([]byte(g.Must(t, "rdma", "-j", "link")), &links); err != nil {
		t.Fatal(err)
	}
	var ours struct {
		Devices []struct {
			Name  string
			Index int
			Ports []struct {
				Port      int
				State     string
				PhysState string `json:"phys_state"`
				Netdev    string
			}
		}
	}
	r := g.MustRun(t, "ibkit", "devinfo", "--json")
	if err := json.Unmarshal([]byte(r.Stdout), &ours); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{"Down": "DOWN", "Initialize": "INIT", "Armed": "ARMED", "Active": "ACTIVE"}
	phys := map[string]string{"Disabled": "DISABLED", "LinkUp": "LINK_UP"}
	var got, want []string
	for _, l := range links {
		want = append(want, fmt.Sprint(l.Ifname, l.Port, l.State, l.Physical, l.Netdev))
	}
	for _, d := range ours.Devices {
		for _, p := range d.Ports {
			got = append(got, fmt.Sprint(d.Name, p.Port, states[p.State], phys[p.PhysState], p.Netdev))
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, rdma has %q", got, want)
	}
}

// TestWatch changes devices during --watch.
func TestWatch(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec)
	w := g.MustStart(t, "ibkit", "devinfo", "--watch")
	step := func(text string, args ...string) {
		t.Helper()
		if len(args) > 0 {
			g.Must(t, args...)
		}
		if err := w.AwaitOutput(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	step("rxe1/1 is active")
	step("rxe0/1 went down", "ip", "link", "set", g.Ports[0].Netdev, "down")
	step("rxe0/1 is active again", "ip", "link", "set", g.Ports[0].Netdev, "up")
	step("rxe1 was removed", "rdma", "link", "delete", "rxe1")
	step("rxe9 was added", "rdma", "link", "add", "rxe9", "type", "rxe", "netdev", g.Ports[1].Netdev)
	if err := w.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if r, err := w.Wait(t.Context()); err != nil || r.Code != 0 {
		t.Errorf("%v, exit code %d: %s", err, r.Code, r.Stderr)
	}
}

// TestVanishing runs ibkit while a device is removed and added.
func TestVanishing(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec)
	loop := fmt.Sprintf("while true; do rdma link delete rxe1; rdma link add rxe1 type rxe netdev %s; done", g.Ports[1].Netdev)
	p := g.MustStart(t, "sh", "-c", loop)
	for range testenv.Rounds(10, 40) {
		for _, line := range []string{"devinfo --json", "ibv_devinfo -v", "ibstat"} {
			r := g.MustRun(t, append([]string{"ibkit"}, strings.Fields(line)...)...)
			// The classic tools end with an error number; a panic ends with 2.
			wrong := r.Code == 2 || strings.HasPrefix(line, "devinfo") && r.Code != 0 && r.Code != 4
			if wrong || !strings.Contains(r.Stdout, "rxe0") {
				t.Fatalf("%s: exit code %d\n%s%s", line, r.Code, r.Stdout, r.Stderr)
			}
		}
	}
	if err := p.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
