//go:build guest

package verbstest

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

var record = flag.String("wqes", "", "write the work requests of the C library to `FILE`")

// Record writes the output of a program that records work requests to the file of the flag
// -wqes, if it is set.
func Record(t *testing.T, text string) {
	t.Helper()
	if *record == "" {
		return
	}
	if err := os.WriteFile(*record, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Rings are a run of CompareRings.
type Rings struct {
	Release   *debian.Release // of the C library
	Options   string          // of the module
	Arguments string          // of the program
}

// CompareRings posts the same work requests with a C library, in the program
// testdata/wqes.c, and with the package of a driver below verbs/internal, in its test with a
// name that begins with TestLib. That test compares the bytes in the rings.
func CompareRings(t *testing.T, driver string, a Adapter, runs []Rings, flags ...string) {
	t.Helper()
	a.Files = map[string]string{"/usr/bin/wqes": Compile(t, "testdata/wqes.c", append(flags, "-rdynamic")...)}
	a.Programs = []guest.Program{{Package: "github.com/ibkit/ibkit/verbs/internal/" + driver, Test: true}}
	var all strings.Builder
	for _, run := range runs {
		a.ToolsFrom, a.Options = run.Release, run.Options
		g := Boot(t, a)
		g.Must(t, "sh", "-c", "wqes "+run.Arguments+" >/root/wqes")
		if *record != "" {
			all.WriteString(g.Must(t, "cat", "/root/wqes"))
		}
		g.Must(t, driver+".test", "-test.run=^TestLib", "-wqes=/root/wqes")
		CheckKernel(t, g)
	}
	Record(t, all.String())
}
