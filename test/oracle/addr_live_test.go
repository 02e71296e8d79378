//go:build oracle

package oracle

import (
	"path/filepath"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestIbaddr compares all addresses of all nodes in the example fabrics, with a subnet
// manager and without, when only directed routes work.
func TestIbaddr(t *testing.T) {
	for _, net := range nets(t) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			t.Parallel()
			r := &addrRig{Sim: ibsimtest.New(t, net), host: firstHost(t, net)}
			r.scan(t)
			if len(r.nodes) <= largeFabric {
				r.all(t, []string{"", "-L"})
			}
			r.NewSM(t, r.host, "lmc 2") // four LIDs for each adapter port
			r.scan(t)
			r.sm = lidOf(t, r.Sim, r.host)
			r.all(t, addrFlags)
			r.native(t, 0)
			if filepath.Base(net) == "net.2sw2path4hca2port" {
				r.odd(t, ibsimtest.Share(addrLines, 0, 2))
			}
		})
	}
}
