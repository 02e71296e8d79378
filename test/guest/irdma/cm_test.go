//go:build guest

package irdma_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestManager connects queue pairs of RoCE with the connection manager.
func TestManager(t *testing.T) {
	t.Parallel()
	verbstest.CheckManager(t, verbstest.Adapter{ABI: "irdma", Device: "irdma0", Address: address, Options: "irdma_gen=2"})
}
