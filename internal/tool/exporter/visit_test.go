package exporter

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// TestVisit checks that visits run between sweeps, and end when the next sweep begins.
func TestVisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var swept []time.Time
		_, e := simulated(t, "demo", Options{Interval: time.Minute, Observe: func(s *FabricSweep) {
			swept = append(swept, s.Result.Began)
			if s.Result.Fabric == nil || s.Missing == nil {
				t.Errorf("got %+v", s)
			}
		}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- e.Run(ctx) }()
		err := e.Visit(t.Context(), func(ctx context.Context, c *umad.Client) error {
			if c == nil || len(swept) != 1 {
				t.Errorf("got client %v after %d sweeps", c, len(swept))
			}
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end at the next sweep", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(swept) != 2 || swept[1].Sub(swept[0]).Round(time.Second) != time.Minute {
			t.Errorf("got sweeps at %v, want no delay", swept)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := e.Visit(cancelled, func(ctx context.Context, _ *umad.Client) error { return ctx.Err() }); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v for a client that has left", err)
		}
		stop()
		<-ended
	})
}

// TestVisit_Local checks that this host's ports have no fabric.
func TestVisit_Local(t *testing.T) {
	e := New(Options{Names: Node, Local: LocalOptions{Sysfs: t.TempDir()}})
	err := e.visit(t.Context(), visit{ctx: t.Context()}, time.Now())
	if !errors.Is(err, errNoFabric) {
		t.Errorf("got %v, want %v", err, errNoFabric)
	}
}
