//go:build guest

package bnxt_test

import (
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest/internal/selftest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestSelf runs the self-test with each chip.
func TestSelf(t *testing.T) {
	t.Parallel()
	for _, c := range testenv.Cases(nil, thor, thor2, variable) {
		t.Run(c.options, func(t *testing.T) {
			g := boot(t, c)
			selftest.Run(t, g, "bnxt_re0", selftest.Expected{Unsupported: []string{
				"uc", "xrc", "rc memory window and invalidate", "device huge pages", "device region of a dma-buf",
			}})
			verbstest.CheckKernel(t, g)
		})
	}
}
