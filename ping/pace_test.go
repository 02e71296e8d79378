package ping

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// A probe that is sent again counts once, and the reply to an earlier attempt does
// not count.
func TestRun_Attempts(t *testing.T) {
	target := &Target{To: umad.Target{LID: 7}}
	r, outcomes, err := pingOne(t, target, Options{Count: 2, Attempts: 3}, func(p *umadtest.Port, n int, m umad.Message) error {
		if n == 0 {
			p.Deliver(timeout+roundTrip, serverReply(m))
		}
		if n > 1 {
			p.Deliver(2*roundTrip, serverReply(m))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(outcomes, ", "), "0 received 200µs from host, 1 received 200µs from host"; got != want {
		t.Errorf("outcomes:\ngot  %s\nwant %s", got, want)
	}
	if r.Total.Sent != 2 || r.Stray != 1 {
		t.Errorf("got %d sent, %d stray packets, want 2 and 1", r.Total.Sent, r.Stray)
	}
}

// A port that breaks ends the run. The result has the probes until then.
func TestRun_DeviceRemoved(t *testing.T) {
	target := &Target{To: umad.Target{LID: 7}}
	r, _, err := pingOne(t, target, Options{Count: 5}, func(p *umadtest.Port, n int, m umad.Message) error {
		if n == 2 {
			return fmt.Errorf("send MAD: %w", umad.ErrDeviceRemoved)
		}
		p.Deliver(roundTrip, serverReply(m))
		return nil
	})
	if !errors.Is(err, umad.ErrDeviceRemoved) || r.Total.Received != 2 {
		t.Errorf("got error %v, statistics %+v, want %v and 2 received", err, r.Total.counts(), umad.ErrDeviceRemoved)
	}
}

// A target that does not reply does not delay the others, and each target keeps its
// interval.
func TestRun_Pace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 5 * time.Millisecond
		start := time.Now()
		sent := map[ib.LID][]time.Duration{}
		port := newPort(func(p *umadtest.Port, _ int, m umad.Message) error {
			sent[m.Addr.LID] = append(sent[m.Addr.LID], time.Since(start))
			if m.Addr.LID != 9 {
				p.Deliver(roundTrip, serverReply(m))
			}
			return nil
		})
		targets := []*Target{{To: umad.Target{LID: 7}}, {To: umad.Target{LID: 8}}, {To: umad.Target{LID: 9}}}
		r, err := Run(t.Context(), port, targets, Options{OUI: OUI, Count: -1, Deadline: time.Second, Interval: interval, Timeout: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		for i, target := range targets {
			times := sent[target.To.LID]
			if got, want := len(times), int(time.Second/interval); got != want {
				t.Errorf("LID %d: got %d probes, want %d", target.To.LID, got, want)
			}
			for n, at := range times {
				if want := time.Duration(n)*interval + time.Duration(i)*time.Millisecond; at != want {
					t.Errorf("LID %d: probe %d: got time %v, want %v", target.To.LID, n, at, want)
					break
				}
			}
		}
		if want := 2 * len(sent[7]); r.Total.Received != want || targets[2].Stats.Lost != len(sent[9]) {
			t.Errorf("got %d received, %d lost, want %d and %d", r.Total.Received, targets[2].Stats.Lost, want, len(sent[9]))
		}
		if r.Duration < time.Second || r.Duration > 2*time.Second {
			t.Errorf("duration: got %v, want 1s to 2s", r.Duration)
		}
	})
}

// The window limits the probes in flight, except probes to targets that do not reply.
func TestRun_Window(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inFlight, most := 0, 0
		port := newPort(func(p *umadtest.Port, _ int, m umad.Message) error {
			if m.Addr.LID < 10 {
				return nil // never answered
			}
			inFlight++
			most = max(most, inFlight)
			p.Deliver(roundTrip, serverReply(m))
			return nil
		})
		var targets []*Target
		for lid := range ib.LID(60) {
			targets = append(targets, &Target{To: umad.Target{LID: lid + 1}})
		}
		r, err := Run(t.Context(), port, targets, Options{OUI: OUI, Count: 4, Window: 8, Timeout: time.Second, Done: func(p *Probe) {
			if p.Outcome == Received {
				inFlight--
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if most > 8 || r.Total.Received != 51*4 || r.Total.Lost != 9*4 {
			t.Errorf("got %d in flight, statistics %+v, want at most 8, %d received and %d lost", most, r.Total.counts(), 51*4, 9*4)
		}
		// The silent targets wait at the same time.
		if r.Duration > 5*time.Second {
			t.Errorf("duration: got %v, want at most 5s", r.Duration)
		}
	})
}

// Context cancellation ends a run at once, and probes in flight do not count.
func TestRun_Cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		port := newPort(func(p *umadtest.Port, n int, m umad.Message) error {
			if n == 3 {
				time.AfterFunc(roundTrip, cancel)
				return nil
			}
			p.Deliver(roundTrip, serverReply(m))
			return nil
		})
		r, err := Run(ctx, port, []*Target{{To: umad.Target{LID: 7}}}, Options{OUI: OUI, Count: -1, Timeout: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if r.Total.Sent != 4 || r.Total.Received != 3 || r.Total.Loss() != 0 || r.Duration != 4*roundTrip {
			t.Errorf("got %+v after %v, want 4 sent and 3 received after %v", r.Total.counts(), r.Duration, 4*roundTrip)
		}
	})
}

func TestRun_Status(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := make(chan struct{})
		port := newPort(func(p *umadtest.Port, n int, m umad.Message) error {
			p.Deliver(roundTrip, serverReply(m))
			if n == 2 {
				go func() { requests <- struct{}{} }()
			}
			return nil
		})
		var got []int
		_, err := Run(t.Context(), port, []*Target{{To: umad.Target{LID: 7}}}, Options{
			OUI: OUI, Count: 5, Interval: timeout, StatusRequests: requests,
			Status: func(r *Result) { got = append(got, r.Total.Sent) },
		})
		if err != nil || !slices.Equal(got, []int{3}) {
			t.Errorf("got error %v, status calls after %d probes, want one after 3", err, got)
		}
	})
}

func TestDetect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port := newPort(func(p *umadtest.Port, n int, m umad.Message) error {
			if m.Addr.LID == 7 || m.Addr.LID == 9 && n >= 4 {
				p.Deliver(roundTrip, serverReply(m)) // from LID 9 to the second attempt
			}
			return nil
		})
		targets := []*Target{
			{To: umad.Target{LID: 7}}, {To: umad.Target{LID: 8}}, {To: umad.Target{LID: 9}}, {GRH: &umad.GRH{}},
		}
		if err := Detect(t.Context(), port, targets, Options{OUI: OUI, Count: 100, Timeout: time.Second}); err != nil {
			t.Fatal(err)
		}
		for i, want := range []Agent{AgentServer, AgentPMA, AgentServer, AgentServer} {
			if targets[i].Agent != want {
				t.Errorf("target %d: got agent %v, want %v", i, targets[i].Agent, want)
			}
		}
	})
}

