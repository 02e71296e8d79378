//go:build guest

package efa_test

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

var record = flag.String("wqes", "", "write the work requests of libefa to `FILE`")

// TestWorkRequests posts the same work requests with libefa and with package
// verbs/internal/efa, and compares the bytes in the rings. The output is
// verbs/internal/efa/testdata/libefa.wqes.
func TestWorkRequests(t *testing.T) {
	t.Parallel()
	program := verbstest.Compile(t, "testdata/wqes.c", "-lefa", "-rdynamic")
	var all strings.Builder
	for _, release := range testenv.Cases([]*debian.Release{debian.Bookworm}, debian.Trixie) {
		a := verbstest.Adapter{
			ABI: "efa", Device: "efa_0", ToolsFrom: release, Address: "10.7.0.1", Alone: true, Tools: []string{"ib_send_lat"}, // which needs libefa
			Files: map[string]string{"/usr/bin/wqes": program}, Programs: []guest.Program{{Package: "github.com/ibkit/ibkit/verbs/internal/efa", Test: true}},
		}
		arguments := "32"
		if release != debian.Bookworm { // libefa 44 has no writes
			a.Options, arguments = "efa_writes=1", "32 write"
		}
		g := verbstest.Boot(t, a)
		g.Must(t, "sh", "-c", "wqes "+arguments+" >/root/wqes")
		if *record != "" {
			all.WriteString(g.Must(t, "cat", "/root/wqes"))
		}
		g.Must(t, "efa.test", "-test.run=^TestLibefa$", "-wqes=/root/wqes")
		verbstest.CheckKernel(t, g)
	}
	if *record != "" {
		if err := os.WriteFile(*record, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
