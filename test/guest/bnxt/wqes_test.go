//go:build guest

package bnxt_test

import (
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestWorkRequests posts the same work requests with libbnxt_re and with package
// verbs/internal/bnxt, and compares the bytes in the rings and in the tables of packet numbers.
// The output is verbs/internal/bnxt/testdata/libbnxt_re.wqes. Release 44 has a fetch-and-add
// with the operand in the wrong place. The program's arguments are the chip and the properties,
// as the provider's tests have them, the send ring's slots, the table's bytes, the receive
// ring's entries, and whether requests are variable and include fetch-and-add.
func TestWorkRequests(t *testing.T) {
	t.Parallel()
	a := verbstest.Adapter{ABI: "bnxt", Device: "bnxt_re0", Address: address, Tools: []string{"ibv_devinfo"}}
	verbstest.CompareRings(t, "bnxt", a, testenv.Cases(nil, []verbstest.Rings{
		{Options: "bnxt_gen=5", Arguments: "0x1750 0 2048 4096 32 0 0"},
		{Release: debian.Trixie, Options: "bnxt_gen=7", Arguments: "0x1760 0x50 1160 2048 17 0 1"},
		{Release: debian.Trixie, Options: "bnxt_gen=7 bnxt_variable=1", Arguments: "0x1760 0x52 1280 16384 17 1 1"},
	}...))
}
