//go:build oracle

package oracle

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestIbstat compares the local adapter in a simulated fabric. The C tool reads it from
// the files that libumad2sim.so writes, which lack the link layer: ibstat then prints IB.
func TestIbstat(t *testing.T) {
	t.Parallel()
	ibstat := filepath.Join(filepath.Dir(*binary), "ibkit")
	hosts := map[string]string{"multi-port-hosts.net": "gateway", "chassis.net": "", "odd-descriptions.net": "utf8"}
	lines := []string{
		"", "-l", "-s", "-p", "-lp", "-v", "-d", "ibsim0", "ibsim0 1", "ibsim0 0", "ibsim0 2", "ibsim0 x", "ibsim0 1 extra",
		"-s ibsim0 1", "-p ibsim0", "nosuch", "nosuch 1", "-x",
	}
	for i, net := range slices.Sorted(maps.Keys(hosts)) {
		s, host := ibsimtest.New(t, "../nets/"+net), hosts[net]
		for _, line := range ibsimtest.Share(lines, i, len(hosts)) {
			t.Run(net+" "+line, func(t *testing.T) {
				args := strings.Fields(line)
				want := s.MustRunC(t, host, "ibstat", args...)
				want.Stdout = strings.ReplaceAll(want.Stdout, "Link layer: IB\n", "Link layer: InfiniBand\n")
				if want.Code == 255 && strings.Contains(want.Stderr, "stat of IB device") {
					// Release 65 goes on. Its warning is in TestRun_BadDevice of package ibstat.
					want.Code = 0
				}
				got := s.MustRun(t, host, ibstat, append([]string{"ibstat"}, args...)...)
				if d := diff(want, got); d != "" {
					t.Errorf("ibstat %s: C tool (-), ibkit (+)\n%s", line, d)
				}
			})
		}
	}
}
