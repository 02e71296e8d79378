package oracle

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/releases"
)

// portstateLines are ibportstate operations on port 3 of the first switch, its port 0, and
// a host. They change the fabric one after another: the lines in a row belong together.
var portstateLines = [][]string{
	{"-D 0 1", "-D 0,1 0", "-D 0,1 3", "-D 0,1 3 query", "-D 0,1 4", "-D 0,1,3 5", "-D 0,1 200", "-D 0,1 x", "-e -D 0,1 -1", "-K -D 0,1 0", "-K -D 0 1"},
	{"-D 0,1 3 speed 1", "-D 0,1 3 speed 3", "-D 0,1 3 speed 7", "-D 0,1 3 speed 15", "-D 0,1 3 speed 0", "-D 0,1 3 speed 16", "-D 0,1 3 speed"},
	{"-D 0,1 3 width 1", "-D 0,1 3 width 2", "-D 0,1 3 width 3", "-D 0,1 3 width 16", "-D 0,1 3 width 255", "-D 0,1 3 width 32", "-D 0,1 3 width 0"},
	{"-D 0,1 3 espeed 1", "-D 0,1 3 espeed 2", "-D 0,1 3 espeed 7", "-D 0,1 3 espeed 30", "-D 0,1 3 espeed 31", "-D 0,1 3 espeed 64", "-D 0,1 3"},
	{"-D 0,1 3 mtu 2", "-D 0,1 3 mtu 0", "-D 0,1 3 mtu 6", "-D 0,1 3 vls 1", "-D 0,1 3 vls 0", "-D 0,1 3 vls 6", "-D 0,1 3 vls 2 mtu 4 speed 7 width 3"},
	{"-D 0,1 3 down", "-D 0,1 3", "-D 0,1 3 arm", "-D 0,1 3 active", "-D 0,1 3 active"},
	{"-D 0,1 3 reset", "-D 0,1 3 on", "-D 0,1 3 enable", "-D 0,1 3 disable", "-D 0,1 3", "-D 0,1 3 on", "-D 0,1 3 off", "-D 0,1 3 enable", "-D 0,1 3 reset speed 3 width 1"},
	{"-D 0,1 0 lid 77", "-D 0,1 0 smlid 9 lmc 1", "-D 0,1 0 lid 0", "-D 0,1 0 lid 0xc000", "-D 0,1 0 smlid 0xffff", "-D 0,1 0 lmc 8"},
	{"-D 0,1 0 mkeylease 9 mkeyprot 1", "-D 0,1 0 mkeyprot 0", "-D 0,1 0 mkey 0x77", "-K -y 0x77 -D 0,1 0", "-y 0x77 -D 0,1 0 mkey 0", "-D 0,1 0 mkeylease 65536", "-D 0,1 0 mkeyprot 4"},
	{"-D 0,1 3 mkey 5", "-D 0,1 3 mkeylease 5", "-D 0,1 3 mkeyprot 1"},
	{"-D 0 1 mtu 3", "-D 0 1 lid 0x1234 arm", "-D 0 1 smlid 3 mtu 4 lmc 0", "-D 0 1"},
	{"-D 0,1 3 enable disable", "-D 0,1 3 query query", "-D 0,1 3 nosuch", "-D 0,1 3 fdr10 2", "-D 0,1 3 mtu 0x2 nosuch", "-D 0,1 3 enable arm"},
	{"-D 0,1 3 fdr10 1", "-D 0,1 3 fdr10 0", "-D 0,1 3"},
	{"-D 0,1", "", "-h", "-V", "--nosuch", "-C nosuch 3 1", "-D x 1", "0 1", "-t 20000 0xbff0 1", "-t 20000 -e -D 0,99 1", "-t 20000 -d 0xbff0 1"},
}

// lidLines begin at LIDs: a switch's and a host's, in a fabric that a subnet
// manager configured.
var lidLines = []string{
	"SWLID 0", "LID 1", "LID 1 query", "LID 0", "SWLID 5 mtu 2", "SWLID 5 espeed 0 vls 1", "SWLID 5 disable", "-D 0,1 5", "SWLID 5 enable", "-D 0,1 5", "LID 1 mtu 2", "-L SWLID 6", "-t 20000 0xbff0 1",
}

// changeLine matches a line with an operation, and its port. ibsim drops requests to the
// peer of a port with a LID.
var changeLine = regexp.MustCompile(`^(-D \S+ \d+) [a-z]`)

// comparePorts runs each command line with the C tool on one server and with ibkit on
// another. Both must print the same, and both servers must have the same state afterwards,
// as the tools read it.
func comparePorts(t *testing.T, forC, forUs *ibsimtest.Sim, host string, lines []string, dump func(*ibsimtest.Sim, runner) string, words ...string) {
	t.Helper()
	expand := strings.NewReplacer(words...)
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			c, us := theirTools(t, forC, host), ourTools(t, forUs, host)
			args := strings.Fields(expand.Replace(line))
			comparePort(t, c("ibportstate", args...), us("ibportstate", args...))
			if d := cmp.Diff(dump(forC, c), dump(forUs, us)); d != "" {
				t.Errorf("state after the C tool (-), after ibkit (+)\n%s", d)
			}
			if change := changeLine.FindStringSubmatch(line); change != nil {
				port := strings.Fields(expand.Replace(change[1]))
				comparePort(t, c("ibportstate", port...), us("ibportstate", port...))
			}
		})
	}
}

// comparePort compares the lines that ibportstate of each release prints.
func comparePort(t *testing.T, want, got ibsimtest.Result) {
	t.Helper()
	want.Stdout, got.Stdout = releases.Common("ibportstate", want.Stdout), releases.Common("ibportstate", got.Stdout)
	compareResults(t, want, got)
}

// TestIbportstate_Served compares the tools on fabrics that ibkit serves: links train
// there, and agents check keys and values.
func TestIbportstate_Served(t *testing.T) {
	t.Parallel()
	dump := func(_ *ibsimtest.Sim, run runner) string { return run("iblinkinfo", "-l", "-p", "-D", "0,1").Stdout }
	hosts := map[string]string{"demo": "node07", "../nets/fdr10.net": ""}
	for i, fabric := range slices.Sorted(maps.Keys(hosts)) {
		t.Run(filepath.Base(fabric), func(t *testing.T) {
			lines := slices.Concat(ibsimtest.Share(portstateLines, i, len(hosts))...)
			if fabric != "demo" {
				lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, "speed") && !strings.Contains(line, "fdr10") })
			}
			comparePorts(t, serveFabric(t, fabric), serveFabric(t, fabric), hosts[fabric], lines, dump)
		})
	}
	t.Run("LID", func(t *testing.T) {
		const fabric, host = "single-switch:hosts=4,radix=8", "host002"
		forC, forUs := serveFabric(t, fabric), serveFabric(t, fabric)
		comparePorts(t, forC, forUs, host, lidLines, dump, "SWLID", lidOfSwitch(t, forUs, "switch1"), "LID", lidOf(t, forC, "host001"))
	})
	t.Run("combined", func(t *testing.T) {
		s := serveFabric(t, "demo")
		for _, line := range []string{"3 1", "3 3", "8 5", "4 1", "-G 0x0002c90000800200 3", "3 9"} {
			t.Run(line, func(t *testing.T) {
				args := append([]string{"ibportstate"}, strings.Fields(line)...)
				want := s.MustRunC(t, "node07", args[0], args[1:]...)
				comparePort(t, want, s.MustRun(t, "node07", ibkit(), args...))
			})
		}
	})
}
