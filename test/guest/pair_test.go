//go:build guest

package guest_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// TestPair runs the two ends of Debian's tools in two guests.
func TestPair(t *testing.T) {
	t.Parallel()
	spec := guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Wire}},
		Tools:   []string{"ibv_rc_pingpong", "ib_send_lat"},
	}
	a, b := guest.NewPair(t, spec, spec)
	a.Must(t, "ping", "-c", "1", b.Ports[0].Addr.String())

	for _, c := range []struct {
		args []string
		port uint16 // TCP
		want string // on stdout at both ends
	}{
		{[]string{"ibv_rc_pingpong", "-d", "rxe0", "-g", "1", "-n", "10"}, 18515, "10 iters in"},
		// Without a clock rate it prints "Can't produce a report".
		{[]string{"ib_send_lat", "-d", "rxe0", "-n", "10", "-s", "64", "-p", "18600"}, 18600, "t_typical[usec]"},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			server := a.MustStart(t, c.args...)
			if err := a.AwaitTCP(t.Context(), c.port); err != nil {
				t.Fatal(err)
			}
			client := b.MustRun(t, append(c.args, a.Ports[0].Addr.String())...)
			served, err := server.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for end, r := range map[string]guest.Result{"client": client, "server": served} {
				if r.Code != 0 || !strings.Contains(r.Stdout, c.want) || strings.Contains(r.Stdout+r.Stderr, "report") {
					t.Errorf("%s: got exit code %d, want 0:\n%s%s", end, r.Code, r.Stdout, r.Stderr)
				}
			}
		})
	}
}
