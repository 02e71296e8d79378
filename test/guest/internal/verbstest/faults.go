//go:build guest

package verbstest

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

// CompareFaults compares the completions of failed requests with those of a C library, for
// each error and for the injected codes, which follow other arguments. correct replaces known
// errors of the library.
func CompareFaults(t *testing.T, library string, a Adapter, args, codes []string, correct *strings.Replacer) {
	t.Helper()
	a.Tools = []string{"ibv_devinfo"}
	a.Files = map[string]string{"/usr/bin/cfaults": Compile(t, "../mlx5/testdata/faults.c")}
	a.Programs = []guest.Program{{Package: "github.com/ibkit/ibkit/test/guest/internal/faults"}}
	g := Boot(t, a)
	all := slices.Concat(args, codes)
	want := correct.Replace(g.Must(t, append([]string{"cfaults"}, all...)...))
	got := g.Must(t, append([]string{"faults"}, all...)...)
	if inOrder(got) != inOrder(want) {
		t.Errorf("got completions\n%s\nwant those of %s\n%s", got, library, want)
	}
	if lines := strings.Count(got, "\n"); lines < len(codes)+13 {
		t.Errorf("got %d completions, want at least %d:\n%s", lines, len(codes)+13, got)
	}
	CheckKernel(t, g)
}

// inOrder sorts lines: the order between a queue pair's two queues is undefined.
func inOrder(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Remove removes an adapter while ibkit perf posts, with the options of a test.
func Remove(t *testing.T, a Adapter, options ...string) {
	t.Helper()
	a.Tools = []string{"rdma"}
	g := Boot(t, a)
	server, client := Post(t, g, a.Address, options...)
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
	CheckKernel(t, g)
}

// Post starts a server and a client of ibkit perf, which measures until its end.
func Post(t *testing.T, g *guest.Guest, address string, options ...string) (server, client *guest.Process) {
	t.Helper()
	server = g.MustStart(t, "ibkit", "perf", "--serve")
	if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
		t.Fatal(err)
	}
	client = g.MustStart(t, append([]string{"ibkit", "perf", address, "--duration", "10m"}, options...)...)
	if err := g.Await(t.Context(), "sh", "-c", "rdma res show qp | grep -q 'state RTS'"); err != nil {
		t.Fatal(err)
	}
	return server, client
}
