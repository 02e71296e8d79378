//go:build guest

package efa_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// BenchmarkCost compares the processor time for posting and polling with libefa, on the
// same module in the same guest. Doorbells are ordinary memory: a trap for each would take
// most of the time.
func BenchmarkCost(b *testing.B) {
	a := adapter("strict=0")
	a.Tools = []string{"ibv_devinfo"}
	a.Files = map[string]string{"/usr/bin/cost": verbstest.Compile(b, "../mlx5/testdata/cost.c")}
	a.Programs = []guest.Program{{Package: "github.com/ibkit/ibkit/test/guest/mlx5/cost", Name: "gocost"}}
	verbstest.CompareCost(b, verbstest.Boot(b, a), "libefa", "cost")
}
