//go:build guest

package irdma_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// BenchmarkCost compares the processor time for posting and polling with libirdma, on the
// same module in the same guest. Doorbells are ordinary memory: a trap for each would take
// most of the time.
func BenchmarkCost(b *testing.B) {
	program := filepath.Join(b.TempDir(), "cost")
	out, err := exec.CommandContext(b.Context(), "gcc", "-O2", "-Wall", "-Werror", "-o", program, "../mlx5/testdata/cost.c", "-libverbs").CombinedOutput()
	if err != nil {
		b.Fatalf("compile ../mlx5/testdata/cost.c (make deps installs what it needs): %v\n%s", err, out)
	}
	g := verbstest.Boot(b, verbstest.Adapter{
		ABI: "irdma", Device: "irdma0", Address: address, Options: "strict=0", Tools: []string{"ibv_devinfo"}, Files: map[string]string{"/usr/bin/cost": program},
		Programs: []guest.Program{{Package: "github.com/ibkit/ibkit/test/guest/mlx5/cost", Name: "gocost"}},
	})
	verbstest.CompareCost(b, g, "libirdma", "cost", "posts")
}
