//go:build oracle

package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// imbalances returns the details of the balance findings.
func imbalances(t *testing.T, s *ibsimtest.Sim) (details []string) {
	t.Helper()
	_, text := checkRoutes(t, s)
	var r route.Report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Kind == report.Unbalanced {
			details = append(details, f.Text())
		}
	}
	return details
}

// heat moves the entries from one output port on a switch to another.
func heat(t *testing.T, s *ibsimtest.Sim, node string, from, to uint8) {
	t.Helper()
	var r route.ReportTables
	if err := json.Unmarshal([]byte(s.MustRun(t, "", ibkit(), "routes", "--json", node).Stdout), &r); err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Switches[0].Unicast {
		if e.Port != nil && *e.Port == from {
			ctl(t, s, fmt.Sprintf("lft %s %d %d", node, e.LID, to))
		}
	}
}

// TestRoutes_Balance checks the balance findings on opensm tables. A three-level tree has
// a finding with advice for minhop, and a finding about a hot port with ftree. Even tables
// do not have any, nor have leaves with fewer hosts than uplinks.
func TestRoutes_Balance(t *testing.T) {
	t.Parallel()
	const (
		tree   = "fat-tree:levels=3,radix=8,pods=4"
		advice = "; opensm's routing engine ftree balances fat trees"
		loads  = "0 to 12 destinations on each of their up-links, 3.0 on average, worst at pod01-spine001 (0 to 12), pod01-spine002 (0 to 12), pod01-spine003 (0 to 12)"
		hot    = "pod02-leaf003: 0 to 30 destinations on each of its 4 up-links, 15.0 on average"
	)
	for _, test := range []struct {
		fabric, engine string
		want           []string
	}{
		{tree, "minhop", []string{"16 of 16 switches at level 1: " + loads + advice}},
		{tree, "ftree", nil},
		{"chassis:lines=8", "minhop", nil},
		{"chassis:lines=8", "ftree", nil},
		{"fat-tree:radix=20,pods=8,hosts=13,spines=7", "ftree", nil},
	} {
		t.Run(test.fabric+" "+test.engine, func(t *testing.T) {
			s := serveLive(t, "--sm=off", test.fabric)
			if _, err := s.SubnetLog(t.Context(), "", "-R", test.engine); err != nil {
				t.Fatal(err)
			}
			expectImbalances(t, s, test.want)
			if test.engine == "ftree" && test.fabric == tree {
				heat(t, s, "pod02-leaf003", 5, 6)
				expectImbalances(t, s, []string{hot})
			}
		})
	}
}

func expectImbalances(t *testing.T, s *ibsimtest.Sim, want []string) {
	t.Helper()
	if got := imbalances(t, s); !slices.Equal(got, want) {
		t.Errorf("got findings %q, want %q", got, want)
	}
}
