//go:build guest

package efa_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// BenchmarkCost compares the processor time for posting and polling with libefa.
func BenchmarkCost(b *testing.B) {
	verbstest.Cost(b, "libefa", adapter(""))
}
