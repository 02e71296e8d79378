//go:build oracle

package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// newWornRig returns the same worn fabric in ibsim and in ibkit's simulator.
func newWornRig(t *testing.T) (theirs, ours *ibsimtest.Sim) {
	t.Helper()
	r := newSARig(t)
	ours = serveLive(t, r.topo)
	for _, c := range worn {
		ibsimName := strings.Replace(c.name, "PktErrors", "PacketErrors", 1)
		r.theirs.MustCommand(t, fmt.Sprintf("PerformanceSet %q[%d] %s.%s=%d", c.node, c.port, c.attr, ibsimName, c.value))
		ctl(t, ours, fmt.Sprintf("counter %s[%d] %s %d", c.node, c.port, c.name, c.value))
	}
	return r.theirs, ours
}

// Differences between the simulators: capabilities and traffic.
var (
	perfCapabilities = regexp.MustCompile(`\(CapMask: .*\)`)
	trafficCounters  = regexp.MustCompile(`(?m)^Port(Unicast|Multicast)?(Xmit|Rcv)(Data|Pkts):.*\n`)
)

func withoutTraffic(r ibsimtest.Result) ibsimtest.Result {
	r.Stdout = perfCapabilities.ReplaceAllString(r.Stdout, "")
	r.Stdout = trafficCounters.ReplaceAllString(r.Stdout, "")
	return r
}

// TestPerfquery reads, adds up and resets the counters in a worn fabric with Debian's
// perfquery, in ibsim and in ibkit's simulator. Each line depends on the lines before it.
func TestPerfquery(t *testing.T) {
	t.Parallel()
	theirs, ours := newWornRig(t)
	for _, line := range []string{
		"", "1 1", "2 1", "2 2", "2 3", "3 5", "5 2", "6 2", "2 0",
		"-D 2 2", "-E 3 5", "--oprcvcounters 1 1", "--flowctlcounters 1 1",
		"-a 2", "-a 2 1,3", "-a 2 1-3", "-l 2 1-3", "-l 2 1,2",
		"-r 2 1", "2 1", // read, then reset
		"-R 2 2 0x0020", "2 2", // a counter that is not set
		"-R 2 2 0x0040", "2 2", // discards
		"-D -R 2 2", "-D 2 2", "-E -r 3 5", "-E 3 5", "3 5",
		"-R -a 2", "-a 2", "-l 2 1-8",
		"-R 1 1 0x0fff", "1 1",
		"2 9", "-t 20000 77 1", "-t 20000 -x 77 1", // no such port, no such LID
	} {
		args := strings.Fields(line)
		want := withoutTraffic(theirs.MustRunC(t, "Hca1", "perfquery", args...))
		got := withoutTraffic(ours.MustRunC(t, "Hca1", "perfquery", args...))
		if d := diff(want, got); d != "" {
			t.Errorf("perfquery %s: ibsim (-), ibkit (+)\n%s", line, d)
		}
	}
}

// TestIbqueryerrors lists the errors in a worn fabric with Debian's ibqueryerrors, in
// ibsim and in ibkit's simulator.
func TestIbqueryerrors(t *testing.T) {
	t.Parallel()
	theirs, ours := newWornRig(t)
	thresholds := filepath.Join(t.TempDir(), "thresholds")
	if err := os.WriteFile(thresholds, []byte("SymbolErrorCounter=5000\nPortRcvErrors=10\nLinkDownedCounter=0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"", "--details", "-r", "--switch", "--ca", "--router", "-c",
		"-s SymbolErrorCounter,LinkDownedCounter", "--threshold-file " + thresholds,
		"-D 0,1", "--skip-sl", "--details -r --switch",
		"-k --details", "", // clears all errors
	} {
		args := strings.Fields(line)
		want := theirs.MustRunC(t, "Hca1", "ibqueryerrors", args...)
		got := ours.MustRunC(t, "Hca1", "ibqueryerrors", args...)
		if d := diff(want, got); d != "" {
			t.Errorf("ibqueryerrors %s: ibsim (-), ibkit (+)\n%s", line, d)
		}
		if line == "--details" && strings.Count(want.Stdout, "==") < len(worn)/2 {
			t.Errorf("few errors in\n%s", want.Stdout)
		}
	}
}

var counterLine = regexp.MustCompile(`(?m)^(\w+):\.*(\d+)$`)

// counterValues returns the counters in the perfquery output, without QP1Dropped, for
// which it prints VL15Dropped (see mad.PortCounters).
func counterValues(text string) map[string]string {
	found := map[string]string{}
	for _, m := range counterLine.FindAllStringSubmatch(text, -1) {
		if m[1] != "PortSelect" && m[1] != "QP1Dropped" {
			found[m[1]] = m[2]
		}
	}
	return found
}

// TestCountersByName sets each perfquery counter by its name there, and reads it with
// perfquery. ibsim does not have all of them.
func TestCountersByName(t *testing.T) {
	t.Parallel()
	s := serveLive(t, "single-switch:hosts=3")
	sw := lidOfSwitch(t, s, "switch1")
	for _, table := range []string{
		"", "-x", "-X", "-S", "-D", "-E", "-T",
		"--oprcvcounters", "--flowctlcounters", "--vloppackets", "--vlopdata", "--vlxmitflowctlerrors", "--vlxmitcounters",
		"--swportvlcong", "--rcvcc", "--slrcvfecn", "--slrcvbecn", "--xmitcc", "--vlxmittimecc",
	} {
		// The default timeout is too short for a busy machine.
		args := append(strings.Fields(table), "-t", "20000", sw, "2")
		want := counterValues(s.MustRunC(t, "", "perfquery", args...).Stdout)
		i := 0
		for name := range want {
			i++
			value := strconv.Itoa(1 + i%3) // which fits the smallest counter, with two bits
			if table == "-x" {
				value = strconv.Itoa(i * 1e12)
			}
			want[name] = value
			ctl(t, s, "counter switch1[2] "+name+" "+value)
		}
		got := counterValues(s.MustRunC(t, "", "perfquery", args...).Stdout)
		if d := cmp.Diff(want, got); d != "" || len(want) == 0 {
			t.Errorf("perfquery %s: set (-), read (+)\n%s", table, d)
		}
	}
}

// TestServedTraffic reads with perfquery the counters that a load increments at both
// ends of a link.
func TestServedTraffic(t *testing.T) {
	s := serveLive(t, "--sim-model", "load=0.5,uptime=1h,seed=3", "single-switch:hosts=3")
	sw := lidOfSwitch(t, s, "switch1")
	sent := counterValues(s.MustRunC(t, "", "perfquery", "-x", "1", "1").Stdout)
	received := counterValues(s.MustRunC(t, "", "perfquery", "-x", sw, "1").Stdout)
	for a, b := range map[string]string{"PortXmitData": "PortRcvData", "PortXmitPkts": "PortRcvPkts", "PortMulticastXmitPkts": "PortMulticastRcvPkts"} {
		x, err := strconv.ParseUint(sent[a], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		y, err := strconv.ParseUint(received[b], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if x == 0 || y < x {
			t.Errorf("%s %d, and a moment later at the other end %s %d", a, x, b, y)
		}
	}
}
