//go:build guest

package bnxt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
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
	c := verbstest.Compile(t, "../mlx5/testdata/faults.c")
	g := verbstest.Boot(t, verbstest.Adapter{
		ABI: "bnxt", Device: "bnxt_re0", ToolsFrom: thor2.release, Address: address, Options: thor2.options,
		Tools: []string{"ibv_devinfo"}, Files: map[string]string{"/usr/bin/cfaults": c},
		Programs: []guest.Program{{Package: "github.com/ibkit/ibkit/test/guest/internal/faults"}},
	})
	var codes []string
	for code := range 12 {
		codes = append(codes, fmt.Sprintf("%d 0", code+1))
	}
	want := g.Must(t, append([]string{"cfaults"}, codes...)...)
	// Before release 64, the library leaves the vendor error as it is in flushed completions.
	want = strings.ReplaceAll(want, "status 5 vendor 0x7", "status 5 vendor 0")
	got := g.Must(t, append([]string{"faults"}, codes...)...)
	if inOrder(got) != inOrder(want) {
		t.Errorf("got completions\n%s\nwant those of libbnxt_re\n%s", got, want)
	}
	if lines := strings.Count(got, "\n"); lines < len(codes)+13 {
		t.Errorf("got %d completions, want at least %d:\n%s", lines, len(codes)+13, got)
	}
	verbstest.CheckKernel(t, g)
}

// TestRemoval removes the adapter while ibkit perf posts.
func TestRemoval(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 10 s
		return
	}
	g := verbstest.Boot(t, verbstest.Adapter{ABI: "bnxt", Device: "bnxt_re0", Address: address, Tools: []string{"rdma"}})
	server := g.MustStart(t, "ibkit", "perf", "--serve")
	if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
		t.Fatal(err)
	}
	client := g.MustStart(t, "ibkit", "perf", address, "--test", "write-bw", "--duration", "10m", "-s", "4K")
	if err := g.Await(t.Context(), "sh", "-c", "rdma res show qp | grep -q 'state RTS'"); err != nil {
		t.Fatal(err)
	}
	g.Must(t, "sh", "-c", "echo 1 >/sys/module/verbstest/parameters/remove")
	r, err := client.Wait(t.Context())
	if err != nil || r.Code != 1 || !strings.Contains(r.Stderr, "removed") {
		t.Errorf("got exit code %d, %v and %q, want 1 and a removed device", r.Code, err, r.Stderr)
	}
	_ = server.Signal(unix.SIGINT) // it may have ended
	if _, err := server.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	g.Must(t, "rmmod", "verbstest")
	verbstest.CheckKernel(t, g)
}

// inOrder sorts lines: the order between a queue pair's two queues is undefined.
func inOrder(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
