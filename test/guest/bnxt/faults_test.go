//go:build guest

package bnxt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestFaults compares the completions of failed requests with libbnxt_re: the status for each
// error, and for each status of a send and an unknown one. Release 44 refuses work requests in
// the error state, and reports no vendor errors.
func TestFaults(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 25 s
		return
	}
	var codes []string
	for code := range 12 {
		codes = append(codes, fmt.Sprintf("%d 0", code+1))
	}
	a := verbstest.Adapter{ABI: "bnxt", Device: "bnxt_re0", ToolsFrom: thor2.release, Address: address, Options: thor2.options}
	// Before release 64, the library leaves the vendor error as it is in flushed completions.
	verbstest.CompareFaults(t, "libbnxt_re", a, nil, codes, strings.NewReplacer("status 5 vendor 0x7", "status 5 vendor 0"))
}

// TestRemoval removes the adapter while ibkit perf posts.
func TestRemoval(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 10 s
		return
	}
	verbstest.Remove(t, verbstest.Adapter{ABI: "bnxt", Device: "bnxt_re0", Address: address}, "--test", "write-bw", "-s", "4K")
}
