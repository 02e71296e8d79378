//go:build guest

package devices_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// TestViews checks values in native views that only a real kernel has.
func TestViews(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec)
	for line, want := range map[string]string{
		"devinfo":            g.Ports[1].Addr.String(),
		"devinfo --wide":     "uverbs1",
		"devinfo rxe1":       "RoCE v2",
		"devinfo --uapi":     "QUERY_PORT",
		"devinfo --problems": "",
	} {
		t.Run(line, func(t *testing.T) {
			r := g.MustRun(t, append([]string{"ibkit"}, strings.Fields(line)...)...)
			if r.Code != 0 || r.Stderr != "" || !strings.Contains(r.Stdout, want) {
				t.Errorf("got exit code %d, want 0 with %q\n%s%s", r.Code, want, r.Stdout, r.Stderr)
			}
		})
	}
	g.Must(t, "ip", "link", "set", g.Ports[0].Netdev, "down")
	if r := g.MustRun(t, "ibkit", "devinfo", "--problems"); r.Code != 3 || !strings.Contains(r.Stdout, "rxe0/1: port is not active") {
		t.Errorf("port down: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}
