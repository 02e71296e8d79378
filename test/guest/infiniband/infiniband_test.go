//go:build guest

// Package infiniband_test runs ibkit and Debian's tools on InfiniBand ports in a real
// kernel, through /dev/infiniband/umadN.
package infiniband_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
	"github.com/ibkit/ibkit/test/releases"
)

// tools are Debian programs that query a fabric or this host's ports.
var tools = []string{
	"iblinkinfo", "ibnetdiscover", "smpquery", "perfquery", "ibqueryerrors", "ibping", "ibaddr", "sminfo", "saquery", "smpdump",
	"ibstat", "ibstatus", "ibv_devinfo", "ibv_devices",
}

const devicePackage = "github.com/ibkit/ibkit/umad/device"

// both runs a command line with Debian's tool and with ibkit, and compares.
func both(t *testing.T, g *guest.Guest, line string) {
	t.Run(line, func(t *testing.T) {
		args := strings.Fields(line)
		want := g.MustRun(t, args...)
		got := g.MustRun(t, append([]string{"ibkit"}, args...)...)
		for _, r := range []*guest.Result{&want, &got} {
			r.Stdout = releases.Common(args[0], releases.Upgrade(args[0], r.Stdout))
		}
		if !slices.Equal(blocks(got.Stdout), blocks(want.Stdout)) || got.Code != want.Code || want.Stdout == "" {
			t.Errorf("got exit code %d and\n%s%s\nwant %d and\n%s%s", got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
		}
	})
}

// blocks splits the iblinkinfo output into sorted blocks, one for each node: their order
// depends on the reply order.
func blocks(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    ") && len(found) > 0 {
			found[len(found)-1] += line
		} else {
			found = append(found, line)
		}
	}
	slices.Sort(found)
	return found
}

// TestSame compares the output under classic names.
func TestSame(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, tools...))
	// Ports that are down, without a fabric.
	for _, line := range []string{"ibstat", "ibstatus", "ibv_devinfo -v"} {
		both(t, g, line)
	}
	ibports.PlugIn(t, g, "demo", "node02", "node07")
	for _, line := range testenv.Cases([]string{
		"ibstat", "ibstat -p", "ibstatus", "ibv_devices", "ibv_devinfo -v", "iblinkinfo", "iblinkinfo -l", "iblinkinfo -C ibtest1", "iblinkinfo -D 0,1 -n 1",
		"ibaddr -C ibtest1 -P 1", "ibaddr -g 4", "ibaddr -D 0,1", "ibaddr -G 0x0002c90000100801",
	},
		"ibstat -l", "ibstat -s ibtest1", "ibstatus ibtest1:1", "ibv_devinfo", "ibv_devinfo -l", "ibv_devinfo -d ibtest1 -i 1",
		"iblinkinfo -p", "iblinkinfo -d", "iblinkinfo --switches-only", "ibaddr", "ibaddr -l 9", "ibaddr -L 13",
	) {
		both(t, g, line)
	}
	t.Run("counters", func(t *testing.T) { counters(t, g) })
	t.Run("classic counters", func(t *testing.T) { sameCounters(t, g) })
}

