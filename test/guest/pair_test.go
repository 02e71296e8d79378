//go:build guest

package guest_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

func TestPair(t *testing.T) {
	spec := guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Wire}},
		Tools:   []string{"ibv_rc_pingpong"},
	}
	a, b := guest.NewPair(t, spec, spec)
	a.Must(t, "ping", "-c", "1", b.Ports[0].Addr.String())

	const port = 18515
	args := []string{"ibv_rc_pingpong", "-d", "rxe0", "-g", "1", "-n", "10"}
	server := a.MustStart(t, args...)
	if err := a.AwaitTCP(t.Context(), port); err != nil {
		t.Fatal(err)
	}
	out := b.Must(t, append(args, a.Ports[0].Addr.String())...)
	if !strings.Contains(out, "10 iters in") {
		t.Errorf("client reports no iterations:\n%s", out)
	}
	r, err := server.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Code != 0 || !strings.Contains(r.Stdout, "10 iters in") {
		t.Errorf("server ended with %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}
