//go:build guest

package perf_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

// siwPair boots two joined guests, each with a software iWARP device, and returns the
// first guest's address. The module is built from the kernel source.
func siwPair(t *testing.T) (a, b *guest.Guest, host string) {
	t.Helper()
	spec := guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Wire}}, // for the network device
		Modules:  []string{"crc32c_generic", "libcrc32c"},
		Insert:   []string{guest.TreeModule(t, debian.Bookworm, "drivers/infiniband/sw/siw", "CONFIG_RDMA_SIW")},
		Tools:    append([]string{"ip", "rdma"}, classicTools...),
		Programs: []guest.Program{guest.Ibkit},
	}
	a, b = guest.NewPair(t, spec, spec)
	for _, g := range []*guest.Guest{a, b} {
		showFrequency(t, g)
		g.Must(t, "rdma", "link", "delete", "rxe0")
		g.Must(t, "ibkit", "link", "add", "siw0", "--type", "siw", "--netdev", g.Ports[0].Netdev, "--yes", "--log", "-")
	}
	return a, b, a.Ports[0].Addr.String()
}

// TestSIW runs tests over software iWARP. perftest programs at one end sometimes hang, as
// two perftest programs do: their first message can wait in the other host's kernel, see
// docs/connections.md.
func TestSIW(t *testing.T) {
	t.Parallel()
	a, b, host := siwPair(t)
	server := serve(t, a)
	const noAtomics = "operation not supported by this type of queue pair"
	for _, c := range []struct {
		args string
		code int
		want []string // on either stream
	}{
		{"--test send-lat,write-lat,read-lat -s 100 -n 50 --verify", 0, []string{"siw0/1", "verified"}},
		{"--test send-bw,read-bw -s 4K -n 100 --verify", 0, []string{"verified"}},
		{"--test write-bw -s 4K -n 100 --qps 3 -b", 0, []string{"3 queue pairs"}},
		{"--test send-bw -s 4K -n 200 -b", 0, nil},
		{"--test send-bw -s 64K -n 100 --qps 3 -b", 0, []string{"3 queue pairs"}},
		{"--test write-bw --verify", 1, []string{"a write is complete before its data"}},
		{"--test send-lat,write-bw -s 2K -n 50 --events", 0, nil},
		{"--test all -s 512 -n 20", 4, []string{noAtomics}},
		{"--test fetch-add", 1, []string{noAtomics}},
		{"--test send-lat --transport uc", 1, []string{"on iWARP"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := b.MustRun(t, append([]string{"ibkit", "perf", host, "--cm"}, strings.Fields(c.args)...)...)
			for _, want := range c.want {
				if !strings.Contains(r.Stdout+r.Stderr, want) {
					t.Errorf("got no %q in the output", want)
				}
			}
			if r.Code != c.code || t.Failed() {
				t.Errorf("got exit code %d, want %d\n%s%s", r.Code, c.code, r.Stdout, r.Stderr)
			}
		})
	}
	finishServer(t, server)
	t.Run("ib_send_bw", func(t *testing.T) {
		p := a.MustStart(t, "ib_send_bw", "-R", "-F", "-p", "19600")
		awaitManaged(t, a, "19600")
		r := b.MustRun(t, "ibkit", "ib_send_bw", "-R", "-F", "-p", "19600", host)
		if r.Code != 1 || !strings.Contains(r.Stderr, "needs credits") {
			t.Errorf("got exit code %d and %q, want 1 and the reason", r.Code, r.Stderr)
		}
		_ = p.Signal(unix.SIGINT) // it may have ended
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
