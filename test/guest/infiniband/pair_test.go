//go:build guest

package infiniband_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
)

// TestPair runs ibkit on the two devices of an adapter with planes: ibtest0 sends general
// packets only and reports IsSMDisabled, ibtest1 directed-route packets only. Both have
// the same port GUID. The output must be the same as on a host with a single device.
func TestPair(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, "smpquery", "perfquery"))
	lines := testenv.Cases([]string{
		"ibkit linkinfo", "ibkit topology", "ibnetdiscover", "smpquery portinfo 3 1", "ibkit query PortCountersExtended leaf1 1",
		"perfquery 3 1", "ibaddr", "saquery NR", "sminfo", "dump_fts", "ibtracert 5 9", "ibkit sm --sm-wait 0", "smpquery nodeinfo 4000 -t 100",
	},
		"iblinkinfo", "smpquery nodeinfo 3", "smpquery nodedesc 9", "smpquery pkeys 3 2",
		"ibkit query PortInfo leaf1 all", "ibkit query NodeDescription 1-22", "ibaddr 9", "ibroute 3", "ibkit route node02 node07", "ibkit check routes",
	)
	one := ibports.PlugIn(t, g, "demo", "node02", "node07")
	want := map[string]guest.Result{}
	for _, line := range lines {
		want[line] = g.MustRun(t, append(words(line), "-C", "ibtest0")...)
	}
	one.Unplug()

	ibports.PlugIn(t, g, "demo", "node02", "node02", "-general", "ibtest0", "-management", "ibtest1")
	for _, line := range lines {
		for _, device := range []string{"", "ibtest0", "ibtest1"} {
			args := words(line)
			if device != "" {
				args = append(args, "-C", device)
			}
			t.Run(strings.Join(args, " "), func(t *testing.T) {
				got := g.MustRun(t, args...)
				if steady(got.Stdout) != steady(want[line].Stdout) || got.Code != want[line].Code {
					t.Errorf("got exit code %d and\n%s%s\nwant %d and\n%s", got.Code, got.Stdout, got.Stderr, want[line].Code, want[line].Stdout)
				}
			})
		}
	}

	// Debian's tools 44.0 do not know pairs: neither device does for both kinds.
	for _, args := range [][]string{{"smpquery", "-t", "100", "-C", "ibtest0", "-D", "nodeinfo", "0,1"}, {"perfquery", "-t", "100", "-C", "ibtest1", "3", "1"}} {
		if r := g.MustRun(t, args...); r.Code == 0 {
			t.Errorf("%s: got exit code 0, want a timeout: the device sends packets of the other one", strings.Join(args, " "))
		}
	}
}

// words returns the arguments in a command line for ibkit or a classic name.
func words(line string) []string {
	args := strings.Fields(line)
	if args[0] != "ibkit" {
		args = append([]string{"ibkit"}, args...)
	}
	return args
}

// steady returns output without the parts that differ between runs.
func steady(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "activity count") && !strings.Contains(line, "Xmit") && !strings.Contains(line, "Rcv") && !strings.Contains(line, "SymbolError") &&
			!strings.Contains(line, "Master") && !strings.HasPrefix(line, "read ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(blocks(strings.Join(kept, "")), "")
}