// TestTools runs Debian tools without a counterpart to test the ports: directed routes
// and LIDs, subnet and performance management, subnet administration tables that the
// kernel reassembles.
func TestTools(t *testing.T) {
	t.Parallel()
	spec := ibports.Spec(t, tools...)
	spec.Programs = append(spec.Programs, guest.Program{Package: devicePackage, Test: true})
	g := guest.New(t, spec)
	// 128 hosts: tables of some hundred segments.
	ibports.PlugIn(t, g, "fat-tree:radix=16,pods=16", "host00003", "host00100")
	for line, want := range map[string]string{
		"smpquery nodeinfo -D 0":   `NodeType:\.*Channel Adapter`,
		"smpquery nodeinfo -D 0,1": `NodeType:\.*Switch`,
		"smpquery portinfo 7 1":    `LinkState:\.*Active`,
		"smpquery nodedesc 1":      `Node Description:\.*host00001`,
		"perfquery":                `PortXmitPkts:`,
		"perfquery -x -C ibtest1":  `PortXmitData:`,
		"sminfo":                   `sm lid 1 sm guid 0x\w+, activity count \d+ priority 0 state 3 SMINFO_MASTER`,
		"ibqueryerrors":            `## Summary: 152 nodes checked, 0 bad nodes found`,
		"saquery --list":           `host00128`,
	} {
		t.Run(line, func(t *testing.T) {
			r := g.MustRun(t, strings.Fields(line)...)
			if r.Code != 0 || !regexp.MustCompile(want).MatchString(r.Stdout) {
				t.Errorf("got exit code %d, want 0 with %q:\n%s%s", r.Code, want, r.Stdout, r.Stderr)
			}
		})
	}
	count := func(what string, args ...string) int {
		t.Helper()
		return strings.Count(g.Must(t, args...), what)
	}
	if n := count("\nCa\t", "ibnetdiscover"); n != 128 {
		t.Errorf("ibnetdiscover: %d hosts", n)
	}

	// The kernel reassembles ibkit's tables as well.
	got := g.Must(t, "device.test", "-test.v", "-test.run=^TestGuestTables$")
	for kind, records := range map[string]int{
		"NodeRecord":                  count("NodeRecord dump", "saquery", "NR"),
		"PortInfoRecord":              count("PortInfoRecord dump", "saquery", "PIR"),
		"LinkRecord":                  count("LinkRecord dump", "saquery", "LR"),
		"LinearForwardingTableRecord": count("LFT Record dump", "saquery", "LFTR"),
	} {
		t.Run(kind, func(t *testing.T) {
			if want := fmt.Sprintf("%s: %d records\n", kind, records); records < 24 || !strings.Contains(got, want) {
				t.Errorf("got\n%s\nwant %q in it", got, want)
			}
		})
	}
}

// TestSubnetManager configures a fabric with opensm, which answers queries from its own
// host and another host.
func TestSubnetManager(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, append(tools, "opensm", "ibportstate")...))
	ibports.PlugIn(t, g, "fat-tree:radix=8,pods=4", "host00001", "host00010", "-sm", "off")
	if r := g.MustRun(t, "ibstat", "ibtest0", "1"); !strings.Contains(r.Stdout, "State: Initializing") {
		t.Errorf("before:\n%s", r.Stdout)
	}
	g.Must(t, "mkdir", "-p", "/var/cache/opensm", "/var/log")
	sm := g.MustStart(t, "opensm", "-f", "stdout", "-g", "0x"+guid(t, g, "ibtest0"))
	if err := sm.AwaitOutput(t.Context(), "SUBNET UP"); err != nil {
		t.Fatal(err)
	}
	if r := g.MustRun(t, "ibkit", "linkinfo"); r.Code != 0 || strings.Contains(r.Stdout, "Initialize") {
		t.Errorf("links: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	for _, line := range []string{"ibstat", "ibaddr", "ibaddr -C ibtest1", "iblinkinfo"} {
		both(t, g, line)
	}
	for _, device := range ibports.Devices {
		if r := g.MustRun(t, "ibstat", device, "1"); !strings.Contains(r.Stdout, "State: Active") {
			t.Errorf("after:\n%s", r.Stdout)
		}
		if n := strings.Count(g.Must(t, "saquery", "-C", device, "NR"), "NodeRecord dump"); n != 24 {
			t.Errorf("by %s: %d nodes", device, n)
		}
		both(t, g, "ibaddr -C "+device+" -G 0x"+guid(t, g, ibports.Devices[1]))
	}
	compareQueries(t, g)
	compareSources(t, g)
}

