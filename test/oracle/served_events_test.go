//go:build oracle

package oracle

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestServedTraps checks that opensm follows links by traps: it sweeps only every ten
// minutes.
func TestServedTraps(t *testing.T) {
	s := serveLive(t, "--sm=off", "demo")
	s.NewSM(t, "", "sweep_interval 600")
	state := func(text string) func() bool {
		return func() bool { return strings.Contains(ctl(t, s, "dump node06"), text) }
	}
	within(t, time.Minute, "node06 is Active", state("Active/LinkUp"))
	ctl(t, s, "unlink node06[1]")
	if !state("Down/Polling")() {
		t.Fatal(ctl(t, s, "dump node06"))
	}
	ctl(t, s, "link node06[1]")
	within(t, time.Minute, "node06 is Active again", state("Active/LinkUp"))
	lid := lidOf(t, s, "node06")
	if r := s.MustRunC(t, "", "smpquery", "nodedesc", lid); !strings.Contains(r.Stdout, "node06") {
		t.Errorf("LID %s: %s%s", lid, r.Stdout, r.Stderr)
	}
}

// TestServedChanges reads with C tools the changes that the console makes.
func TestServedChanges(t *testing.T) {
	s := serveLive(t, "demo")
	links := func() string { return s.MustRunC(t, "", "iblinkinfo", "--line").Stdout }
	before := links()
	if strings.Count(before, `"node06"`) == 0 {
		t.Fatalf("no node06 in\n%s", before)
	}
	ctl(t, s, "down node06")
	if after := links(); strings.Contains(after, `"node06"`) {
		t.Errorf("node06 without power:\n%s", after)
	}
	ctl(t, s, "up node06")
	if after := links(); after != before {
		t.Errorf("with power again:\n%s\nbefore:\n%s", after, before)
	}
	ctl(t, s, `counter leaf1[3] SymbolErrorCounter 4321`)
	if r := s.MustRunC(t, "", "perfquery", lidOfSwitch(t, s, "leaf1"), "3"); !strings.Contains(r.Stdout, "SymbolErrorCounter:..............4321") {
		t.Errorf("perfquery:\n%s%s", r.Stdout, r.Stderr)
	}
	ctl(t, s, "model loss=1")
	if r := s.MustRunC(t, "", "smpquery", "-t", "100", "nodeinfo", "-D", "0,1"); r.Code == 0 {
		t.Errorf("all is lost, but: %s", r.Stdout)
	}
}

// TestServedEvents plays a script while a C tool scans.
func TestServedEvents(t *testing.T) {
	script := filepath.Join(t.TempDir(), "events")
	if err := os.WriteFile(script, []byte("@10 hang leaf2\n# for good\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveLive(t, "--sim-events", script, "demo")
	s.MustRunC(t, "", "iblinkinfo", "--line", "-t", "500")
	// The tool sends a request once: on a busy machine, other replies may be late, too.
	within(t, 5*time.Minute, "a scan has node01", func() bool {
		again := s.MustRunC(t, "", "iblinkinfo", "--line", "-t", "500").Stdout
		if strings.Contains(again, `"node06"`) {
			t.Fatalf("behind a switch that hangs:\n%s", again)
		}
		return strings.Contains(again, `"node01"`)
	})
	if dump := ctl(t, s, "dump leaf2"); !strings.Contains(dump, ", silent") {
		t.Errorf("dump:\n%s", dump)
	}
}

// TestServedUDP attaches C tools over UDP to given nodes.
func TestServedUDP(t *testing.T) {
	free, err := net.ListenUDP("udp4", nil)
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(free.LocalAddr().(*net.UDPAddr).Port)
	free.Close()
	s := serveLive(t, "--udp", port, "demo")
	want := s.MustRunC(t, "node07", "iblinkinfo", "--line")
	t.Setenv("IBSIM_SERVER_NAME", "127.0.0.1")
	t.Setenv("IBSIM_SERVER_PORT", port)
	if got := s.MustRunC(t, "node07", "iblinkinfo", "--line"); got.Stdout != want.Stdout || got.Code != 0 {
		t.Errorf("by UDP:\n%s%s\nby local sockets:\n%s", got.Stdout, got.Stderr, want.Stdout)
	}
	if r := s.MustRunC(t, "node07", "smpquery", "nodedesc", "-D", "0"); !strings.Contains(r.Stdout, "node07") {
		t.Errorf("node description: %s%s", r.Stdout, r.Stderr)
	}
	// The server notices a client that was killed when it sends to it.
	d, err := s.StartC("node05", "starting to serve", []string{"SIM_SET_ISSM=1"}, "ibping", "-S", "-d")
	if err != nil {
		t.Fatal(err)
	}
	lid := lidOf(t, s, "node05")
	flood(t, s, "node07", lid)
	d.Stop()
	within(t, time.Minute, "the client is removed", func() bool {
		s.MustRunC(t, "node07", "ibping", "-f", "-c", "1", "-t", "50", lid)
		return !strings.Contains(ctl(t, s, "clients"), "node05")
	})
}

// TestServedCrowd attaches more C programs than ibsim supports. All of them must answer.
func TestServedCrowd(t *testing.T) {
	const crowd = 12
	s := serveLive(t, "fat-tree:levels=2,radix=8,pods=4")
	var lids []string
	for i := range crowd {
		node := fmt.Sprintf("host%05d", i+2)
		lids = append(lids, lidOf(t, s, node))
		s.NewPingServer(t, node)
	}
	if got := strings.Count(ctl(t, s, "clients"), "\n"); got != crowd {
		t.Errorf("%d clients", got)
	}
	for _, lid := range lids {
		flood(t, s, "", lid)
	}
}

// TestServedModel scans a fabric with a clock, without losses.
func TestServedModel(t *testing.T) {
	const fabric = "fat-tree:levels=2,radix=8,pods=4"
	slow := serveLive(t, "--sim-model", "hop=1us,service=20us,jitter=5us,seed=3", fabric)
	quick := serveLive(t, fabric)
	// The tool lists nodes in reply order.
	sorted := func(r ibsimtest.Result) string {
		lines := strings.Split(r.Stdout, "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	want := sorted(quick.MustRunC(t, "", "iblinkinfo", "--line"))
	if got := slow.MustRunC(t, "", "iblinkinfo", "--line", "-o", "8"); sorted(got) != want {
		t.Errorf("with a clock:\n%s\nwithout:\n%s", got.Stdout, want)
	}
	if got := slow.MustRun(t, "", *binary, "--line"); sorted(got) != want || got.Code != 0 {
		t.Errorf("ibkit, with a clock:\n%s%s", got.Stdout, got.Stderr)
	}
}
