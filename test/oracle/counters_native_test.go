//go:build oracle

package oracle

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestCountersEqualPerfquery compares each counter on each port with the output of
// Debian's perfquery on the same ibsim. Traffic counters change with each packet and are
// compared on served fabrics.
func TestCountersEqualPerfquery(t *testing.T) {
	t.Parallel()
	theirs, ours := newWornRig(t)
	for name, s := range map[string]*ibsimtest.Sim{"ibsim": theirs, "sim serve": ours} {
		t.Run(name, func(t *testing.T) {
			compared := 0
			for _, n := range readCounters(t, s, "Hca1", "--all", "--details").Nodes {
				for _, p := range n.Ports {
					if n.LID == nil || p.Time == nil {
						t.Fatalf("%s port %d: no counters", n.Name, p.Number)
					}
					if n.Type == "Channel Adapter" && len(n.Ports) > 1 {
						continue // its ports have separate LIDs
					}
					address := []string{strconv.Itoa(int(*n.LID)), strconv.Itoa(int(p.Number))}
					want := map[string]string{}
					for _, table := range []string{"", "-D", "-E"} {
						r := s.MustRunC(t, "Hca1", "perfquery", append(strings.Fields("-t 20000 "+table), address...)...)
						for counter, v := range counterValues(r.Stdout) {
							want[counter] = v
						}
					}
					for counter, v := range want {
						if isTraffic(counter) {
							continue
						}
						got := p.Counters[strings.Replace(counter, "PacketErrors", "PktErrors", 1)]
						if got == nil && v == "0" {
							continue // the agent does not implement it
						}
						limit, err := strconv.ParseUint(v, 10, 64)
						if err != nil {
							t.Fatal(err)
						}
						if got == nil || *got != limit {
							t.Errorf("%s port %d: %s: got %v, perfquery %s", n.Name, p.Number, counter, deref(got), v)
						}
						if limit > 0 {
							compared++
						}
					}
				}
			}
			if compared < len(worn)/2 {
				t.Errorf("compared %d counters above 0, want at least %d", compared, len(worn)/2)
			}
		})
	}
}

func isTraffic(counter string) bool {
	c, err := counters.ParseCounter(counter)
	return err == nil && c.IsTraffic()
}

// TestCounterRates drives counters at known rates and compares the rates that ibkit shows.
// The simulator counts by its own clock.
func TestCounterRates(t *testing.T) {
	t.Parallel()
	s := serveLive(t, "single-switch:hosts=3")
	want := map[string]float64{
		"PortXmitData": 4e9, "PortRcvData": 1e9, "PortXmitPkts": 2e6, "SymbolErrorCounter": 5000, "PortXmitWait": 25e6,
	}
	for name, rate := range want {
		ctl(t, s, fmt.Sprintf("rate switch1[2] %s %f", name, rate))
	}
	const window = 4 * time.Second
	start := time.Now()
	report := readCounters(t, s, "", "--window", window.String(), "--data", "switch1/2")
	// Each reading may reach ibkit later than it was made, by less than the time that the
	// command took in addition to the window.
	tolerance := 0.01 + (time.Since(start)-window).Seconds()/window.Seconds()
	if len(report.Nodes) != 1 || len(report.Nodes[0].Ports) != 1 {
		t.Fatalf("got %d nodes, want one port", len(report.Nodes))
	}
	p := report.Nodes[0].Ports[0]
	near := func(what string, got *float64, want float64) {
		if got == nil || math.Abs(*got-want) > want*tolerance {
			t.Errorf("%s: got %v, want %v within %.1f %%", what, got, want, 100*tolerance)
		}
	}
	for name, rate := range want {
		near(name, p.Rates[name], rate)
	}
	near("transmit at 200 Gb/s", p.Transmit, 4e9*32/200e9)
	near("receive", p.Receive, 1e9*32/200e9)
	near("lost bandwidth", p.LostBandwidth, 25e6*8*8/200e9)
}

