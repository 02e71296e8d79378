//go:build oracle

package oracle

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// newIbsimPMARig returns the worn fabric in ibsim.
func newIbsimPMARig(t *testing.T) *pmaRig {
	t.Helper()
	r := newSARig(t)
	theirs := &pmaRig{Sim: r.theirs, host: "Hca1", mask: maskIbsim}
	theirs.wear = func(t *testing.T) {
		for _, c := range worn {
			name := strings.Replace(c.name, "PktErrors", "PacketErrors", 1)
			theirs.MustCommand(t, fmt.Sprintf("PerformanceSet %q[%d] %s.%s=%d", c.node, c.port, c.attr, name, c.value))
		}
	}
	return theirs
}

var (
	trafficOf = regexp.MustCompile(` \[Port(?:Unicast|Multicast)?(?:Xmit|Rcv)(?:Data|Pkts) == [^]]*\]| \[PortRcvSwitchRelayErrors == \d+\]`)
)

// maskIbsim removes in addition the counters that ibsim increments with each packet.
func maskIbsim(s string) string {
	return trafficOf.ReplaceAllString(ibsimGrows.ReplaceAllString(withoutQP1(s), ""), "")
}

// TestIbqueryerrorsNets compares ibqueryerrors on all example nets and a generated net,
// with counters at their largest values.
func TestIbqueryerrorsNets(t *testing.T) {
	t.Parallel()
	for i, net := range nets(t) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			r := &pmaRig{Sim: ibsimtest.New(t, net), host: firstHost(t, net), mask: maskIbsim}
			r.NewSM(t, r.host)
			last := lastSwitchOrHost(t, net)
			r.wear = func(t *testing.T) {
				for _, c := range []string{"SymbolErrorCounter=65535", "LinkErrorRecoveryCounter=255", "ExcessiveBufferOverrunErrors=15", "PortXmitWait=4294967295"} {
					r.MustCommand(t, fmt.Sprintf("PerformanceSet %q[1] PortCounters.%s", last, c))
					r.MustCommand(t, fmt.Sprintf("PerformanceSet %q[1] PortCounters.%s", r.host, c))
				}
			}
			r.compare(t, "ibqueryerrors", ibsimtest.Share([]string{"", "-r", "--skip-sl --switch", "--data --ca"}, i, 2))
		})
	}
}

// TestIbqueryerrorsLoss compares a fabric in which an agent does not respond, and a fabric
// that loses packets now and then.
func TestIbqueryerrorsLoss(t *testing.T) {
	t.Parallel()
	theirs := newIbsimPMARig(t)
	theirs.MustCommand(t, `Error "Switch2" 100 18`) // PortCounters
	theirs.compare(t, "ibqueryerrors", []string{"", "-r --details --ca", "--counters", "--switch -k"})
	theirs.MustCommand(t, `Error "Switch2" 0 18`)
	theirs.MustCommand(t, `Error "Switch2" 100 1`) // ClassPortInfo
	theirs.compare(t, "ibqueryerrors", []string{"", "--ca"})
	theirs.compare(t, "perfquery", []string{"3 1", "-e 3 1"})
	theirs.MustCommand(t, `Error "Switch2" 0 1`)
	// The C tool's scan does not repeat lost requests, and ibsim counts each lost packet
	// in PortRcvErrors.
	cache := filepath.Join(t.TempDir(), "cache")
	if r := theirs.MustRunC(t, theirs.host, "ibnetdiscover", "--cache", cache); r.Code != 0 {
		t.Fatalf("ibnetdiscover: %s", r.Stderr)
	}
	theirs.MustCommand(t, `Error "Switch2" 3`)
	theirs.compare(t, "ibqueryerrors", []string{"{line}", "{line} --data", "{line} -r"}, "{line}", "-s PortRcvErrors --skip-sl --load-cache "+cache)
}

// TestIbqueryerrorsNoSM checks that missing subnet administration is a failure. The C
// tool's failure has exit code 0.
func TestIbqueryerrorsNoSM(t *testing.T) {
	s := ibsimtest.New(t, "/usr/share/doc/ibsim-utils/net-examples/net")
	s.OpenSM(t, "Hca1") // which ends
	want := s.MustRunC(t, "Hca1", "ibqueryerrors")
	got := s.MustRun(t, "Hca1", ibkit(), "ibqueryerrors")
	if want.Code != 0 || got.Code != 255 || got.Stdout != want.Stdout || got.Stderr != want.Stderr {
		t.Errorf("got exit code %d and\n%s%s\nwant 255; C tool: %d and\n%s%s", got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
	}
	if got := s.MustRun(t, "Hca1", ibkit(), "ibqueryerrors", "--skip-sl"); got.Code != 0 {
		t.Errorf("--skip-sl: got exit code %d, want 0\n%s", got.Code, got.Stderr)
	}
}

// TestPerfqueryClassic_Ibsim compares perfquery on ibsim.
func TestPerfqueryClassic_Ibsim(t *testing.T) {
	t.Parallel()
	r := newIbsimPMARig(t)
	r.compare(t, "perfquery", ibsimtest.Share(perfqueryLines, 0, 2), "GUID", switchGUID(t, r))
}

// TestIbqueryerrorsClassic_Ibsim compares ibqueryerrors on ibsim.
func TestIbqueryerrorsClassic_Ibsim(t *testing.T) {
	t.Parallel()
	newIbsimPMARig(t).compareErrors(t, ibsimtest.Share(ibqueryerrorsLines, 0, 2))
}

// TestCheckScripts_Ibsim compares or records the scripts on ibsim.
func TestCheckScripts_Ibsim(t *testing.T) {
	t.Parallel()
	newIbsimPMARig(t).compareScripts(t)
}