// compareSources compares the fabric in opensm's records with a scan: they are the same
// until an address changes without opensm's knowledge.
func compareSources(t *testing.T, g *guest.Guest) {
	t.Helper()
	for _, line := range testenv.Cases([]string{"linkinfo --json", "topology --format lst", "counters --csv --all --columns SymbolErrorCounter"},
		"linkinfo --csv", "topology --format csv", "topology --json", "topology --format slurm") {
		for _, device := range testenv.Cases(ibports.Devices[1:], ibports.Devices[0]) {
			args := append(append([]string{"ibkit"}, strings.Fields(line)...), "-C", device)
			t.Run(strings.Join(args[1:], " "), func(t *testing.T) {
				want := g.MustRun(t, args...)
				got := g.MustRun(t, append(args, "--from", "sa")...)
				if d := cmp.Diff(timely.ReplaceAllString(want.Stdout, ""), timely.ReplaceAllString(got.Stdout, "")); d != "" || got.Code != want.Code || want.Stdout == "" {
					t.Errorf("scan (-), opensm (+): exit codes %d and %d\n%s%s%s", want.Code, got.Code, d, want.Stderr, got.Stderr)
				}
			})
		}
	}
	if r := g.MustRun(t, "ibkit", "linkinfo", "--compare"); r.Code != 0 || r.Stdout != "no differences\n" {
		t.Errorf("compare: got exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	// No trap reports a LID that another program than opensm sets.
	route := regexp.MustCompile(`"name":"host00005"[^{]*"route":"([0-9,]+)"`).FindStringSubmatch(g.Must(t, "ibkit", "linkinfo", "--json"))
	if route == nil {
		t.Fatal("linkinfo --json has no route to host00005")
	}
	g.MustRun(t, "ibportstate", "-D", route[1], "1", "lid", "1234")
	r := g.MustRun(t, "ibkit", "linkinfo", "--compare")
	if changed := regexp.MustCompile(`(?m)^changed .* peer LID \d+ .* peer LID 1234$`).MatchString(r.Stdout); r.Code != 3 || !changed {
		t.Errorf("compare with a LID that opensm does not know: got exit code %d, want 3\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}

// timely matches request counts and the start in JSON, and times in CSV.
var timely = regexp.MustCompile(`"stats":\{[^}]*\}|"began":"[^"]*"|(?m:^\d{4}-\d\d-\d\dT[^,]*,)`)

// queryLines are command lines with output that changes only with the fabric: each kind of
// record, key and attribute. The kernel reassembles opensm's long replies for both tools.
var queryLines = []string{
	"saquery -N", "saquery --list", "saquery -C ibtest1 PIR", "saquery -K PIR 1", "saquery -x", "saquery SWIR",
	"saquery LFTR", "saquery GIR", "saquery SL2VL", "saquery --smkey 1 PKTR", "saquery -p -n 127 --slid 1", "saquery -m",
	"saquery -c", "saquery -L host00010", "saquery --src-to-dst host00001:host00010",
	"saquery -U 0xGUID", "saquery NR host00010", "saquery LR host00001", "saquery VLAR 1", "saquery -v SMIR", "saquery --node-name-map /run/map NR",
	"smpquery -D nd 0,1", "smpquery pi 1 1", "smpquery pkeys 1", "smpquery vlarb 1 1", "smpquery si -D 0,1",
	"smpquery -c ni 1 0", "smpquery -G pi 0xGUID 1", "smpdump 1 0x11", "smpdump -s -D 0,1 16",
}

// moreQueryLines are other forms of them.
var moreQueryLines = []string{
	"saquery", "saquery NR", "saquery -D", "saquery LR", "saquery --x", "saquery VLAR", "saquery -g", "saquery MCMR",
	"saquery -s", "saquery -O 1", "saquery -l host00010", "saquery -G host00010", "saquery host00010", "saquery PIR 1", "saquery PIR host00010",
	"saquery GIR 1", "saquery SL2VL 1", "saquery -p --dlid 1", "saquery -K MCMR",
	"smpquery ni 1", "smpquery sl2vl -D 0,1 1", "smpquery gi 1", "smpdump -D 0,1 0x12",
}

// missLines are queries for names, GUIDs and records that the fabric does not have.
var missLines = []string{
	"saquery -L nosuch", "saquery -U 0xdead", "saquery -O 99", "saquery PIR /1", "saquery LFTR 1", "saquery --smkey 1 -m 0xc000",
}

// moreMissLines are other forms of them.
var moreMissLines = []string{"saquery -l nosuch", "saquery -G nosuch", "saquery nosuch"}

// compareQueries compares queries to nodes and to opensm.
func compareQueries(t *testing.T, g *guest.Guest) {
	t.Helper()
	g.Must(t, "sh", "-c", `echo "0x$1 \"a name from the map\"" >/run/map`, "sh", guid(t, g, ibports.Devices[1]))
	for _, line := range testenv.Cases(queryLines, moreQueryLines...) {
		both(t, g, strings.ReplaceAll(line, "GUID", guid(t, g, ibports.Devices[1])))
	}
	for _, line := range testenv.Cases(missLines, moreMissLines...) {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			want := g.MustRun(t, args...)
			got := g.MustRun(t, append([]string{"ibkit"}, args...)...)
			if got.Stdout != want.Stdout || got.Stderr != want.Stderr || got.Code != want.Code {
				t.Errorf("got exit code %d and\n%s%s\nwant %d and\n%s%s", got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
			}
		})
	}
	r := g.MustRun(t, "ibkit", "sm", "--sm-wait", "10ms")
	if want := "1 subnet manager: no problems found\n"; r.Code != 0 || !strings.HasSuffix(r.Stdout, want) {
		t.Errorf("sm: got exit code %d\n%s%swant %s", r.Code, r.Stdout, r.Stderr, want)
	}
}

// guid returns a device's port GUID as hexadecimal digits.
func guid(t *testing.T, g *guest.Guest, device string) string {
	t.Helper()
	gid := strings.TrimSpace(g.Must(t, "cat", "/sys/class/infiniband/"+device+"/ports/1/gids/0"))
	return strings.Join(strings.Split(gid, ":")[4:], "")
}

// TestPing pings another host with Debian's ibping, by LID and GUID.
func TestPing(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, tools...))
	ibports.PlugIn(t, g, "demo", "node02", "node07")
	// The output stays in the buffer.
	server := g.MustStart(t, "ibping", "-S", "-C", "ibtest1", "-ddd")
	if err := server.AwaitOutput(t.Context(), "umad_recv: fd"); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"ibping -C ibtest0 -c 10 -f 11", "ibping -C ibtest0 -c 10 -f -G 0x" + guid(t, g, "ibtest1"),
		"ibkit ping -C ibtest0 -c 10 -f --via vendor 11",
	} {
		if r := g.MustRun(t, strings.Fields(line)...); r.Code != 0 || !strings.Contains(r.Stdout, "10 received") {
			t.Errorf("%s: exit code %d\n%s%s", line, r.Code, r.Stdout, r.Stderr)
		}
	}
}

// TestCalls checks the system calls in a scan: the newer registration, one write per
// request, reads that do not block, and no thread for each read.
func TestCalls(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, "strace"))
	ibports.PlugIn(t, g, "demo", "node02", "node07")
	trace := g.MustRun(t, "strace", "-f", "--seccomp-bpf", "-y", "-e", "trace=ioctl,read,write,epoll_ctl,epoll_pwait,clone,clone3", "ibkit", "linkinfo", "-C", "ibtest0").Stderr
	count := func(pattern string) int { return len(regexp.MustCompile(pattern).FindAllString(trace, -1)) }
	registrations := count(`ioctl\(\d+</dev/infiniband/umad0>, IB_USER_MAD_REGISTER_AGENT2\b`)
	// Reads and writes both move 320 bytes, and a call that another thread interrupts
	// has two lines.
	writes := count(`write\(\d+</dev/infiniband/umad0>`)
	reads := count(` = 320\n`) - writes
	polled := count(`epoll_ctl\(.*EPOLL_CTL_ADD, \d+</dev/infiniband/umad0>`)
	threads := count(`clone3?\(`)
	if registrations != 1 || writes < 100 || reads != writes || polled != 1 || threads > 20 {
		t.Errorf("%d registrations, %d writes, %d reads of replies, polled %d times, %d threads\n%s", registrations, writes, reads, polled, threads, trace)
	}
	t.Logf("%d requests, %d threads", writes, threads)
}

