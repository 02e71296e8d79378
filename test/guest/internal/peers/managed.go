//go:build guest

package peers

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
)

// A Pair has command lines for programs that connect with the connection manager. HOST
// stands for the server's address.
type Pair struct{ Server, Client string }

// Managed runs each pair with Debian's programs at both ends, at one end, and in all cases
// with ibkit at both. same compares an end with Debian's alone; ours selects ibkit.
func Managed(t *testing.T, g *guest.Guest, host string, pairs []Pair, same func(ours bool, got, want guest.Result) bool) {
	for _, p := range pairs {
		var want [2]guest.Result
		for i, ours := range testenv.Cases([][2]bool{{false, false}, {true, false}, {false, true}}, [2]bool{true, true}) {
			t.Run(strings.Join([]string{p.Server, program(ours[0]), program(ours[1])}, ", "), func(t *testing.T) {
				got := connect(t, g, host, p, ours)
				if i == 0 {
					want = got
				}
				for end, side := range []string{"server", "client"} {
					if !same(ours[end], got[end], want[end]) {
						t.Errorf("%s: got exit code %d\n%s%s\nwant as\n%s%s", side, got[end].Code, got[end].Stdout, got[end].Stderr, want[end].Stdout, want[end].Stderr)
					}
				}
			})
		}
	}
	if left := g.Must(t, "rdma", "resource", "show", "qp"); strings.Contains(left, "pid") {
		t.Errorf("got queue pairs that are left over:\n%s", left)
	}
}

// Identical compares both outputs of a program that succeeds.
func Identical(_ bool, got, want guest.Result) bool {
	return got.Stdout == want.Stdout && got.Stderr == want.Stderr && got.Code == 0
}

func program(ours bool) string {
	if ours {
		return "ibkit"
	}
	return "Debian"
}

// connect runs a server and a client.
func connect(t *testing.T, g *guest.Guest, host string, pair Pair, ours [2]bool) [2]guest.Result {
	t.Helper()
	line := func(text string, ours bool) []string {
		args := []string{"timeout", "60"}
		if ours {
			args = append(args, "ibkit")
		}
		return append(args, strings.Fields(strings.ReplaceAll(text, "HOST", host))...)
	}
	p := g.MustStart(t, line(pair.Server, ours[0])...)
	if err := g.Await(t.Context(), "sh", "-c", "rdma resource show cm_id | grep LISTEN"); err != nil {
		t.Fatal(err)
	}
	c := g.MustRun(t, line(pair.Client, ours[1])...)
	served, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return [2]guest.Result{served, c}
}
