//go:build guest

package bnxt_test

import (
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestResize resizes a completion queue with libbnxt_re.
func TestResize(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 10 s
		return
	}
	program := verbstest.Compile(t, "testdata/resize.c")
	g := verbstest.Boot(t, verbstest.Adapter{
		ABI: "bnxt", Device: "bnxt_re0", ToolsFrom: thor2.release, Options: thor2.options, Address: address, Tools: programs,
		Files: map[string]string{"/usr/bin/resize": program},
	})
	g.Must(t, "timeout", "60", "resize")
	verbstest.CheckKernel(t, g)
}
