//go:build guest

package mlx5_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestManager connects RC and XRC queue pairs with the connection manager, with Debian's
// programs at both ends, at one end, and ibkit at both. The output is the same as Debian's.
func TestManager(t *testing.T) {
	t.Parallel()
	s := spec(t)
	s.Devices = []guest.Device{{Name: "rxe0", Link: guest.Dummy}} // for the network device
	s.Tools = append(s.Tools, "ip", "rdma", "rdma_xclient", "rdma_xserver", "rdma_client", "rdma_server", "ucmatose")
	g := guest.New(t, s)
	g.Must(t, "rdma", "link", "delete", "rxe0")
	host := g.Ports[0].Addr.String()
	reload(t, g, "netdev="+g.Ports[0].Netdev, "cm=1", "strict=1")
	type pair struct{ server, client string }
	for _, c := range testenv.Cases([]pair{
		{"rdma_server", "rdma_client -s HOST"},
		{"ucmatose -c 3 -C 2", "ucmatose -s HOST -c 3 -C 2"},
		{"rdma_xserver -c x", "rdma_xclient -s HOST -c x"},
	}, pair{"rdma_xserver", "rdma_xclient -s HOST"}, pair{"rdma_xserver -c X -p 99", "rdma_xclient -s HOST -c X -p 99"}) {
		want := [2]guest.Result{}
		for i, ours := range testenv.Cases([][2]bool{{false, false}, {true, false}, {false, true}}, [2]bool{true, true}) {
			name := strings.Join([]string{c.server, program(ours[0]), program(ours[1])}, ", ")
			t.Run(name, func(t *testing.T) {
				got := connect(t, g, host, c.server, c.client, ours)
				if i == 0 {
					want = got
				}
				for k, side := range []string{"server", "client"} {
					if got[k].Stdout != want[k].Stdout || got[k].Stderr != want[k].Stderr || got[k].Code != 0 {
						t.Errorf("%s: got exit code %d\n%s%s\nwant 0\n%s%s", side, got[k].Code, got[k].Stdout, got[k].Stderr, want[k].Stdout, want[k].Stderr)
					}
				}
			})
		}
	}
	if left := g.Must(t, "rdma", "resource", "show", "qp"); strings.Contains(left, "pid") {
		t.Errorf("got queue pairs that are left over:\n%s", left)
	}
	verbstest.CheckKernel(t, g)
}

func program(ours bool) string {
	if ours {
		return "ibkit"
	}
	return "Debian"
}

// connect runs a server and a client.
func connect(t *testing.T, g *guest.Guest, host, server, client string, ours [2]bool) [2]guest.Result {
	t.Helper()
	line := func(text string, ours bool) []string {
		args := []string{"timeout", "60"}
		if ours {
			args = append(args, "ibkit")
		}
		return append(args, strings.Fields(strings.ReplaceAll(text, "HOST", host))...)
	}
	p := g.MustStart(t, line(server, ours[0])...)
	if err := g.Await(t.Context(), "sh", "-c", "rdma resource show cm_id | grep LISTEN"); err != nil {
		t.Fatal(err)
	}
	c := g.MustRun(t, line(client, ours[1])...)
	served, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return [2]guest.Result{served, c}
}
