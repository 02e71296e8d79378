//go:build oracle

package oracle

import (
	"path/filepath"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestJSON validates the JSON for each fabric.
func TestJSON(t *testing.T) {
	t.Parallel()
	for _, net := range nets(t) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			b := newRig(t, net, true)
			r := b.MustRun(t, b.host, native(), "linkinfo", "--sim", "ibsim", "--json", "--attributes")
			testenv.CheckSchema(t, "../../schema/linkinfo.json", r.Stdout)
		})
	}
}
