//go:build oracle

package oracle

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// sysstatServers start a system status server at a node.
var sysstatServers = map[string]func(t *testing.T, f *pingFabric){
	"Debian's": func(t *testing.T, f *pingFabric) {
		d, err := f.StartC(f.server, "starting to serve", []string{"SIM_SET_ISSM=1"}, "ibsysstat", "-S", "-d")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Stop() })
	},
	"ibkit's": func(t *testing.T, f *pingFabric) {
		f.NewDaemon(t, f.server, "starting to serve", ibkit(), "ibsysstat", "-S", "-d")
	},
	"query --serve": func(t *testing.T, f *pingFabric) {
		f.NewDaemon(t, f.server, "serving Ping", ibkit(), "query", "--serve")
	},
}

// sysstatLines are ibsysstat command lines. LID and GUID are replaced with the server's.
var sysstatLines = []string{
	"LID", "LID ping", "LID host", "LID cpu", "-L LID host", "--Lid LID ping", "-G GUID host", "--Guid GUID cpu",
	"-o 0x1405 LID host", "--oui 5125 LID", "-o 0x01001405 LID", "-t 20000 -o 0x1406 LID", "-t 20000 -o x LID host",
	"-t 2000 LID", "--timeout 2000 LID cpu", "-v LID", "--verbose -vv LID host", "-e LID host", "--errors LID", "-P 1 LID", "--Port 1 LID host",
	"-C ibsim0 LID", "--Ca ibsim0 LID cpu", "-G -s SMLID GUID", "-z /nonexistent LID", "-C nosuch LID", "-P 9 LID host",
	"-t 20000 0xbff0", "-t 20000 0xbff0 cpu", "0", "65535", "0xc000", "x", "-G 0", "-t 0 LID", "-s 0 LID",
	"LID nosuch", "LID Host", "LID ping more", "-D 0,1", "-K LID", "-y 1 LID", "--nosuch LID", "-o", "-h", "--help", "",

	"--config /nonexistent LID host", "--sm_port SMLID -G GUID", "--debug LID host", "-d LID", "--version", "-V",
}

// cpuClock matches a processor's clock rate, which changes.
var cpuClock = regexp.MustCompile(`MHZ  [\d.]+`)

// TestSysstat queries all servers with both clients on both simulators. Output and exit code
// must be equal.
func TestSysstat(t *testing.T) {
	for i, fabric := range slices.Sorted(maps.Keys(pingFabrics)) {
		for k, server := range slices.Sorted(maps.Keys(sysstatServers)) {
			t.Run(fabric+", "+server, func(t *testing.T) {
				t.Parallel()
				f := newPingFabric(t, fabric)
				sysstatServers[server](t, f)
				sm := strings.TrimSpace(f.MustRun(t, f.client, ibkit(), "addr", "--plain", "--columns", "sm-lid").Stdout)
				expand := strings.NewReplacer("GUID", f.guid, "SMLID", sm, "LID", f.lid)
				for _, line := range ibsimtest.Share(sysstatLines, i+k, len(sysstatServers)) {
					t.Run(line, func(t *testing.T) { compareSysstat(t, f, strings.Fields(expand.Replace(line))) })
				}
				for line, want := range map[string]string{"Ping LID": "reply after ", "HostInfo SERVER": "(", "cpu LID": "cpu 0: model "} {
					args := strings.Fields(strings.NewReplacer("LID", f.lid, "SERVER", f.server).Replace(line))
					if r := f.MustRun(t, f.client, ibkit(), append([]string{"query"}, args...)...); r.Code != 0 || !strings.Contains(r.Stdout, want) {
						t.Errorf("query %s: got exit code %d and\n%s%swant %q", line, r.Code, r.Stdout, r.Stderr, want)
					}
				}
			})
		}
	}
}

// compareSysstat compares the two clients.
func compareSysstat(t *testing.T, f *pingFabric, args []string) {
	t.Helper()
	want := f.MustRunC(t, f.client, "ibsysstat", args...)
	got := f.MustRun(t, f.client, ibkit(), append([]string{"ibsysstat"}, args...)...)
	mask := func(s string) string { return cpuClock.ReplaceAllString(processID.ReplaceAllString(s, "[pid]"), "MHZ") }
	if strings.Contains(want.Stderr, "umad_recv failed.: Connection timed out") {
		// The transport does not report the timeout, and the C tool aborts without output.
		want.Stdout = got.Stdout
	}
	if d := cmp.Diff(mask(want.Stdout), mask(got.Stdout)); d != "" || got.Code != want.Code {
		t.Errorf("got exit code %d, want %d; C tool (-), ibkit (+)\n%s%s%s", got.Code, want.Code, d, want.Stderr, got.Stderr)
	}
	if want.Code == 2 && got.Stderr != want.Stderr {
		t.Errorf("usage: C tool (-), ibkit (+)\n%s", cmp.Diff(want.Stderr, got.Stderr))
	}
}
