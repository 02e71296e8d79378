//go:build oracle

package oracle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/tool/portchange"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// uplink returns the port on a leaf switch through which packets from one host to another
// leave it, "" if there is no path.
func uplink(t *testing.T, s *ibsimtest.Sim, leaf, from, to string) string {
	t.Helper()
	var report struct {
		Pairs []struct {
			Forward struct {
				Arrives bool
				Hops    []struct {
					Output struct {
						Name string
						Port int
					}
				}
			}
		}
	}
	r := s.MustRun(t, from, ibkit(), "route", "--json", from, to)
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil || len(report.Pairs) != 1 || !report.Pairs[0].Forward.Arrives {
		return ""
	}
	for _, h := range report.Pairs[0].Forward.Hops {
		if h.Output.Name == leaf {
			return strconv.Itoa(h.Output.Port)
		}
	}
	return ""
}

// changePort runs ibkit port with a log in a file, and returns the report and the log.
func changePort(t *testing.T, s *ibsimtest.Sim, host string, code int, args ...string) (portchange.Report, string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	r := s.MustRun(t, host, ibkit(), append([]string{"port", "--yes", "--json", "--log", log}, args...)...)
	if r.Code != code {
		t.Fatalf("port %q: got exit code %d, want %d\n%s%s", args, r.Code, code, r.Stdout, r.Stderr)
	}
	var report portchange.Report
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return report, string(text)
}

// TestPort_SubnetManager takes a link on a path out and puts it back. opensm, which
// follows links by traps only, routes around it and back.
func TestPort_SubnetManager(t *testing.T) {
	s := serveLive(t, "--sm=off", "demo")
	s.NewSM(t, "node01", "sweep_interval 600")
	const leaf, from, to = "leaf2", "node07", "node02"
	before := uplink(t, s, leaf, from, to)
	if before == "" {
		t.Fatalf("%s has no path to %s", from, to)
	}
	report, log := changePort(t, s, from, 0, leaf, before, "disable")
	if p := report.Ports[0]; *p.Outcome != outcome.Changed || p.After.PhysState != "Disabled" || len(p.CutsOff) != 0 || strings.Count(log, "\n") != 2 || !strings.Contains(log, "result=changed") {
		t.Errorf("disable: got %+v\n%s", p, log)
	}
	within(t, time.Minute, "opensm routes around the link", func() bool {
		now := uplink(t, s, leaf, from, to)
		return now != "" && now != before
	})
	if r := s.MustRunC(t, from, "ibportstate", "-D", "0,1", before); !strings.Contains(r.Stdout, "PhysLinkState:...................Disabled") {
		t.Errorf("ibportstate: got\n%s", r.Stdout)
	}

	report, _ = changePort(t, s, from, 0, leaf, before, "enable")
	if p := report.Ports[0]; *p.Outcome != outcome.Changed || p.After.State != "Active" || p.Peer == nil || p.PeerAfter == nil || len(p.Findings) != 0 {
		t.Errorf("enable: got %+v", p)
	}
	within(t, time.Minute, "opensm routes over the link again", func() bool { return uplink(t, s, leaf, from, to) == before })
}

// TestPort_Slow resets the links that run below their rate, as linkinfo reports them: they
// train to the best rate, and opensm activates them.
func TestPort_Slow(t *testing.T) {
	s := serveLive(t, "--sm=off", "demo")
	s.NewSM(t, "node01", "sweep_interval 600")
	slow := s.MustRun(t, "node05", ibkit(), "linkinfo", "--json", "--finding", "slow,narrow")
	if slow.Code != 3 {
		t.Fatalf("linkinfo: got exit code %d\n%s", slow.Code, slow.Stderr)
	}
	file := writeText(t, slow.Stdout)
	report, log := changePort(t, s, "node05", 0, "--force", "last-link", "--targets-file", file, "reset")
	if len(report.Ports) != 2 || strings.Count(log, "result=changed") != 2 {
		t.Errorf("got %d ports and the log\n%s", len(report.Ports), log)
	}
	if r := s.MustRun(t, "node05", ibkit(), "linkinfo", "--problems", "--finding", "slow,narrow"); r.Code != 0 {
		t.Errorf("linkinfo: got exit code %d\n%s", r.Code, r.Stdout)
	}
}

// TestPort_Ibsim changes ibsim ports, as the C tool and the console show.
func TestPort_Ibsim(t *testing.T) {
	s := ibsimtest.New(t, "../nets/fdr10.net")
	const host = "H-0002c90300000200"
	for _, test := range []struct{ change, query, want string }{
		{"mtu=1024", "portinfo", "NeighborMTU:.....................1024\n"},
		{"vls=1", "portinfo", "OperVLs:.........................VL0\n"},
		{"width=1X", "portinfo", "LinkWidthEnabled:................1X\n"},
		{"speed=SDR", "portinfo", "LinkSpeedEnabled:................2.5 Gbps\n"},
		{"fdr10=off", "mepi", "LinkSpeedEnabled:................0x00\n"},
		{"disable", "portinfo", "PhysLinkState:...................Disabled\n"},
	} {
		t.Run(test.change, func(t *testing.T) {
			r := s.MustRun(t, host, ibkit(), "port", "--yes", "--force", "last-link,mismatch", "--wait", "50ms", "guid:0x0002c90200000100", "2", test.change)
			c := s.MustRunC(t, host, "smpquery", "-D", test.query, "0,1", "2")
			// ibsim accepts settings that it does not keep: the outcome must be the truth.
			changed := strings.Contains(c.Stdout, test.want)
			if ok := r.Code == 0 && strings.Contains(r.Stdout, "changed"); ok != changed || !ok && (r.Code != 1 || !strings.Contains(r.Stderr, "no effect")) {
				t.Errorf("got exit code %d\n%s%s\nsmpquery:\n%s", r.Code, r.Stdout, r.Stderr, c.Stdout)
			}
			t.Logf("ibsim keeps it: %v", changed)
		})
	}
}
