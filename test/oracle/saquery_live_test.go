//go:build oracle

package oracle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestSaqueryClassic_Ibsim compares ibkit's saquery with Debian's on ibsim with opensm.
func TestSaqueryClassic_Ibsim(t *testing.T) {
	t.Parallel()
	r := &addrRig{Sim: ibsimtest.New(t, "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca2port"), host: "Hca1"}
	r.NewSM(t, r.host)
	r.scan(t)
	r.sm = lidOf(t, r.Sim, r.host)
	compareSaquery(t, r, ibsimtest.Share(saqueryLines, 0, 2))
	compareSources(t, r)
}

// compareSources compares node attributes with opensm's records.
func compareSources(t *testing.T, r *addrRig) {
	expand := strings.NewReplacer(smpWords(t, r)...)
	for _, line := range []string{"NodeDescription 1-6", "LFT SWLID", "gi LID", "SwitchInfo SWLID"} {
		t.Run(line, func(t *testing.T) {
			args := append([]string{"query", "--csv"}, strings.Fields(expand.Replace(line))...)
			if strings.HasPrefix(line, "gi") {
				args[1] = "--show_keys" // rows without names
			}
			node := r.MustRun(t, r.host, ibkit(), args...)
			sa := r.MustRun(t, r.host, ibkit(), append(args, "--sa")...)
			if node.Stdout != sa.Stdout || node.Code != sa.Code || node.Stdout == "" {
				t.Errorf("node (-), opensm (+)\n%s%s%s", cmp.Diff(node.Stdout, sa.Stdout), node.Stderr, sa.Stderr)
			}
		})
	}
}
