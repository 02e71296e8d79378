//go:build oracle

package oracle

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// hostLIDs matches an adapter's line in the iblinkinfo -l output.
var hostLIDs = regexp.MustCompile(`(?m)^\S+ "\s*([^"]*host[^"]*)"\s+(\d+)\s+1\[`)

// hosts returns all host LIDs by name.
func hosts(t *testing.T, s *ibsimtest.Sim) map[string]string {
	t.Helper()
	lids := map[string]string{}
	for _, m := range hostLIDs.FindAllStringSubmatch(s.MustRunC(t, "", "iblinkinfo", "-l").Stdout, -1) {
		lids[m[1]] = m[2]
	}
	return lids
}

// trace returns the number of links between two LIDs according to ibtracert.
func trace(t *testing.T, s *ibsimtest.Sim, from, to string) int {
	t.Helper()
	r := s.MustRunC(t, "", "ibtracert", from, to)
	if r.Code != 0 || !strings.Contains(r.Stdout, "To ca") {
		t.Fatalf("ibtracert %s %s: exit code %d\n%s%s", from, to, r.Code, r.Stdout, r.Stderr)
	}
	return strings.Count(r.Stdout, "->")
}

// TestServedUpDown compares path lengths between all hosts in fabrics that ibkit's subnet
// manager configures with sm=updown and opensm with -R updn. In trees, both choose the
// roots themselves. In other fabrics, opensm finds no root, and both get the first switch.
func TestServedUpDown(t *testing.T) {
	t.Parallel()
	const firstSwitch = "0x0002c90000800000"
	for fabric, root := range map[string]string{
		"fat-tree:radix=6,pods=4":               "",
		"fat-tree:levels=3,radix=4,pods=4":      "",
		"torus:x=4,y=3,hosts=1":                 "switch-0-0-0",
		"torus:x=3,y=3,z=2,hosts=1":             "switch-0-0-0",
		"dragonfly:groups=4,switches=3,hosts=1": "group01-switch01",
	} {
		t.Run(fabric, func(t *testing.T) {
			description, options := fabric, []string{"-R", "updn"}
			if root != "" {
				file := filepath.Join(t.TempDir(), "roots")
				if err := os.WriteFile(file, []byte(firstSwitch+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				description, options = description+",root="+root, append(options, "-a", file)
			}
			ours := serveLive(t, "--sm=updown", description)
			theirs := serveLive(t, "--sm=off", fabric)
			if _, err := theirs.SubnetLog(t.Context(), "", options...); err != nil {
				t.Fatal(err)
			}
			a, b := hosts(t, ours), hosts(t, theirs)
			if len(a) != len(b) || len(a) < 12 {
				t.Fatalf("%d and %d hosts", len(a), len(b))
			}
			pairs, sumOurs, sumTheirs := 0, 0, 0
			var differ []string
			names := slices.Sorted(maps.Keys(a))
			for i, from := range names {
				for _, to := range ibsimtest.Share(names[i+1:], i, 6) {
					pairs++
					x, y := trace(t, ours, a[from], a[to]), trace(t, theirs, b[from], b[to])
					sumOurs, sumTheirs = sumOurs+x, sumTheirs+y
					if x != y {
						differ = append(differ, fmt.Sprintf("%s to %s: %d, opensm %d", from, to, x, y))
					}
				}
			}
			t.Logf("%d pairs: %d links, opensm %d", pairs, sumOurs, sumTheirs)
			if len(differ) > 0 {
				t.Errorf("%d pairs: %d links, opensm %d\n%s", pairs, sumOurs, sumTheirs, strings.Join(differ, "\n"))
			}
		})
	}
}
