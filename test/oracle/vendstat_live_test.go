//go:build oracle

package oracle

import (
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestVendstat_NoAgentIbsim compares the errors about ibsim nodes, which ignore
// the vendor class.
func TestVendstat_NoAgentIbsim(t *testing.T) {
	s := ibsimtest.New(t, "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca2port")
	for _, line := range noAgentLines {
		t.Run(line, func(t *testing.T) { compareVendstat(t, s, line) })
	}
}
