//go:build guest

package infiniband_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// counterLine is a line from perfquery.
var counterLine = regexp.MustCompile(`(?m)^(\w+):\.*(\d+)$`)

// counters compares the error counters on two ports, through the kernel, with the output
// of Debian's perfquery.
func counters(t *testing.T, g *guest.Guest) {
	r := g.MustRun(t, "ibkit", "counters", "--json", "--all", "leaf3/4", "leaf4/4")
	var report struct {
		Nodes []struct {
			LID   int
			Ports []struct {
				Port     int
				Counters map[string]*uint64
			}
		}
	}
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil || len(report.Nodes) != 2 {
		t.Fatalf("got %d nodes, error %v, want 2: %s%s", len(report.Nodes), err, r.Stdout, r.Stderr)
	}
	above := 0
	for _, n := range report.Nodes {
		for _, p := range n.Ports {
			text := g.Must(t, "perfquery", strconv.Itoa(n.LID), strconv.Itoa(p.Port))
			for _, m := range counterLine.FindAllStringSubmatch(text, -1) {
				name, want := m[1], m[2]
				got := p.Counters[name]
				switch name {
				case "PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts", "PortXmitWait", "PortSelect", "QP1Dropped":
					continue // they grow, or perfquery prints others in their place
				}
				if got == nil || strconv.FormatUint(*got, 10) != want {
					t.Errorf("LID %d port %d: %s: got %v, want %s", n.LID, p.Port, name, got, want)
				}
				if want != "0" {
					above++
				}
			}
		}
	}
	if above < 3 {
		t.Errorf("got %d counters above 0, want at least 3", above)
	}
}
