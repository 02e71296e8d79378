//go:build guest

package irdma_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest/internal/selftest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// A generation is an adapter generation, with the cases of the self-test that it does not have.
type generation struct {
	number      int
	unsupported []string
}

// TestSelf runs the self-test in each generation.
func TestSelf(t *testing.T) {
	t.Parallel()
	never := []string{"uc", "xrc", "device huge pages", "device region of a dma-buf"}
	second := []string{
		"rc compare and swap", "rc fetch and add", "rc error: atomic, wrong rkey", "rc error: atomic, region without remote atomic",
		"rc error: atomic, queue pair without remote atomic", "rc error: misaligned atomic",
		"rc shared receive queue", "rc shared receive queue limit", "ud shared receive queue",
	}
	first := append([]string{"rc send with immediate", "rc write with immediate", "ud send with immediate", "device relaxed ordering"}, second...)
	for _, test := range testenv.Cases(nil, generation{2, second}, generation{1, first}, generation{3, nil}) {
		t.Run(fmt.Sprint(test.number), func(t *testing.T) {
			g := boot(t, fmt.Sprintf("irdma_gen=%d", test.number))
			selftest.Run(t, g, "irdma0", selftest.Expected{Unsupported: slices.Concat(never, test.unsupported)})
			verbstest.CheckKernel(t, g)
		})
	}
}
