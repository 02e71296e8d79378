//go:build oracle

package oracle

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestServedSubnetTables runs opensm with quality of service and multicast groups on the
// same net in ibsim and in ibkit, and compares the tables that it has set.
func TestServedSubnetTables(t *testing.T) {
	net := filepath.Join(t.TempDir(), "net")
	if out, err := ibsimtest.Command(t, ibkit(), "sim", "export", "fat-tree:radix=8,pods=4", "--output", net).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	theirs, ours := ibsimtest.New(t, net), serveLive(t, "--sm=off", "net:"+net)
	// In the state after power-on.
	compareTables(t, theirs, ours, "smpquery -D vlarb 0", "smpquery -D vlarb 0,1 0", "smpquery -D vlarb 0,1 1", "ibroute -M -D 0,1")
	for _, s := range []*ibsimtest.Sim{theirs, ours} {
		s.NewSM(t, "host00001", "qos TRUE", "qos_max_vls 8", "qos_high_limit 3",
			"qos_vlarb_high 0:64,1:32,2:255", "qos_vlarb_low 0:1,1:2,2:3,3:4,4:5,5:6,6:7,7:8", "qos_sl2vl 0,1,2,3,4,5,6,7,7,7,7,7,7,7,7,7")
		for _, host := range []string{"host00002", "host00006", "host00016"} {
			joinGroup(t, s, host, 1)
		}
		joinGroup(t, s, "host00016", 2)
		within(t, time.Minute, "opensm sets up both groups", func() bool {
			out := s.MustRunC(t, "", "ibroute", "-M", "-D", "0,1").Stdout
			return strings.Contains(out, "0xc001") || strings.Contains(out, "0xc002")
		})
	}
	compareTables(t, theirs, ours,
		"smpquery -D vlarb 0", "smpquery -D vlarb 0,1 1", "smpquery -D vlarb 0,1 4", "smpquery -D sl2vl 0,1 1",
		"dump_mfts", "dump_mfts -n", "dump_mfts -a", "ibroute -M -D 0,1", "ibroute -M -n -D 0,1", "ibroute -M -D 0,1 0xc000 0xc001")
}

// compareTables runs command lines on two simulators.
func compareTables(t *testing.T, theirs, ours *ibsimtest.Sim, lines ...string) {
	t.Helper()
	for _, line := range lines {
		words := strings.Fields(line)
		want, got := theirs.MustRunC(t, "host00001", words[0], words[1:]...), ours.MustRunC(t, "host00001", words[0], words[1:]...)
		if got.Stdout != want.Stdout || got.Code != want.Code || got.Stdout == "" {
			t.Errorf("%s: ibkit: exit code %d\n%s%s\nwant, from ibsim: %d\n%s%s", line, got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
		}
	}
}

// TestServedMulticast checks the multicast tables from ibkit's own subnet manager with
// Debian's tools: the three group members in the demo are at leaf1 and leaf4.
func TestServedMulticast(t *testing.T) {
	s := serveLive(t, "demo")
	if out := s.MustRunC(t, "", "dump_mfts").Stdout; strings.Count(out, "0 valid mlids dumped") != 6 {
		t.Errorf("no group: got\n%s", out)
	}
	for _, host := range []string{"node02", "node03", "node16"} {
		joinGroup(t, s, host, 1)
	}
	for line, want := range map[string]string{
		"ibroute -M 3":    "0xc001      " + "  x     x x     ", // leaf1: spine1, node02, node03
		"ibroute -M -n 3": "0xc001      0032",
		"saquery MFTR":    "",
	} {
		words := strings.Fields(line)
		r := s.MustRunC(t, "", words[0], words[1:]...)
		if r.Code != 0 || !strings.Contains(r.Stdout, want) {
			t.Errorf("%s: got exit code %d\n%s%swant %q", line, r.Code, r.Stdout, r.Stderr, want)
		}
	}
	if r := s.MustRunC(t, "", "dump_mfts"); strings.Count(r.Stdout, "1 valid mlids dumped") != 3 || r.Code != 0 {
		t.Errorf("got exit code %d\n%s%swant a group in 3 switches", r.Code, r.Stdout, r.Stderr)
	}
}
