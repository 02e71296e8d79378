//go:build guest

package bnxt_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// BenchmarkCost compares the processor time for posting and polling with libbnxt_re.
func BenchmarkCost(b *testing.B) {
	verbstest.Cost(b, "libbnxt_re", verbstest.Adapter{ABI: "bnxt", Device: "bnxt_re0", Address: address}, "posts")
}
