//go:build oracle

package oracle

import (
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestSMP compares smpquery, smpdump and sminfo on ibsim with opensm.
func TestSMP(t *testing.T) {
	t.Parallel()
	r := &addrRig{Sim: ibsimtest.New(t, "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca2port"), host: "Hca1"}
	r.NewSM(t, r.host)
	r.scan(t)
	r.sm = lidOf(t, r.Sim, r.host)
	words := smpWords(t, r)
	t.Run("ibsim", func(t *testing.T) { compareSMP(t, r.Sim, r.host, smpLines, words...) })
	t.Run("GUID", func(t *testing.T) { compareSMP(t, r.Sim, r.host, saLines, words...) })
}
