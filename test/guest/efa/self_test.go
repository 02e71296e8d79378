//go:build guest

package efa_test

import (
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest/internal/selftest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// unsupported are the cases that efa does not have: libefa refuses to wait for solicited
// events, and to post in the error state.
var unsupported = []string{
	"rc", "uc", "xrc", "ud solicited events", "srd solicited events", "ud shared receive queue",
	"ud flush of receives in the error state", "srd flush of receives in the error state",
	"device huge pages", "device region of a dma-buf",
}

// TestSelf runs the self-test, also while completions of SRD change places.
func TestSelf(t *testing.T) {
	t.Parallel()
	for _, options := range testenv.Cases([]string{"efa_writes=1 efa_reorder=1"}, "efa_writes=1") {
		t.Run(options, func(t *testing.T) {
			g := verbstest.Boot(t, adapter(options))
			selftest.Run(t, g, "efa_0", selftest.Expected{Unsupported: unsupported})
			verbstest.CheckKernel(t, g)
		})
	}
}
