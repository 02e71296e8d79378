package guest

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/test/guest/internal/wire"
)

// fakeGuest returns a guest without a machine. agent replies to each request, by default
// with the request's ID.
func fakeGuest(t *testing.T, agent func(wire.Request) []wire.Event) *Guest {
	t.Helper()
	ours, theirs := net.Pipe()
	g := &Guest{spec: Spec{Name: "TestFake", Quiet: quietLimit}, activity: new(activity), console: new(console), vm: &vm{done: make(chan struct{})}}
	g.ctx, g.end = context.WithCancelCause(context.WithoutCancel(t.Context()))
	g.session = newSession(ours)
	go func() {
		<-g.ctx.Done() // as QEMU does
		close(g.vm.done)
		_ = theirs.Close()
	}()
	go func() {
		requests, events := gob.NewDecoder(theirs), gob.NewEncoder(theirs)
		for {
			var r wire.Request
			if requests.Decode(&r) != nil {
				return
			}
			for _, e := range agent(r) {
				e.ID = cmp.Or(e.ID, r.ID)
				if events.Encode(e) != nil {
					return
				}
			}
		}
	}()
	t.Cleanup(func() {
		g.end(errClosed)
		<-g.session.done
		_ = ours.Close()
	})
	return g
}

// sleeper is an agent with commands that print a line and sleep.
func sleeper(r wire.Request) []wire.Event {
	switch {
	case r.Start != nil:
		return []wire.Event{{Stdout: []byte("asleep\n")}}
	case r.Status:
		return []wire.Event{{Status: []wire.Process{{ID: 1, PID: 77, State: "S", Args: "sleep 1000"}}}}
	case r.End != 0:
		return []wire.Event{{ID: r.End, Exit: &wire.Exit{Code: 137}}, {Ended: true}}
	}
	return nil
}

func TestWatch_Hang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := fakeGuest(t, sleeper)
		p := g.MustStart(t, "sleep", "1000")
		synctest.Wait() // for the output, which is progress if it arrives during the step
		time.AfterFunc(5*time.Second, func() { p.receive(wire.Event{Stdout: []byte("still asleep\n")}) })
		begin := time.Now()
		err := p.AwaitOutput(t.Context(), "awake")
		var hang *HangError
		if !errors.As(err, &hang) {
			t.Fatalf("got error %v, want a HangError", err)
		}
		if took := time.Since(begin); took < quietLimit || took > 2*time.Minute {
			t.Errorf("got an end after %v, want %v to 2m", took, quietLimit)
		}
		for _, want := range []string{"TestFake", "test TestWatch_Hang", `output "awake" of ["sleep" "1000"]`, "no progress for 1m50s of 2m0s", "asleep\nstill asleep\n", "   77 S    0.00 sleep 1000"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got no %q in %q", want, err)
			}
		}
		if _, err := p.Wait(t.Context()); err == nil || errors.As(err, &hang) || !strings.Contains(err.Error(), `no progress in the wait for output "awake"`) {
			t.Errorf("next step: got error %v, want one that names the first", err)
		}
	})
}

func TestWatch_Progress(t *testing.T) {
	const end = time.Hour // duration of the command
	for name, c := range map[string]struct {
		status func(age time.Duration) []wire.Event // status of a command with ID 1
		idle   time.Duration
		hangs  bool
	}{
		"busy":          {func(age time.Duration) []wire.Event { return status(age / 5) }, 0, false},
		"asleep":        {func(age time.Duration) []wire.Event { return status(age / 50) }, 0, true},
		"silent agent":  {func(time.Duration) []wire.Event { return nil }, 0, true},
		"declared wait": {func(time.Duration) []wire.Event { return status(0) }, end, false},
		"output": {func(time.Duration) []wire.Event {
			return append([]wire.Event{{}}, status(0)...)
		}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				g := fakeGuest(t, func(r wire.Request) []wire.Event {
					switch {
					case r.Status && time.Since(begin) >= end:
						return nil
					case r.Status:
						return c.status(time.Since(begin))
					}
					return sleeper(r)
				})
				p := g.MustStart(t, "test")
				time.AfterFunc(end, func() { p.receive(wire.Event{Exit: &wire.Exit{}}) })
				_, err := p.Wait(Idle(t.Context(), c.idle))
				if hang := (*HangError)(nil); errors.As(err, &hang) != c.hangs {
					t.Errorf("got error %v after %v, want a HangError: %v", err, time.Since(begin), c.hangs)
				}
			})
		})
	}
}

