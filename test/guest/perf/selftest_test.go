//go:build guest

package perf_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/selftest"
)

// TestSelfTest runs the self-test on Soft-RoCE.
func TestSelfTest(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}}, Programs: []guest.Program{guest.Ibkit}})
	g.Must(t, "sh", "-c", "echo 4 >/proc/sys/vm/nr_hugepages")
	selftest.Run(t, g, "rxe0", selftest.Expected{Unsupported: []string{
		// The driver does not flush them, and the kernel has no udmabuf.
		"rc flush of receives in the error state", "uc flush of receives in the error state", "ud flush of receives in the error state",
		"device region of a dma-buf",
	}})
	nothingLeft(t, g)
}
