//go:build guest

package cm_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
)

// ends are the programs at the server and at the client.
var ends = map[string][2][]string{
	"ours":           {{"ibkit", "rping"}, {"ibkit", "rping"}},
	"Debian server":  {{"rping"}, {"ibkit", "rping"}},
	"Debian client":  {{"ibkit", "rping"}, {"rping"}},
	"Debian's alone": {{"rping"}, {"rping"}},
}

// pinged runs a server and a client with the same options.
func pinged(t *testing.T, a, b *guest.Guest, ends [2][]string, server, client []string) (served, pinged guest.Result) {
	t.Helper()
	p := a.MustStart(t, append(append([]string{}, ends[0]...), server...)...)
	if err := a.Await(t.Context(), "sh", "-c", "rdma resource show cm_id | grep LISTEN"); err != nil {
		t.Fatal(err)
	}
	pinged = b.MustRun(t, append(append([]string{}, ends[1]...), client...)...)
	served, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return served, pinged
}

// normal returns the error output without the messages about an end of the connection that
// the original does not always print before it ends itself.
func normal(r guest.Result) string {
	text := strings.ReplaceAll(r.Stderr, "client DISCONNECT EVENT...\n", "")
	if r.Code != 0 {
		text = strings.ReplaceAll(text, "server DISCONNECT EVENT...\n", "")
	}
	return text
}

// A pingCase has rping options.
type pingCase struct {
	name           string
	server, client []string
}

// morePings have other sizes.
var morePings = []pingCase{
	{"defaults", nil, []string{"-C", "3", "-v"}},
	{"large", []string{"-S", "65535"}, []string{"-C", "2", "-V", "-S", "65535"}},
	{"small", []string{"-v", "-S", "23", "-p", "9999"}, []string{"-C", "2", "-v", "-S", "23", "-p", "9999"}},
}

// TestRping runs all options in both roles against Debian's rping, over IPv4 between two
// hosts. The output is the same as from two Debian programs.
func TestRping(t *testing.T) {
	t.Parallel()
	a, b := guest.NewPair(t, spec(guest.Wire), spec(guest.Wire))
	host := a.Ports[0].Addr.String()
	for _, c := range testenv.Cases([]pingCase{
		{"data", []string{"-v", "-S", "1000"}, []string{"-C", "70", "-v", "-V", "-S", "1000"}},
		{"source", []string{"-q"}, []string{"-C", "2", "-v", "-q", "-I", b.Ports[0].Addr.String()}},
		// The server has less room than the client announces.
		{"mismatch", []string{"-S", "64"}, []string{"-C", "2", "-S", "4096"}},
	}, morePings...) {
		t.Run(c.name, func(t *testing.T) {
			want := map[bool]guest.Result{}
			for _, who := range []string{"Debian's alone", "ours", "Debian server", "Debian client"} {
				served, asked := pinged(t, a, b, ends[who],
					append([]string{"-s", "-a", host}, c.server...), append([]string{"-c", "-a", host}, c.client...))
				for isServer, r := range map[bool]guest.Result{true: served, false: asked} {
					if who == "Debian's alone" {
						want[isServer] = r
						continue
					}
					if w := want[isServer]; r.Stdout != w.Stdout || normal(r) != normal(w) || r.Code != w.Code {
						t.Errorf("%s, server %v: got exit code %d\n%s%s\nwant %d\n%s%s", who, isServer, r.Code, r.Stdout, r.Stderr, w.Code, w.Stdout, w.Stderr)
					}
				}
			}
		})
	}
	t.Run("persistent", func(t *testing.T) {
		for server, client := range map[string][]string{"ibkit": {"rping"}, "rping": {"ibkit", "rping"}} {
			line := []string{"rping", "-s", "-P", "-a", host, "-p", "9000"}
			if server == "ibkit" {
				line = append([]string{"ibkit"}, line...)
			}
			p := a.MustStart(t, line...)
			ping := append(append([]string{}, client...), "-c", "-a", host, "-p", "9000", "-C", "2", "-V")
			for range 3 {
				if err := b.Await(t.Context(), ping...); err != nil {
					t.Error(err)
				}
			}
			if err := p.Signal(unix.SIGKILL); err != nil {
				t.Error(err)
			}
			if _, err := p.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("refused", func(t *testing.T) {
		r := run(t, b, 255, "ibkit", "rping", "-c", "-a", host, "-p", "5")
		if want := "cma event RDMA_CM_EVENT_REJECTED, error 8\n"; !strings.HasPrefix(r.Stderr, want) {
			t.Errorf("got %q, want %q", r.Stderr, want)
		}
	})
}
