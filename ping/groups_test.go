package ping

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// TestRunGroups pings targets at two ports at the same time. One target does not reply.
func TestRunGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replies := newPort(func(p *umadtest.Port, _ int, m umad.Message) error {
			p.Deliver(0, serverReply(m))
			return nil
		})
		silent := newPort(func(*umadtest.Port, int, umad.Message) error { return nil })
		near, far, lost := &Target{Name: "near", To: umad.Target{LID: 3}}, &Target{Name: "far", To: umad.Target{LID: 4}}, &Target{Name: "lost", To: umad.Target{LID: 3}}
		var mu sync.Mutex
		outcomes := map[string]int{}
		o := Options{OUI: OUI, Count: 20, Timeout: 50 * time.Millisecond, Done: func(p *Probe) {
			if !mu.TryLock() {
				t.Error("got Done from two ports at once, want one at a time")
				return
			}
			defer mu.Unlock()
			outcomes[p.Target.Name+" "+p.Outcome.String()]++
		}}
		o.Idle = func() {}
		r, err := RunGroups(t.Context(), []Group{{Port: replies, Targets: []*Target{near, far}}, {Port: silent, Targets: []*Target{lost}}}, o)
		if err != nil {
			t.Fatal(err)
		}
		if outcomes["near received"] != 20 || outcomes["far received"] != 20 || outcomes["lost lost"] != 20 || len(outcomes) != 3 {
			t.Errorf("got outcomes %v, want 20 of each target", outcomes)
		}
		if s := &r.Total; s.Sent != 60 || s.Received != 40 || s.Lost != 20 || len(r.Targets) != 3 {
			t.Errorf("got %d sent, %d received, %d lost of %d targets; want 60, 40, 20 of 3", s.Sent, s.Received, s.Lost, len(r.Targets))
		}
	})
}

// TestRunGroups_Failure ends the run at all ports if a port fails.
func TestRunGroups_Failure(t *testing.T) {
	broken := newPort(func(*umadtest.Port, int, umad.Message) error { return umad.ErrDeviceRemoved })
	silent := newPort(func(*umadtest.Port, int, umad.Message) error { return nil })
	target := func(lid ib.LID) []*Target { return []*Target{{To: umad.Target{LID: lid}}} }
	_, err := RunGroups(t.Context(), []Group{{Port: silent, Targets: target(3)}, {Port: broken, Targets: target(4)}}, Options{OUI: OUI, Count: -1, Timeout: time.Hour})
	if !errors.Is(err, umad.ErrDeviceRemoved) {
		t.Errorf("got %v, want %v", err, umad.ErrDeviceRemoved)
	}
}

// TestRunGroups_Cancel returns the result so far.
func TestRunGroups_Cancel(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	replies := func() *umadtest.Port {
		return newPort(func(p *umadtest.Port, n int, m umad.Message) error {
			if n == 10 {
				stop()
				return nil
			}
			p.Deliver(0, serverReply(m))
			return nil
		})
	}
	target := func(lid ib.LID) []*Target { return []*Target{{To: umad.Target{LID: lid}}} }
	r, err := RunGroups(ctx, []Group{{Port: replies(), Targets: target(3)}, {Port: replies(), Targets: target(4)}}, Options{OUI: OUI, Count: -1, Timeout: time.Hour})
	if err != nil || r.Total.Received < 10 {
		t.Errorf("got %d replies, error %v; want at least 10 and no error", r.Total.Received, err)
	}
}
