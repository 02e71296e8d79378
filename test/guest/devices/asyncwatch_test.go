//go:build guest

package devices_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

// eventFD matches a file descriptor number.
var eventFD = regexp.MustCompile(`FD [0-9]+`)

// TestAsyncwatch compares ibv_asyncwatch with Debian's: usage and errors, and the events
// from a port that goes down and up while both run.
func TestAsyncwatch(t *testing.T) {
	t.Parallel()
	with := spec
	with.Tools = append([]string{"ibv_asyncwatch"}, spec.Tools...)
	g := guest.New(t, with)
	for _, line := range []string{"ibv_asyncwatch -h", "ibv_asyncwatch --help", "ibv_asyncwatch -x", "ibv_asyncwatch -d", "ibv_asyncwatch -d nosuch", "ibv_asyncwatch --ib-dev=nosuch rest"} {
		t.Run(line, func(t *testing.T) { compare(t, g, line) })
	}
	for _, device := range []string{"rxe0", "rxe1"} {
		args := []string{"ibv_asyncwatch", "-d", device}
		if device == "rxe0" {
			args = args[:1] // the first device is the default
		}
		theirs := g.MustStart(t, args...)
		ours := g.MustStart(t, append([]string{"ibkit"}, args...)...)
		both := []*guest.Process{theirs, ours}
		await := func(text string) {
			t.Helper()
			for _, p := range both {
				if err := p.AwaitOutput(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			}
		}
		await(device + ": async event FD")
		netdev := g.Ports[0].Netdev
		if device == "rxe1" {
			netdev = g.Ports[1].Netdev
		}
		g.Must(t, "ip", "link", "set", netdev, "down")
		await("PORT_ERR")
		g.Must(t, "ip", "link", "set", netdev, "up")
		await("PORT_ACTIVE")
		g.Must(t, "ip", "address", "add", "192.0.2.77/24", "dev", netdev)
		await("GID_CHANGE")
		var out [2]string
		for i, p := range both {
			if err := p.Signal(unix.SIGTERM); err != nil {
				t.Fatal(err)
			}
			r, err := p.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			out[i] = eventFD.ReplaceAllString(r.Stdout, "FD N")
		}
		if out[0] != out[1] || !strings.Contains(out[0], "IBV_EVENT_PORT_ERR (10), port 1") {
			t.Errorf("%s: got\n%s\nwant\n%s", device, out[1], out[0])
		}
		t.Log(out[1])
	}
}
