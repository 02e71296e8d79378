//go:build guest

package kernels_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

// cmtimeLines are the command lines of a listening and a connecting cmtime with the protocol
// that a release introduced. On one device, simulated queue pairs need different numbers.
func cmtimeLines(r *debian.Release, host string) [2][]string {
	common := []string{"cmtime", "-b", host, "-c", "20"}
	client := []string{"-n", "1", "-s", host}
	server := []string{"-q", "100000"}
	if r == debian.Sid {
		common, client, server = append(common, "-C", host), nil, append(server, "-L")
	}
	return [2][]string{slices.Concat(common, server), slices.Concat(common, client)}
}

// figure matches a figure in cmtime's tables.
var figure = regexp.MustCompile(` +[0-9]+`)

// cmtime connects the release's cmtime to ibkit, as both sides. The output is the same as from
// two of the release's programs but for the times.
func cmtime(t *testing.T, g *guest.Guest, r *debian.Release) {
	lines := cmtimeLines(r, g.Ports[0].Addr.String())
	ready := fmt.Sprintf("grep -q ':%04X .* 0A ' /proc/net/tcp", 7471)
	var want [2]string
	for _, ours := range [][2]bool{{}, {true, false}, {false, true}, {true, true}} {
		args := lines
		for end := range args {
			if ours[end] {
				args[end] = append([]string{"ibkit"}, args[end]...)
			}
		}
		server := g.MustStart(t, args[0]...)
		if err := g.Await(t.Context(), "sh", "-c", ready); err != nil {
			t.Fatal(err)
		}
		client := g.MustRun(t, args[1]...)
		served, err := server.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for end, r := range []guest.Result{served, client} {
			got := figure.ReplaceAllString(result(r), " N")
			if ours == [2]bool{} {
				want[end] = got
			}
			if got != want[end] || r.Code != 0 {
				t.Errorf("ibkit at the ends %v, end %d: got\n%s\nwant\n%s", ours, end, result(r), want[end])
			}
		}
		if got := strings.Count(client.Stdout, "\nestablish "); got != 2 {
			t.Errorf("got %d tables, want 2", got)
		}
	}
}