// TestOrdinaryUser tests access to the device nodes.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t))
	ibports.PlugIn(t, g, "demo", "node02", "node07")
	run := func() guest.Result {
		r, err := g.Run(t.Context(), guest.Command{Args: []string{"ibkit", "linkinfo"}, User: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(); r.Code != 1 || !strings.Contains(r.Stderr, "open /dev/infiniband/umad") || !strings.Contains(r.Stderr, "permission denied") || !strings.Contains(r.Stderr, "group") {
		t.Errorf("without access: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	g.Must(t, "chmod", "0666", "/dev/infiniband/umad0", "/dev/infiniband/umad1")
	if r := run(); r.Code != 3 || r.Stderr != "" || !strings.Contains(r.Stdout, "16 channel adapters") {
		t.Errorf("with access: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}

// TestKernel tests how the kernel handles MADs.
func TestKernel(t *testing.T) {
	t.Parallel()
	spec := ibports.Spec(t)
	spec.Programs = append(spec.Programs, guest.Program{Package: devicePackage, Test: true})
	g := guest.New(t, spec)
	ibports.PlugIn(t, g, "demo", "node02", "node07")
	t.Log(g.Must(t, "device.test", "-test.v", "-test.run=^TestGuest(Timeout|Outstanding|Unread)$"))
}

// TestUnload removes the module during a scan, which must end at once.
func TestUnload(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t))
	b := ibports.PlugIn(t, g, "demo", "node02", "node07", "-model", "delay=200ms")
	scan := g.MustStart(t, "ibkit", "linkinfo", "-C", "ibtest0", "--timeout", "60000")
	sent := "/sys/class/infiniband/ibtest0/ports/1/hw_counters/mads_sent"
	if err := g.Await(t.Context(), "sh", "-c", "test $(cat "+sent+") -gt 3"); err != nil {
		t.Fatal(err)
	}
	b.Kill()
	start := time.Now()
	g.Must(t, "rmmod", "ibtest")
	r, err := scan.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(r.Stderr, "\n"); r.Code != 1 || lines > 2 || !strings.Contains(r.Stderr, "(ibtest0): device removed") {
		t.Errorf("exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	t.Logf("rmmod and the end of the scan took %v", time.Since(start))
}

// TestBridgeDies kills the fabric: requests time out. The next bridge provides a fabric
// again.
func TestBridgeDies(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t))
	ibports.PlugIn(t, g, "demo", "node02", "node07").Kill()
	for line, want := range map[string]string{
		"ibkit linkinfo --timeout 100": "sent 3 times: no reply in time",
		"ibkit ibaddr -t 100 4":        "no reply in time",
	} {
		t.Run(line, func(t *testing.T) {
			if r := g.MustRun(t, strings.Fields(line)...); r.Code == 0 || r.Code == 4 || !strings.Contains(r.Stdout+r.Stderr, want) {
				t.Errorf("got exit code %d, want an error with %q\n%s%s", r.Code, want, r.Stdout, r.Stderr)
			}
		})
	}
	ibports.PlugIn(t, g, "demo", "node02", "node07").Unplug()
	if state := g.Must(t, "cat", "/sys/class/infiniband/ibtest0/ports/1/state"); !strings.HasPrefix(state, "1: DOWN") {
		t.Errorf("state without a cable: %s", state)
	}
	ibports.PlugIn(t, g, "demo", "node02", "node07")
	g.Must(t, "ibkit", "ibaddr", "-C", "ibtest0")
}

// complaint matches the beginning of a kernel report about a module fault.
var complaint = regexp.MustCompile(`BUG:|WARNING:|Oops|general protection|scheduling while atomic|refcount_t`)

// TestHostile writes invalid records to the module. The kernel must continue, and new
// ports must work.
func TestHostile(t *testing.T) {
	t.Parallel()
	spec := ibports.Spec(t)
	spec.Programs = append(spec.Programs, guest.Program{Package: ibports.BridgePackage, Test: true})
	g := guest.New(t, spec)
	t.Log(g.Must(t, "simbridge.test", "-test.v", "-test.run=^TestGuestHostile$"))
	g.Must(t, "rmmod", "ibtest")
	g.Must(t, "insmod", "/usr/lib/modules/insert/ibtest.ko")
	ibports.PlugIn(t, g, "demo", "node02", "node07")
	g.Must(t, "ibkit", "ibaddr", "-C", "ibtest0")
	if lines := complaint.FindAllString(g.Console(), -1); lines != nil {
		t.Errorf("the kernel complains: %q\n%s", lines, g.Console())
	}
}

// TestReload loads and unloads the module twenty times, or a hundred with all cases, half
// of them after use.
func TestReload(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, "smpquery"))
	g.Must(t, "sh", "-ec", `for i in $(seq $1); do
		rmmod ibtest
		insmod /usr/lib/modules/insert/ibtest.ko devices=3 ports=2
		rmmod ibtest
		insmod /usr/lib/modules/insert/ibtest.ko
		simbridge demo >/tmp/out & bridge=$!
		until grep -q Plugged /tmp/out; do :; done
		ibkit ibaddr -C ibtest0 >/dev/null
		kill $bridge
		wait $bridge
	done`, "sh", strconv.Itoa(testenv.Rounds(10, 50)))
	if text := g.Console(); strings.Contains(text, "WARNING") || strings.Contains(text, "BUG") {
		t.Errorf("the kernel says:\n%s", text)
	}
}
