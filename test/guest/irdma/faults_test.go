//go:build guest

package irdma_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestFaults compares the completions of failed requests with libirdma: status and error
// codes for each error, and for each flush code and a code of another kind. On iWARP, each
// error ends the connection.
func TestFaults(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 25 s, 20 s for each generation of iWARP
		return
	}
	codes := []string{"3 5"} // minor and major code
	for code := range 13 {
		codes = append(codes, fmt.Sprintf("%d 1", code+1))
	}
	// Before release 65, the library has no code for too many RNR NAKs.
	correct := strings.NewReplacer("status 19 vendor 0x1000b", "status 13 vendor 0x1000b")
	a := verbstest.Adapter{ABI: "irdma", Device: "irdma0", Address: address}
	t.Run("RoCE", func(t *testing.T) { verbstest.CompareFaults(t, "libirdma", a, nil, codes, correct) })
	for _, options := range []string{"irdma_gen=1", "irdma_gen=2"} {
		a.IWARP, a.Options = true, options
		t.Run("iWARP "+options, func(t *testing.T) {
			verbstest.CompareFaults(t, "libirdma", a, []string{"iwarp", address}, codes, correct)
		})
	}
}

// TestRemoval removes the adapter while ibkit perf posts.
func TestRemoval(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 10 s for each
		return
	}
	a := verbstest.Adapter{ABI: "irdma", Device: "irdma0", Address: address}
	t.Run("RoCE", func(t *testing.T) { verbstest.Remove(t, a, "--test", "write-bw", "-s", "4K") })
	a.IWARP = true
	t.Run("iWARP", func(t *testing.T) { verbstest.Remove(t, a, "--cm", "--test", "write-bw", "-s", "4K") })
}
