//go:build oracle

package oracle

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// hostLIDs finds an adapter's line of iblinkinfo -l.
var hostLIDs = regexp.MustCompile(`(?m)^\S+ "\s*(host[^"]*)"\s+(\d+)\s+1\[`)

// hosts returns the LIDs of all hosts by name.
func hosts(t *testing.T, s *ibsimtest.Sim) map[string]string {
	t.Helper()
	lids := map[string]string{}
	for _, m := range hostLIDs.FindAllStringSubmatch(s.MustRunC(t, "", "iblinkinfo", "-l").Stdout, -1) {
		lids[m[1]] = m[2]
	}
	return lids
}

// trace returns how many links ibtracert says are between two LIDs.
func trace(t *testing.T, s *ibsimtest.Sim, from, to string) int {
	t.Helper()
	r := s.MustRunC(t, "", "ibtracert", from, to)
	if r.Code != 0 || !strings.Contains(r.Stdout, "To ca") {
		t.Fatalf("ibtracert %s %s: exit code %d\n%s%s", from, to, r.Code, r.Stdout, r.Stderr)
	}
	return strings.Count(r.Stdout, "->")
}

// TestServedUpDown traces ways through fabrics that our subnet manager configured
// with sm=updown and that opensm configured with -R updn. In a tree both are the
// shortest; elsewhere all hosts are reached by either, and ours are not longer
// altogether.
func TestServedUpDown(t *testing.T) {
	for fabric, same := range map[string]bool{
		"fat-tree:radix=6,pods=4":          true,
		"fat-tree:levels=3,radix=4,pods=4": true,
		"torus:x=4,y=3,hosts=1":            false,
	} {
		t.Run(fabric, func(t *testing.T) {
			ours := serveFabric(t, "--sm=updown", fabric)
			theirs := serveFabric(t, "--sm=off", fabric)
			if _, err := theirs.SubnetLog(t.Context(), "", "-R", "updn"); err != nil {
				t.Fatal(err)
			}
			a, b := hosts(t, ours), hosts(t, theirs)
			if len(a) != len(b) || len(a) < 12 {
				t.Fatalf("%d and %d hosts", len(a), len(b))
			}
			pairs, sumOurs, sumTheirs := 0, 0, 0
			var longer []string
			for from := range a {
				for to := range a {
					if from >= to {
						continue
					}
					pairs++
					x, y := trace(t, ours, a[from], a[to]), trace(t, theirs, b[from], b[to])
					sumOurs, sumTheirs = sumOurs+x, sumTheirs+y
					if x != y {
						longer = append(longer, fmt.Sprintf("%s to %s: %d, opensm %d", from, to, x, y))
					}
				}
			}
			t.Logf("%d pairs: %d links, opensm %d", pairs, sumOurs, sumTheirs)
			if same && len(longer) > 0 || sumOurs > sumTheirs {
				t.Errorf("%d pairs: %d links, opensm %d\n%s", pairs, sumOurs, sumTheirs, strings.Join(longer, "\n"))
			}
		})
	}
}