// A cancelled detection has not found out that there is no server.
func TestDetect_Cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		targets := []*Target{{To: umad.Target{LID: 7}}}
		port := newPort(func(*umadtest.Port, int, umad.Message) error { return nil })
		if err := Detect(ctx, port, targets, Options{OUI: OUI}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got agent %v, error %v, want %v", targets[0].Agent, err, context.DeadlineExceeded)
		}
	})
}

// Replies that arrive while the process itself is delayed are not lost.
func TestRun_Delayed(t *testing.T) {
	target := &Target{To: umad.Target{LID: 7}}
	r, _, err := pingOne(t, target, Options{Count: 1}, func(p *umadtest.Port, _ int, m umad.Message) error {
		p.Deliver(roundTrip, serverReply(m))
		time.Sleep(2 * timeout)
		return nil
	})
	if err != nil || r.Total.Received != 1 || r.Total.Max != 2*timeout {
		t.Errorf("got error %v, statistics %+v, round trip %v, want one reply after %v", err, r.Total.counts(), r.Total.Max, 2*timeout)
	}
}

// An unreachable target in a flood does not make the run spin, and does not delay
// the others.
func TestRun_UnreachableFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port := newPort(func(p *umadtest.Port, n int, m umad.Message) error {
			if m.Addr.LID == 7 {
				return syscall.EHOSTUNREACH
			}
			p.Deliver(roundTrip, serverReply(m))
			return nil
		})
		targets := []*Target{{To: umad.Target{LID: 7}}, {To: umad.Target{LID: 8}}}
		_, err := Run(t.Context(), port, targets, Options{OUI: OUI, Count: -1, Deadline: 10 * timeout, Timeout: timeout})
		a, b := targets[0].Stats, targets[1].Stats
		if want := int(10 * timeout / roundTrip); err != nil || a.Unreachable != 10 || b.Received != want {
			t.Errorf("got error %v, statistics %+v and %+v, want 10 unreachable and %d received", err, a.counts(), b.counts(), want)
		}
	})
}

// Traced events name late and duplicate replies.
func TestRun_Trace(t *testing.T) {
	var got []string
	o := Options{Count: 2, Trace: func(e umad.Event) { got = append(got, fmt.Sprintf("%v %d", e.Kind, e.Attempt)) }}
	_, _, err := pingOne(t, &Target{To: umad.Target{LID: 7}}, o, func(p *umadtest.Port, n int, m umad.Message) error {
		p.Deliver(roundTrip+time.Duration(1-n)*timeout, serverReply(m))
		p.Deliver(roundTrip+time.Duration(1-n)*timeout, serverReply(m))
		return nil
	})
	want := []string{"sent 1", "timed out 1", "sent 1", "late 1", "duplicate 1", "received 1", "duplicate 1"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("events:\ngot  %q, error %v\nwant %q", got, err, want)
	}
}
