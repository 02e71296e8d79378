//go:build guest

package cm_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

// siwGuest boots a guest with a software iWARP device and returns its address. The
// device's module is built from the kernel source.
func siwGuest(t *testing.T, tools ...string) (g *guest.Guest, host string) {
	t.Helper()
	g = guest.New(t, guest.Spec{
		Modules:  []string{"ib_uverbs", "rdma_ucm", "dummy", "crc32c_generic", "libcrc32c"},
		Insert:   []string{guest.TreeModule(t, debian.Bookworm, "drivers/infiniband/sw/siw", "CONFIG_RDMA_SIW")},
		Tools:    append([]string{"ip", "rdma"}, tools...),
		Programs: []guest.Program{guest.Ibkit},
		Files:    map[string]string{libgcc: libgcc}, // which Debian's rping loads when it ends a thread
	})
	host = "10.0.0.1"
	g.Must(t, "ip", "link", "add", "dummy7", "type", "dummy")
	g.Must(t, "ip", "address", "add", host+"/24", "dev", "dummy7")
	g.Must(t, "ip", "link", "set", "dummy7", "up")
	g.Must(t, "ibkit", "link", "add", "siw0", "--type", "siw", "--netdev", "dummy7", "--yes", "--log", "-")
	return g, host
}

// TestSIW connects over software iWARP: rping in both roles against Debian's, which uses
// libsiw, cm, and Debian's cmtime to ibkit's servers.
func TestSIW(t *testing.T) {
	t.Parallel()
	g, host := siwGuest(t, "rping", "cmtime", "strace", "timeout")
	for _, c := range testenv.Cases([]pingCase{{"data", []string{"-v", "-S", "1000"}, []string{"-C", "70", "-v", "-V", "-S", "1000"}}}, morePings...) {
		t.Run(c.name, func(t *testing.T) {
			want := map[bool]guest.Result{}
			for _, who := range []string{"Debian's alone", "ours", "Debian server", "Debian client"} {
				served, asked := pingedBounded(t, g, ends[who],
					append([]string{"-s", "-a", host}, c.server...), append([]string{"-c", "-a", host}, c.client...))
				for isServer, r := range map[bool]guest.Result{true: served, false: asked} {
					if who == "Debian's alone" {
						want[isServer] = r
						continue
					}
					// Debian's rping ends with 255 if it sees the end of the TCP
					// connection before the last completion.
					debian := who == "Debian server" && isServer || who == "Debian client" && !isServer
					if r.Stdout != want[isServer].Stdout || r.Code != 0 && !(debian && r.Code == 255) {
						t.Errorf("%s, server %v: got exit code %d\n%s%s\nwant 0\n%s", who, isServer, r.Code, r.Stdout, r.Stderr, want[isServer].Stdout)
					}
				}
			}
		})
	}
	t.Run("cm", func(t *testing.T) {
		p := g.MustStart(t, "ibkit", "cm", "--serve", host) // siw has no addresses on lo, only on its interface
		if err := g.Await(t.Context(), "sh", "-c", "rdma resource show cm_id | grep LISTEN"); err != nil {
			t.Fatal(err)
		}
		r := g.MustRun(t, "ibkit", "cm", host)
		if r.Code != 0 || !strings.Contains(r.Stdout, "disconnect") || !strings.Contains(r.Stdout, "siw0/1") {
			t.Errorf("got exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
		}
		t.Log(r.Stdout)
		r = g.MustRun(t, "ibkit", "cm", "--count", "50", "--parallel", "4", host)
		if r.Code != 0 || !strings.Contains(r.Stdout, "50 of 50 connections established") {
			t.Errorf("got exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
		}
		t.Log(r.Stdout)
		if r = g.MustRun(t, "ibkit", "cm", host+":5"); r.Code != 3 || !strings.Contains(r.Stdout, "no listener") {
			t.Errorf("no listener: got exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
		}
		t.Log(r.Stdout)
		if err := p.Signal(unix.SIGINT); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for name, server := range map[string][]string{"cmtime": {"ibkit", "cmtime", "-b", host}, "cmtime with cm": {"ibkit", "cm", "--serve", host}} {
		t.Run(name, func(t *testing.T) {
			p := g.MustStart(t, server...)
			if err := g.Await(t.Context(), "sh", "-c", listens); err != nil {
				t.Fatal(err)
			}
			for _, client := range []string{"cmtime", "ibkit cmtime"} {
				r := g.MustRun(t, append(strings.Fields("timeout 30 "+client), "-s", host, "-c", "20")...)
				if r.Code != 0 || strings.Contains(r.Stdout, "error") {
					t.Errorf("%s: got exit code %d\n%s%s", client, r.Code, r.Stdout, r.Stderr)
				}
				t.Logf("%s\n%s", client, r.Stdout)
			}
			signal(t, p, unix.SIGINT)
			wait(t, p)
		})
	}
	t.Run("all addresses", func(t *testing.T) { allAddresses(t, g) })
	if left := g.MustRun(t, "rdma", "resource", "show", "qp"); strings.Contains(left.Stdout, "pid") {
		t.Errorf("got queue pairs that are left over:\n%s", left.Stdout)
	}
	if got := g.Must(t, "ibkit", "link", "delete", "siw0", "--yes", "--log", "-"); !strings.Contains(got, "siw0 was deleted") {
		t.Errorf("got %q, want that siw0 was deleted", got)
	}
	if left := g.Must(t, "rdma", "link"); left != "" {
		t.Errorf("got devices that are left over:\n%s", left)
	}
}

// pingedBounded runs a server and a client, and both again if the client's first message
// waits in the kernel, see docs/connections.md.
func pingedBounded(t *testing.T, g *guest.Guest, ends [2][]string, server, client []string) (served, asked guest.Result) {
	t.Helper()
	for i := range ends {
		ends[i] = append([]string{"timeout", "20"}, ends[i]...)
	}
	for range 5 {
		served, asked = pinged(t, g, g, ends, server, client)
		const late = 124 // from timeout
		if served.Code != late && asked.Code != late {
			break
		}
		t.Log("the first message waits in the kernel")
	}
	return served, asked
}

// allAddresses checks that a listener on all addresses has a TCP socket for each family:
// an IPv6 socket does not accept IPv4. The guest cannot connect to them: a siw listener
// does not accept packets from the interface lo.
func allAddresses(t *testing.T, g *guest.Guest) {
	p := g.MustStart(t, "ibkit", "cm", "--serve")
	if err := p.AwaitOutput(t.Context(), "accepting connections"); err != nil {
		t.Fatal(err)
	}
	const port, listen = ":1D2F", " 0A " // 7471; the state in /proc/net/tcp
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if got := g.Must(t, "cat", file); !strings.Contains(got, port) || !strings.Contains(got, listen) {
			t.Errorf("%s: got\n%s\nwant a socket that listens on port 7471", file, got)
		}
	}
	signal(t, p, unix.SIGINT)
	if r := wait(t, p); r.Code != 0 {
		t.Errorf("got exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}
