//go:build oracle

package oracle

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestIbportstate compares the tools on ibsim, and the states that its console
// prints afterwards.
func TestIbportstate(t *testing.T) {
	t.Parallel()
	hosts := map[string]string{"fdr10.net": "H-0002c90300000200", "speeds-and-widths.net": "edr", "parallel-links-and-router.net": ""}
	console := func(s *ibsimtest.Sim, _ runner) string {
		_, state, _ := strings.Cut(s.MustCommand(t, "Dump"), "\n") // the first line has the time
		return state
	}
	two := func(t *testing.T, net string) (a, b *ibsimtest.Sim) {
		return ibsimtest.New(t, net), ibsimtest.New(t, net)
	}
	t.Run("two switches", func(t *testing.T) {
		a, b := two(t, "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca2port")
		for _, s := range []*ibsimtest.Sim{a, b} {
			s.OpenSM(t, "Hca1")
		}
		// The route to the peer begins at a LID. ibsim drops such packets, and ibkit does
		// not send them to it.
		want, got := a.MustRunC(t, "Hca1", "ibportstate", "-t", "30", "2", "5"), b.MustRun(t, "Hca1", ibkit(), "ibportstate", "-t", "30", "2", "5")
		if d := cmp.Diff(want.Stdout, got.Stdout); d != "" || got.Code != want.Code {
			t.Errorf("got exit code %d, want %d; C tool (-), ibkit (+)\n%s", got.Code, want.Code, d)
		}
		comparePorts(t, a, b, "Hca1", lidLines, console, "SWLID", lidOf(t, a, "Switch1"), "LID", lidOf(t, a, "Hca2"))
		comparePorts(t, a, b, "Hca1", slices.Concat(ibsimtest.Share(portstateLines, len(hosts), len(hosts)+1)...), console)
	})
	for i, net := range slices.Sorted(maps.Keys(hosts)) {
		t.Run(net, func(t *testing.T) {
			host := hosts[net]
			a, b := two(t, filepath.Join("../nets", net))
			comparePorts(t, a, b, host, slices.Concat(ibsimtest.Share(portstateLines, i, len(hosts)+1)...), console)
		})
	}
}
