//go:build guest

package infiniband_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
)

// TestRedirect reads counters from agents that redirect requests: to a LID or a GID, with
// a partition key at index 2 on the local port. The bridge drops requests with another
// key, and requests without the global route header that a GID requires.
func TestRedirect(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, "perfquery"))
	args := []string{"-do", "pkeys host002[1] 0xffff 0x8002 0x8001", "-do", "counter host004[1] PortXmitWait 5000"}
	for host, redirect := range map[string]string{
		"host004": "redirect host004 host001[1] 9",
		"host005": "redirect host005 host001[1] 10 0x8001",
		"host006": "redirectgid host006 host001[1] 11",
		"host007": "redirectgid host007 switch1[1] 12 0x8001",
		"host008": "redirect host008 host001[1] 13 0x8005",
	} {
		args = append(args, "-do", redirect, "-do", "counter "+host+"[1] SymbolErrorCounter 77")
	}
	ibports.PlugIn(t, g, "single-switch:hosts=8", "host002", "host003", args...)
	for _, host := range []string{"host004", "host005", "host006", "host007"} {
		t.Run(host, func(t *testing.T) {
			r := g.MustRun(t, "ibkit", "counters", "-C", "ibtest0", "--json", "--all", host)
			var report struct {
				Nodes []struct {
					Ports []struct{ Counters map[string]*uint64 }
				}
			}
			if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil || len(report.Nodes) != 1 || len(report.Nodes[0].Ports) != 1 {
				t.Fatalf("got error %v and\n%s%s\nwant one port", err, r.Stdout, r.Stderr)
			}
			if got := report.Nodes[0].Ports[0].Counters["SymbolErrorCounter"]; got == nil || *got != 77 || r.Code != 3 {
				t.Errorf("got exit code %d and\n%s%s\nwant 3 and 77 symbol errors", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
	r := g.MustRun(t, "ibkit", "counters", "-C", "ibtest0", "--all", "host008")
	if want := "follow redirection: the local port does not have P_Key 0x8005"; r.Code != 4 || !strings.Contains(r.Stderr, want) {
		t.Errorf("unknown P_Key: got exit code %d and %s, want 4 and %q", r.Code, r.Stderr, want)
	}
	// Debian's tool follows a redirection to a LID. Its counters do not grow here.
	for _, line := range []string{"perfquery 4 1", "perfquery -x 4 1"} {
		both(t, g, line)
	}
	if text := g.Must(t, "perfquery", "4", "1"); !strings.Contains(text, "SymbolErrorCounter:..............77\n") || !strings.Contains(text, "PortXmitWait:....................5000\n") {
		t.Errorf("perfquery: got\n%s\nwant 77 symbol errors and 5000 ticks", text)
	}
}
