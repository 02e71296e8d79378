//go:build guest

package irdma_test

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

// TestFaults compares the completions of failed requests with libirdma: status and error
// codes for each error, and for each flush code and a code of another kind. On iWARP, each
// error ends the connection.
func TestFaults(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 25 s, 20 s for each generation of iWARP
		return
	}
	c := verbstest.Compile(t, "../mlx5/testdata/faults.c")
	a := verbstest.Adapter{
		ABI: "irdma", Device: "irdma0", Address: address, Tools: []string{"ibv_devinfo"}, Files: map[string]string{"/usr/bin/cfaults": c},
		Programs: []guest.Program{{Package: "github.com/ibkit/ibkit/test/guest/internal/faults"}},
	}
	t.Run("RoCE", func(t *testing.T) { compareFaults(t, a, nil) })
	for _, options := range []string{"irdma_gen=1", "irdma_gen=2"} {
		a.IWARP, a.Options = true, options
		t.Run("iWARP "+options, func(t *testing.T) { compareFaults(t, a, []string{"iwarp", address}) })
	}
}

func compareFaults(t *testing.T, a verbstest.Adapter, args []string) {
	g := verbstest.Boot(t, a)
	codes := []string{"3 5"} // minor and major code
	for code := range 13 {
		codes = append(codes, fmt.Sprintf("%d 1", code+1))
	}
	args = append(args, codes...)
	want := g.Must(t, append([]string{"cfaults"}, args...)...)
	// Before release 65, the library has no code for too many RNR NAKs.
	want = strings.ReplaceAll(want, "status 19 vendor 0x1000b", "status 13 vendor 0x1000b")
	got := g.Must(t, append([]string{"faults"}, args...)...)
	if inOrder(got) != inOrder(want) {
		t.Errorf("got completions\n%s\nwant those of libirdma\n%s", got, want)
	}
	if lines := strings.Count(got, "\n"); lines < len(codes)+13 {
		t.Errorf("got %d completions, want at least %d:\n%s", lines, len(codes)+13, got)
	}
	verbstest.CheckKernel(t, g)
}

// TestRemoval removes the adapter while ibkit perf posts.
func TestRemoval(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 10 s for each
		return
	}
	for _, c := range []struct {
		name  string
		iwarp bool
		args  []string
	}{{"RoCE", false, nil}, {"iWARP", true, []string{"--cm"}}} {
		t.Run(c.name, func(t *testing.T) { remove(t, c.iwarp, c.args) })
	}
}

func remove(t *testing.T, iwarp bool, args []string) {
	g := verbstest.Boot(t, verbstest.Adapter{ABI: "irdma", Device: "irdma0", Address: address, IWARP: iwarp, Tools: []string{"rdma"}})
	server, client := post(t, g, append(args, "--test", "write-bw", "-s", "4K"))
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

// post starts a server and a client of ibkit perf, which measures until its end.
func post(t *testing.T, g *guest.Guest, args []string) (server, client *guest.Process) {
	server = g.MustStart(t, "ibkit", "perf", "--serve")
	if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
		t.Fatal(err)
	}
	client = g.MustStart(t, append([]string{"ibkit", "perf", address, "--duration", "10m"}, args...)...)
	if err := g.Await(t.Context(), "sh", "-c", "rdma res show qp | grep -q 'state RTS'"); err != nil {
		t.Fatal(err)
	}
	return server, client
}

// inOrder sorts lines: the order between a queue pair's two queues is undefined.
func inOrder(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
