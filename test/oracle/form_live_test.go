//go:build oracle

package oracle

import (
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// live is whether the C tools run.
const live = true

// serveLive starts ibkit's simulator for a test that only exists if the C tools run.
func serveLive(t *testing.T, args ...string) *ibsimtest.Sim {
	t.Helper()
	return ibsimtest.NewLiveServer(t, ibkit(), append([]string{"sim", "serve"}, args...)...)
}
