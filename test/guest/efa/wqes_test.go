//go:build guest

package efa_test

import (
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestWorkRequests posts the same work requests with libefa and with package
// verbs/internal/efa, and compares the bytes in the rings. The output is
// verbs/internal/efa/testdata/libefa.wqes.
func TestWorkRequests(t *testing.T) {
	t.Parallel()
	a := adapter("")
	a.Tools = []string{"ib_send_lat"} // which needs libefa
	verbstest.CompareRings(t, "efa", a, testenv.Cases(nil, []verbstest.Rings{
		{Arguments: "32"}, {Release: debian.Trixie, Options: "efa_writes=1", Arguments: "32 write"}, // libefa 44 has no writes
	}...), "-lefa")
}
