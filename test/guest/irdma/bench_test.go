//go:build guest

package irdma_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// BenchmarkCost compares the processor time for posting and polling with libirdma.
func BenchmarkCost(b *testing.B) {
	verbstest.Cost(b, "libirdma", verbstest.Adapter{ABI: "irdma", Device: "irdma0", Address: address}, "posts")
}
