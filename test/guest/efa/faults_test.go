//go:build guest

package efa_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestFaults compares the completions of failed requests with libefa: for each error, and for
// each status that adapters have, and an unknown one.
func TestFaults(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 15 s
		return
	}
	a := adapter("")
	a.ToolsFrom = debian.Trixie       // libefa 44 has fewer statuses
	a.Tools = []string{"ib_send_lat"} // which needs libefa
	a.Files = map[string]string{"/usr/bin/cfaults": verbstest.Compile(t, "testdata/faults.c", "-lefa")}
	a.Programs = []guest.Program{{Package: "github.com/ibkit/ibkit/test/guest/efa/faults"}}
	g := verbstest.Boot(t, a)
	var codes []string
	for status := range 17 {
		codes = append(codes, fmt.Sprintf("%d 1", status+1))
	}
	want, got := g.Must(t, append([]string{"cfaults"}, codes...)...), g.Must(t, append([]string{"faults"}, codes...)...)
	if got != want {
		t.Errorf("got completions\n%s\nwant those of libefa\n%s", got, want)
	}
	if lines := strings.Count(got, "\n"); lines < 3*len(codes)+30 {
		t.Errorf("got %d completions, want at least %d:\n%s", lines, 3*len(codes)+30, got)
	}
	verbstest.CheckKernel(t, g)
}

// TestRemoval removes the adapter while ibkit perf posts: over UD, because the kernel does not
// list queue pairs of SRD.
func TestRemoval(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 10 s
		return
	}
	verbstest.Remove(t, adapter(""), "--test", "send-bw", "--transport", "ud", "-s", "4K")
}
