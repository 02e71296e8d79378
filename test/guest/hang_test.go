//go:build guest

package guest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/guest"
)

// TestHang waits for the end of a busy command, for longer than a step may be quiet, and
// then for output that does not come.
func TestHang(t *testing.T) {
	t.Parallel()
	g, err := guest.Boot(t.Context(), guest.Spec{Name: t.Name(), Quiet: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	g.MustRun(t, "timeout", "6", "sh", "-c", "while :; do :; done")
	if r, err := g.Run(guest.Idle(t.Context(), time.Minute), guest.Command{Args: []string{"sleep", "5"}}); err != nil || r.Code != 0 {
		t.Fatalf("declared wait: got exit code %d, %v", r.Code, err)
	}
	p := g.MustStart(t, "sh", "-c", "echo begun; sleep 1000; true")
	err = p.AwaitOutput(t.Context(), "ended")
	var hang *guest.HangError
	if !errors.As(err, &hang) {
		t.Fatalf("got error %v, want a HangError", err)
	}
	t.Log(err)
	for _, want := range []string{"guest TestHang", "test TestHang", `output "ended" of ["sh" "-c" "echo begun; sleep 1000; true"]`, "\nbegun\n", " S ", " sleep 1000\n"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got no %q in %q", want, err)
		}
	}
	if _, err := g.Check(t.Context(), "true"); err == nil || !strings.Contains(err.Error(), "no progress") {
		t.Errorf("next command: got error %v, want one that names the end of the guest", err)
	}
	if err := g.Close(); err == nil {
		t.Error("close: got no error of a guest that hung")
	}
}

// TestEnd starts commands in a test within the test: they end with it.
func TestEnd(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{})
	const left = "sleep 1000 >/dev/null 2>&1 & "
	t.Run("inner", func(t *testing.T) {
		g.MustStart(t, "sh", "-c", "trap '' TERM INT; sleep 1000; sleep 1000")
		g.MustStart(t, "sh", "-c", left+"timeout 1000 sleep 1000")
		g.MustStart(t, "sh", "-c", left+"true")
		p := g.MustStart(t, "sh", "-c", left+"echo ended")
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if pids := strings.Fields(g.Must(t, "pidof", "sleep")); len(pids) < 2 {
			t.Errorf("got %d processes of sleep, want at least 2", len(pids))
		}
	})
	if r := g.MustRun(t, "pidof", "sleep"); r.Code == 0 {
		t.Errorf("got processes of sleep after the test: %s", r.Stdout)
	}
	t.Run("daemon", func(t *testing.T) { g.MustStart(t, "setsid", "sh", "-c", left+"sleep 1000") })
	if r := g.MustRun(t, "pidof", "sleep"); r.Code == 0 {
		t.Errorf("got processes of sleep after the test of a daemon: %s", r.Stdout)
	}
	t.Run("inner Run", func(t *testing.T) { g.MustRun(t, "sh", "-c", left+"true") })
	if err := g.Await(t.Context(), "sh", "-c", "! pidof sleep"); err != nil {
		t.Error(err)
	}
}
