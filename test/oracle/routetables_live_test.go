//go:build oracle

package oracle

import (
	"path/filepath"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// tableFabrics are fabrics for the tools, with opensm options.
var tableFabrics = []struct {
	name, description string
	options           []string
}{
	{"tree", "fat-tree:radix=4,pods=4", nil},
	{"wide", "single-switch:hosts=9,radix=20", nil},
	{"several LIDs", "fat-tree:radix=4,pods=2,spines=2", []string{"lmc 1"}},
	{"torus", "torus:x=3,y=3,hosts=1", nil},
}

// TestRouteTables compares the tools that print forwarding tables and routes on ibsim with
// opensm.
func TestRouteTables(t *testing.T) {
	t.Parallel()
	for i, fabric := range tableFabrics {
		t.Run(fabric.name, func(t *testing.T) {
			net := filepath.Join(t.TempDir(), "net")
			f := exportNet(t, fabric.description, net)
			s := ibsimtest.New(t, net)
			s.NewSM(t, "", fabric.options...)
			compareRouteTables(t, s, f, ibsimtest.Share(routeLines, i, len(tableFabrics)))
		})
	}
}