// TestWatch_EndlessOutput waits for a text from a command that goes on printing others.
func TestWatch_EndlessOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		g := fakeGuest(t, func(r wire.Request) []wire.Event {
			if r.Status {
				return status(time.Since(begin))
			}
			return sleeper(r)
		})
		p := g.MustStart(t, "ping")
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Second):
					p.receive(wire.Event{Stdout: []byte("lost\n")})
				}
			}
		}()
		err := p.AwaitOutput(t.Context(), "reply")
		if hang := (*HangError)(nil); !errors.As(err, &hang) || time.Since(begin) > 7*time.Minute {
			t.Errorf("got error %v after %v, want a HangError within 7m", err, time.Since(begin))
		}
	})
}

func status(cpu time.Duration) []wire.Event {
	return []wire.Event{{Status: []wire.Process{{ID: 1, CPU: cpu}}}}
}

// TestWatch_Pair waits in a guest while the other guest works.
func TestWatch_Pair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := fakeGuest(t, sleeper), fakeGuest(t, sleeper)
		a.peers, b.peers, b.activity = []*Guest{b}, []*Guest{a}, a.activity
		server := a.MustStart(t, "server")
		stop := time.AfterFunc(0, func() {
			for range 10 {
				b.MustStart(t, "client")
				time.Sleep(time.Minute)
			}
		})
		defer stop.Stop()
		begin := time.Now()
		if _, err := server.Wait(t.Context()); err == nil || time.Since(begin) < 10*time.Minute || time.Since(begin) > 12*time.Minute {
			t.Errorf("got error %v after %v, want one after 10m to 12m", err, time.Since(begin))
		}
		if err := b.Wait(); err == nil || !strings.Contains(err.Error(), "no progress") {
			t.Errorf("other guest: got error %v, want one of no progress", err)
		}
	})
}

// TestAwait_Hang polls a condition that never holds: polls are no progress.
func TestAwait_Hang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := fakeGuest(t, func(r wire.Request) []wire.Event {
			if r.Start != nil {
				return []wire.Event{{Stdout: []byte("not yet\n"), Exit: &wire.Exit{Code: 1}}}
			}
			return sleeper(r)
		})
		begin := time.Now()
		err := g.Await(t.Context(), "test", "-e", "/file")
		if took := time.Since(begin); err == nil || !strings.Contains(err.Error(), `success of ["test" "-e" "/file"]`) || !strings.Contains(err.Error(), "not yet") || took > 2*time.Minute {
			t.Errorf("got error %v after %v, want one that names the condition within 2m", err, took)
		}
	})
}

// TestMustStart_End checks that commands end with the test that has started them.
func TestMustStart_End(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []uint32
		g := fakeGuest(t, func(r wire.Request) []wire.Event {
			switch {
			case r.Start != nil && r.Start.Args[0] == "true":
				return []wire.Event{{Exit: &wire.Exit{}}}
			case r.Start != nil && r.Start.Args[0] == "daemon":
				return []wire.Event{{Exit: &wire.Exit{Left: true}}}
			case r.End != 0:
				ended = append(ended, r.End)
			}
			return sleeper(r)
		})
		t.Cleanup(func() { // runs after the commands' cleanups
			synctest.Wait()
			slices.Sort(ended)
			if want := []uint32{1, 3}; !slices.Equal(ended, want) {
				t.Errorf("got ends of the commands %v, want %v", ended, want)
			}
		})
		g.MustStart(t, "sleep")
		g.MustRun(t, "true")
		g.MustRun(t, "daemon")
	})
}
