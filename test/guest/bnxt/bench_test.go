//go:build guest

package bnxt_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// BenchmarkCost compares the processor time for posting and polling with libbnxt_re, on the
// same module in the same guest. Doorbells are ordinary memory: a trap for each would take
// most of the time.
func BenchmarkCost(b *testing.B) {
	program := verbstest.Compile(b, "../mlx5/testdata/cost.c")
	g := verbstest.Boot(b, verbstest.Adapter{
		ABI: "bnxt", Device: "bnxt_re0", Address: address, Options: "strict=0", Tools: []string{"ibv_devinfo"}, Files: map[string]string{"/usr/bin/cost": program},
		Programs: []guest.Program{{Package: "github.com/ibkit/ibkit/test/guest/mlx5/cost", Name: "gocost"}},
	})
	verbstest.CompareCost(b, g, "libbnxt_re", "cost", "posts")
}
