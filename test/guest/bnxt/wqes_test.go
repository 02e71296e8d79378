//go:build guest

package bnxt_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

var record = flag.String("wqes", "", "write the work requests of libbnxt_re to `FILE`")

// TestWorkRequests posts the same work requests with libbnxt_re and with package
// verbs/internal/bnxt, and compares the bytes in the rings and in the tables of packet numbers.
// The output is verbs/internal/bnxt/testdata/libbnxt_re.wqes. Release 44 has a fetch-and-add
// with the operand in the wrong place. The program's arguments are the chip and the properties,
// as the provider's tests have them, the send ring's slots, the table's bytes, the receive
// ring's entries, and whether requests are variable and include fetch-and-add.
func TestWorkRequests(t *testing.T) {
	t.Parallel()
	program := verbstest.Compile(t, "testdata/wqes.c", "-rdynamic")
	var all strings.Builder
	for _, test := range testenv.Cases([]struct {
		release            *debian.Release
		options, arguments string
	}{{debian.Bookworm, "bnxt_gen=5", "0x1750 0 2048 4096 32 0 0"}}, []struct {
		release            *debian.Release
		options, arguments string
	}{
		{debian.Trixie, "bnxt_gen=7", "0x1760 0x50 1160 2048 17 0 1"},
		{debian.Trixie, "bnxt_gen=7 bnxt_variable=1", "0x1760 0x52 1280 16384 17 1 1"},
	}...) {
		g := verbstest.Boot(t, verbstest.Adapter{
			ABI: "bnxt", Device: "bnxt_re0", ToolsFrom: test.release, Address: address, Options: test.options, Tools: []string{"ibv_devinfo"},
			Files: map[string]string{"/usr/bin/wqes": program}, Programs: []guest.Program{{Package: "github.com/ibkit/ibkit/verbs/internal/bnxt", Test: true}},
		})
		g.Must(t, "sh", "-c", "wqes "+test.arguments+" >/root/wqes")
		if *record != "" {
			all.WriteString(g.Must(t, "cat", "/root/wqes"))
		}
		g.Must(t, "bnxt.test", "-test.run=^TestLibbnxt$", "-wqes=/root/wqes")
		verbstest.CheckKernel(t, g)
	}
	if *record != "" {
		if err := os.WriteFile(*record, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
