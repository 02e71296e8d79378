//go:build oracle

package oracle

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestIbstat compares the local adapter of a simulated fabric. The C tool reads it from
// the files that libumad2sim.so writes, which lack the link layer: ibstat then prints IB.
func TestIbstat(t *testing.T) {
	ibstat := filepath.Join(filepath.Dir(*binary), "ibkit")
	for net, host := range map[string]string{"multi-port-hosts.net": "gateway", "chassis.net": "", "odd-descriptions.net": "utf8"} {
		s := ibsimtest.New(t, "../nets/"+net)
		for _, line := range []string{
			"", "-l", "-s", "-p", "-lp", "-v", "-d", "ibsim0", "ibsim0 1", "ibsim0 0", "ibsim0 2", "ibsim0 x", "ibsim0 1 extra",
			"-s ibsim0 1", "-p ibsim0", "nosuch", "nosuch 1", "-x",
		} {
			t.Run(net+" "+line, func(t *testing.T) {
				args := strings.Fields(line)
				want := s.MustRunC(t, host, "ibstat", args...)
				want.Stdout = strings.ReplaceAll(want.Stdout, "Link layer: IB\n", "Link layer: InfiniBand\n")
				got := s.MustRun(t, host, ibstat, append([]string{"ibstat"}, args...)...)
				if d := diff(want, got); d != "" {
					t.Errorf("ibstat %s: C tool (-), ibkit (+)\n%s", line, d)
				}
			})
		}
	}
}
