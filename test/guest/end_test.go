//go:build guest

package guest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{})
	for _, c := range []struct {
		name    string
		command guest.Command
		want    guest.Result
	}{
		{"success", guest.Command{Args: []string{"true"}}, guest.Result{}},
		{"exit code", guest.Command{Args: []string{"sh", "-c", "echo out; echo err >&2; exit 42"}}, guest.Result{Stdout: "out\n", Stderr: "err\n", Code: 42}},
		{"ended by signal", guest.Command{Args: []string{"sh", "-c", "kill -TERM $$"}}, guest.Result{Code: 128 + 15}},
		{"input", guest.Command{Args: []string{"cat"}, Stdin: "to be copied"}, guest.Result{Stdout: "to be copied"}},
		{"environment", guest.Command{Args: []string{"sh", "-c", "echo $A; pwd"}, Env: []string{"A=b"}, Dir: "/tmp"}, guest.Result{Stdout: "b\n/tmp\n"}},
		{"ordinary user", guest.Command{Args: []string{"id", "-un"}, User: true}, guest.Result{Stdout: "user\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := g.Run(t.Context(), c.command)
			if err != nil {
				t.Fatal(err)
			}
			if got.Elapsed <= 0 {
				t.Errorf("took %v", got.Elapsed)
			}
			got.Elapsed, got.CPU = 0, 0
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	t.Run("no such program", func(t *testing.T) {
		if _, err := g.Run(t.Context(), guest.Command{Args: []string{"no-such-program"}}); err == nil {
			t.Error("no error")
		}
	})
	t.Run("much output", func(t *testing.T) {
		if got, want := len(g.Must(t, "sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x")), 300000; got != want {
			t.Errorf("got %d bytes, want %d", got, want)
		}
	})
	t.Run("killed with its children when the context ends", func(t *testing.T) {
		p := g.MustStart(t, "sh", "-c", "echo begun; sleep 1000; true")
		if err := p.AwaitOutput(t.Context(), "begun"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v", err)
		}
		if r, err := p.Wait(t.Context()); err != nil || r.Code != 128+int(unix.SIGKILL) {
			t.Errorf("got exit code %d of the command, %v", r.Code, err)
		}
		if err := g.Await(t.Context(), "sh", "-c", "! pidof sleep"); err != nil {
			t.Error(err)
		}
	})
}

func TestPanic(t *testing.T) {
	t.Parallel()
	g, err := guest.Boot(t.Context(), guest.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Check(t.Context(), "sh", "-c", "echo c >/proc/sysrq-trigger")
	var panicked *guest.PanicError
	if !errors.As(err, &panicked) || !strings.Contains(panicked.Console, "sysrq") {
		t.Errorf("got error %v", err)
	}
	if err := g.Close(); !errors.As(err, &panicked) {
		t.Errorf("close: got error %v", err)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	start := time.Now()
	const timeout = 10 * time.Second
	g, err := guest.Boot(t.Context(), guest.Spec{Timeout: timeout})
	if err == nil {
		_, err = g.Check(t.Context(), "sleep", "1000")
		_ = g.Close() // the same error
	}
	if !errors.Is(err, guest.ErrTimeout) {
		t.Errorf("got error %v", err)
	}
	if took := time.Since(start); took > 6*timeout {
		t.Errorf("guest ended after %v", took)
	}
}

func TestContextEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	g, err := guest.Boot(ctx, guest.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if err := g.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("close: got error %v", err)
	}
}

func TestPowerOff(t *testing.T) {
	t.Parallel()
	g, err := guest.Boot(t.Context(), guest.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Check(t.Context(), "reboot", "-f"); err == nil {
		t.Error("no error from a command in a guest that ended")
	}
	if err := g.Close(); err == nil {
		t.Error("no error from a guest that ended by itself")
	}
}