// TestCounterRatesIbsim drives the ibsim counters on its console, which sets values and
// does not know time: the increase is exact, and the rate follows from the window. The baseline is
// made older, so that the window is long compared with the time that the commands take. It is at
// least its age before the second command, and at most the age after it.
func TestCounterRatesIbsim(t *testing.T) {
	t.Parallel()
	r := newSARig(t)
	s := r.theirs
	set := func(value int) {
		s.MustCommand(t, fmt.Sprintf("PerformanceSet \"Switch1\"[1] PortCounters.SymbolErrorCounter=%d", value))
	}
	set(100)
	baseline := filepath.Join(t.TempDir(), "baseline")
	start := time.Now()
	if r := s.MustRun(t, "Hca1", ibkit(), "counters", "--sim", "ibsim", "--save", baseline); r.Code != 0 && r.Code != 3 {
		t.Fatalf("save: exit code %d: %s", r.Code, r.Stderr)
	}
	saved := time.Now()
	const older = 1000 // seconds
	age(t, baseline, older)
	set(700)
	least := older + time.Since(saved).Seconds()
	report := readCounters(t, s, "Hca1", "--since", baseline, "--all", "--node", "Switch1")
	most := older + time.Since(start).Seconds()
	for _, p := range report.Nodes[0].Ports {
		if p.Number != 1 {
			continue
		}
		increase, rate := p.Increase["SymbolErrorCounter"], p.Rates["SymbolErrorCounter"]
		if increase == nil || *increase != 600 || rate == nil || p.Window == nil {
			t.Fatalf("got increase %v, rate %v, want 600", deref(increase), rate)
		}
		// The window is the port's; each attribute has a time of its own.
		for what, window := range map[string]float64{"port": *p.Window, "counter": 600 / *rate} {
			if window < least || window > most {
				t.Errorf("%s: got a window of %v s, want %v to %v s", what, window, least, most)
			}
		}
	}
}

// portTimes are the seconds of the samples in a baseline (docs/counters.md).
var portTimes = regexp.MustCompile(`(?m)^(port \d+ \w+ )(\d+)`)

// age makes the samples of a baseline older by a number of seconds.
func age(t *testing.T, file string, seconds int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	older := portTimes.ReplaceAllFunc(text, func(found []byte) []byte {
		parts := portTimes.FindSubmatch(found)
		at, err := strconv.Atoi(string(parts[2]))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Appendf(parts[1], "%d", at-seconds)
	})
	if bytes.Equal(older, text) {
		t.Fatalf("got no times of samples in\n%s", text)
	}
	if err := os.WriteFile(file, older, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCountersFindings compares the ports that have errors with Debian's ibqueryerrors,
// with the same threshold file, on ibsim and on served fabrics.
func TestCountersFindings(t *testing.T) {
	t.Parallel()
	theirs, ours := newWornRig(t)
	thresholds := filepath.Join(t.TempDir(), "thresholds")
	text := "SymbolErrorCounter=5000\nLinkErrorRecoveryCounter=0\nLinkDownedCounter=0\nPortRcvErrors=10\nPortXmitDiscards=0\nPortRcvRemotePhysicalErrors=0\n" +
		"PortRcvSwitchRelayErrors=0\nPortXmitConstraintErrors=0\nPortRcvConstraintErrors=0\nLocalLinkIntegrityErrors=0\nExcessiveBufferOverrunErrors=0\nVL15Dropped=0\nPortXmitWait=0\n"
	if err := os.WriteFile(thresholds, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*ibsimtest.Sim{"ibsim": theirs, "sim serve": ours} {
		t.Run(name, func(t *testing.T) {
			want := map[string]bool{}
			out := s.MustRunC(t, "Hca1", "ibqueryerrors", "--skip-sl", "--threshold-file", thresholds).Stdout
			for line := range strings.Lines(out) {
				var guid uint64
				var port int
				if n, _ := fmt.Sscanf(strings.TrimSpace(line), "GUID 0x%x port %d:", &guid, &port); n == 2 {
					want[fmt.Sprintf("0x%016x %d", guid, port)] = true
				}
			}
			got := map[string]bool{}
			for _, n := range readCounters(t, s, "Hca1", "--threshold-file", thresholds).Nodes {
				for _, p := range n.Ports {
					got[fmt.Sprintf("%v %d", p.GUID, p.Number)] = true
				}
			}
			for port := range want {
				if !got[port] {
					t.Errorf("%s: missing; ibqueryerrors has it:\n%s", port, out)
				}
			}
			for port := range got {
				if !want[port] {
					t.Errorf("%s: ibqueryerrors does not have it:\n%s", port, out)
				}
			}
			if len(want) < 4 {
				t.Errorf("got %d ports with errors, want at least 4", len(want))
			}
		})
	}
}
