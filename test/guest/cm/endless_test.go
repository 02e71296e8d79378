//go:build guest

package cm_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/releases"
)

// measured are the numbers that differ from run to run: cmtime's numbers after the colon,
// and udpong's from the time on.
var measured = regexp.MustCompile(`(?m)(: |[kmg\d]) +[\d.]+(s +[\d.]+ +[\d.]+| *[\d.]+ +[\d.]+ *[\d.]+)$`)

// stopped starts a server that does not end itself, runs clients, and stops it.
func stopped(t *testing.T, g *guest.Guest, server, ready string, clients func()) guest.Result {
	t.Helper()
	p := g.MustStart(t, strings.Fields(server)...)
	if err := g.Await(t.Context(), "sh", "-c", ready); err != nil {
		t.Fatal(err)
	}
	clients()
	if err := p.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEndless runs the programs with servers that do not end: cmtime and udpong.
func TestEndless(t *testing.T) {
	t.Parallel()
	s := spec(guest.Wire)
	s.Tools = append(s.Tools, "udpong")
	a, b := guest.NewPair(t, s, s)
	v4 := [2]string{a.Ports[0].Addr.String(), b.Ports[0].Addr.String()}
	v6 := [2]string{"fd00::1", "fd00::2"}
	for i, g := range []*guest.Guest{a, b} {
		g.Must(t, "ip", "address", "add", v6[i]+"/64", "dev", g.Ports[0].Netdev, "nodad")
	}
	const udp = "grep -q ':1C06 ' /proc/net/udp /proc/net/udp6"
	type endless struct {
		name, server, client, ready string
		addresses                   [2]string
	}
	for _, c := range testenv.Cases([]endless{
		{"cmtime bound", "cmtime -b SERVER -p 9000", "cmtime -s SERVER -c 3 -b CLIENT -p 9000 -r 1 -t 3000", listens, v4},
		{"udpong rate", "udpong -T s -b SERVER -B 100000 -T b", "udpong -T s -s SERVER -C 20 -S 1400 -B 100000 -T n", udp, v4},
		{"udpong IPv6", "udpong -T s -b SERVER", "udpong -T s -s SERVER -C 10 -T echo", udp, v6},
	}, []endless{
		{"cmtime", "cmtime", "cmtime -s SERVER -c 20", listens, v4},
		{"cmtime IPv6", "cmtime -b SERVER", "cmtime -s SERVER -c 2", listens, v6},
		{"udpong", "udpong -T s -b SERVER", "udpong -T sockets -s SERVER -C 50 -T e -T async", udp, v4},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			replace := strings.NewReplacer("SERVER", c.addresses[0], "CLIENT", c.addresses[1])
			server, client := replace.Replace(c.server), strings.Fields(replace.Replace(c.client))
			text := func(r guest.Result) string { return measured.ReplaceAllString(r.Stdout, "$1 #") + r.Stderr }
			var want string
			stopped(t, a, server, c.ready, func() { want = text(run(t, b, 0, client...)) })
			if !strings.Contains(want, "#") {
				t.Fatalf("Debian's programs: got no numbers in\n%s", want)
			}
			// Debian's cmtime server rejects connections after the first
			// connections have ended.
			stopped(t, a, server, c.ready, func() {
				if got := text(run(t, b, 0, append([]string{"ibkit"}, client...)...)); got != want {
					t.Errorf("ibkit to Debian's server: got\n%s\nwant\n%s", got, want)
				}
			})
			r := stopped(t, a, "ibkit "+server, c.ready, func() {
				for _, line := range [][]string{client, append([]string{"ibkit"}, client...)} {
					if got := text(run(t, b, 0, line...)); got != want {
						t.Errorf("%v to ibkit: got\n%s\nwant\n%s", line, got, want)
					}
				}
			})
			if login := "client login from " + c.addresses[1] + "\n"; strings.HasPrefix(c.name, "udpong") && r.Stdout != login+login {
				t.Errorf("server: got %q, want %q twice", r.Stdout, login)
			}
		})
	}
	t.Run("udpong local", func(t *testing.T) {
		// Without -b, the server is reachable from its own host only.
		for _, server := range []string{"udpong -T s", "ibkit udpong -T s"} {
			stopped(t, a, server, udp, func() {
				run(t, a, 0, "udpong", "-T", "s", "-s", "::1", "-C", "2")
				run(t, a, 0, "ibkit", "udpong", "-T", "s", "-s", "::1", "-C", "2")
			})
		}
	})
	t.Run("failures", func(t *testing.T) {
		for _, line := range []string{
			"cmtime -x", "udpong -x", "cmtime -s SERVER -c 1", "cmtime -s 192.0.2.1 -c 2 -r 0", "cmtime -s nohost -c 2", "cmtime -s 10.1.0.77 -c 1 -t 100 -r 1",
			"cmtime -s SERVER -b 192.0.2.1 -c 2", "udpong -S 15", "udpong -T x", "udpong -T s -s nohost", "udpong -T s -b 192.0.2.1",
		} {
			t.Run(line, func(t *testing.T) {
				args := strings.Fields(strings.ReplaceAll(line, "SERVER", v4[0]))
				text := func(r guest.Result) string {
					// The original may notice that it closes its own channel.
					const closed = "failure in rdma_get_cm_event in process_server_events: Bad file descriptor\n"
					return measured.ReplaceAllString(releases.Upgrade(args[0], r.Stdout), "$1 #") + strings.ReplaceAll(r.Stderr, closed, "")
				}
				want := b.MustRun(t, args...)
				got := b.MustRun(t, append([]string{"ibkit"}, args...)...)
				if text(got) != text(want) || got.Code != want.Code {
					t.Errorf("got exit code %d\n%s\nwant %d\n%s", got.Code, text(got), want.Code, text(want))
				}
			})
		}
	})
}
