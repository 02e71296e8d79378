//go:build guest

package bnxt_test

import (
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestManager connects queue pairs with the connection manager.
func TestManager(t *testing.T) {
	t.Parallel()
	for _, c := range testenv.Cases([]chip{thor}, thor2, variable) {
		t.Run(c.options, func(t *testing.T) {
			verbstest.CheckManager(t, verbstest.Adapter{ABI: "bnxt", Device: "bnxt_re0", ToolsFrom: c.release, Address: address, Options: c.options})
		})
	}
}
