//go:build guest

package kernels_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

// examples runs the programs of librdmacm as server and as client, with ibkit at the other
// end. The output is the same as from two of the release's programs.
func examples(t *testing.T, g *guest.Guest) {
	host := g.Ports[0].Addr.String()
	for _, lines := range [][2]string{
		{"rping -s -a " + host + " -v -S 1000", "rping -c -a " + host + " -C 5 -v -V -S 1000"},
		{"ucmatose -c 3 -C 3 -S 5000", "ucmatose -s " + host + " -c 3 -C 3 -S 5000"},
		{"udaddy -c 2 -C 3 -S 500", "udaddy -s " + host + " -c 2 -C 3 -S 500"},
		{"rdma_server -s " + host, "rdma_client -s " + host},
	} {
		name, _, _ := strings.Cut(lines[0], " ")
		t.Run(name, func(t *testing.T) {
			want := connect(t, g, lines, [2]bool{})
			for end, r := range want {
				if r.Code != 0 {
					t.Fatalf("the release's programs, end %d: got %s", end, result(r))
				}
			}
			for _, ours := range [][2]bool{{true, false}, {false, true}} {
				for end, r := range connect(t, g, lines, ours) {
					if got, want := disconnected(r), disconnected(want[end]); got != want {
						t.Errorf("ibkit at the ends %v, end %d: got\n%swant\n%s", ours, end, got, want)
					}
				}
			}
		})
	}
}

// multicast sends to a group with ibkit, and receives with either mckey. The release's mckey
// as sender may lose messages, see docs/connections.md.
func multicast(t *testing.T, g *guest.Guest) {
	text := func(role, transfer string) string {
		return fmt.Sprintf("mckey: starting %s\nmckey: joining\nmckey: joined dgid: ::ffff:224.1.2.3 mlid 0x0 sl 0\n"+
			"%s data transfers\ndata transfers complete\ntest complete\nreturn status 0\nexit code 0\n", role, transfer)
	}
	common := []string{"mckey", "-m", "224.1.2.3", "-b", g.Ports[0].Addr.String()}
	for name, receive := range map[string][]string{"mckey": common, "ibkit": append([]string{"ibkit"}, common...)} {
		t.Run("mckey received by "+name, func(t *testing.T) {
			receiver := g.MustStart(t, receive...)
			if err := g.Await(t.Context(), "sh", "-c", "rdma resource show qp | grep "+name); err != nil {
				t.Fatal(err)
			}
			if got, want := result(g.MustRun(t, append([]string{"ibkit"}, append(common, "-s")...)...)), text("client", "initiating"); got != want {
				t.Errorf("sender: got\n%swant\n%s", got, want)
			}
			r, err := receiver.Wait(t.Context())
			if got, want := result(r), text("server", "receiving"); err != nil || got != want {
				t.Errorf("receiver: got %v\n%swant\n%s", err, got, want)
			}
		})
	}
}

// disconnected returns a result without the message about the end of the connection, which
// rping does not always print before it ends.
func disconnected(r guest.Result) string {
	r.Stderr = strings.ReplaceAll(r.Stderr, "client DISCONNECT EVENT...\n", "")
	return result(r)
}

// connect runs a server and a client. ours selects ibkit for each. A client that has ended
// before its device acknowledged the last message leaves rdma_server waiting: in Linux 7.2, 1 of
// 40 runs with two of the release's programs on a busy machine.
func connect(t *testing.T, g *guest.Guest, lines [2]string, ours [2]bool) (results [2]guest.Result) {
	t.Helper()
	args := func(end int) []string {
		words := strings.Fields(lines[end])
		switch {
		case ours[end]:
			return append([]string{"ibkit"}, words...)
		case words[0] == "rdma_server":
			return append([]string{"timeout", "60"}, words...)
		}
		return words
	}
	server := g.MustStart(t, args(0)...)
	if err := g.Await(t.Context(), "sh", "-c", "rdma resource show cm_id | grep LISTEN"); err != nil {
		t.Fatal(err)
	}
	results[1] = g.MustRun(t, args(1)...)
	var err error
	if results[0], err = server.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := &results[0]; r.Code == 128+int(unix.SIGTERM) && results[1].Code == 0 {
		t.Log("rdma_server waits for the acknowledgement of its message")
		*r = guest.Result{Stdout: "rdma_server: start\nrdma_server: end 0\n"}
	}
	return results
}
