package ping

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// A probe that is sent again is one, and an answer to an earlier attempt none.
func TestAttempts(t *testing.T) {
	target := &Target{To: umad.Target{LID: 7}}
	r, outcomes, err := pingOne(t, target, Options{Count: 2, Attempts: 3}, func(f *pingFake, n int, m umad.Message) error {
		if n == 0 {
			f.arrive(patience+rtt, answerOf(m))
		}
		if n > 1 {
			f.arrive(2*rtt, answerOf(m))
		}
		return nil
	})
	want := "0 received 200µs from host, 1 received 200µs from host"
	if got := strings.Join(outcomes, ", "); err != nil || got != want || r.Total.Sent != 2 || r.Stray != 1 {
		t.Errorf("%s, %v, %d strays", got, err, r.Stray)
	}
}

// A port that breaks ends the run, with what there is until then.
func TestBrokenPort(t *testing.T) {
	target := &Target{To: umad.Target{LID: 7}}
	r, _, err := pingOne(t, target, Options{Count: 5}, func(f *pingFake, n int, m umad.Message) error {
		if n == 2 {
			return fmt.Errorf("send MAD: %w", umad.ErrDeviceRemoved)
		}
		f.arrive(rtt, answerOf(m))
		return nil
	})
	if !errors.Is(err, umad.ErrDeviceRemoved) || r.Total.Received != 2 {
		t.Errorf("%v, %+v", err, r.Total.counts())
	}
}

// One target that is silent costs the others nothing, and each keeps its pace.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 5 * time.Millisecond
		begin := time.Now()
		sent := map[ib.LID][]time.Duration{}
		port := newPingFake(func(f *pingFake, _ int, m umad.Message) error {
			sent[m.Addr.LID] = append(sent[m.Addr.LID], time.Since(begin))
			if m.Addr.LID != 9 {
				f.arrive(rtt, answerOf(m))
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
			if len(times) != int(time.Second/interval) {
				t.Errorf("LID %d was sent %d probes", target.To.LID, len(times))
			}
			for n, at := range times {
				if want := time.Duration(n)*interval + time.Duration(i)*time.Millisecond; at != want {
					t.Errorf("LID %d: probe %d was sent after %v, not %v", target.To.LID, n, at, want)
					break
				}
			}
		}
		if want := 2 * len(sent[7]); r.Total.Received != want || targets[2].Stats.Lost != len(sent[9]) {
			t.Errorf("received %d, not %d; lost %d", r.Total.Received, want, targets[2].Stats.Lost)
		}
		if r.Took < time.Second || r.Took > 2*time.Second {
			t.Errorf("took %v", r.Took)
		}
	})
}

// No more probes are under way than the window allows, but for those of targets
// that do not answer.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		underway, most := 0, 0
		port := newPingFake(func(f *pingFake, _ int, m umad.Message) error {
			if m.Addr.LID < 10 {
				return nil // never answered
			}
			underway++
			most = max(most, underway)
			f.arrive(rtt, answerOf(m))
			return nil
		})
		var targets []*Target
		for lid := range ib.LID(60) {
			targets = append(targets, &Target{To: umad.Target{LID: lid + 1}})
		}
		r, err := Run(t.Context(), port, targets, Options{OUI: OUI, Count: 4, Window: 8, Timeout: time.Second, Done: func(p *Probe) {
			if p.Outcome == Received {
				underway--
			}
		}})
		if err != nil || most > 8 || r.Total.Received != 51*4 || r.Total.Lost != 9*4 {
			t.Errorf("%v, %d under way, %+v", err, most, r.Total.counts())
		}
		// The silent ones wait side by side.
		if r.Took > 5*time.Second {
			t.Errorf("took %v", r.Took)
		}
	})
}

// The end of the context ends a run at once. What is under way then counts for
// nothing.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		port := newPingFake(func(f *pingFake, n int, m umad.Message) error {
			if n == 3 {
				time.AfterFunc(rtt, cancel)
				return nil
			}
			f.arrive(rtt, answerOf(m))
			return nil
		})
		r, err := Run(ctx, port, []*Target{{To: umad.Target{LID: 7}}}, Options{OUI: OUI, Count: -1, Timeout: time.Hour})
		if err != nil || r.Total.Sent != 4 || r.Total.Received != 3 || r.Total.Loss() != 0 || r.Took != 4*rtt {
			t.Errorf("%v after %v, %+v", err, r.Took, r.Total.counts())
		}
	})
}

// Whoever asks is told how things stand.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := make(chan struct{})
		port := newPingFake(func(f *pingFake, n int, m umad.Message) error {
			f.arrive(rtt, answerOf(m))
			if n == 2 {
				go func() { ask <- struct{}{} }()
			}
			return nil
		})
		var told []int
		_, err := Run(t.Context(), port, []*Target{{To: umad.Target{LID: 7}}}, Options{
			OUI: OUI, Count: 5, Interval: patience, Ask: ask,
			Status: func(r *Result) { told = append(told, r.Total.Sent) },
		})
		if err != nil || len(told) != 1 || told[0] != 3 {
			t.Errorf("%v, told of %d", err, told)
		}
	})
}

// Servers are found where there are some, and elsewhere what always answers is
// asked.
func TestDetect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port := newPingFake(func(f *pingFake, n int, m umad.Message) error {
			if m.Addr.LID == 7 || m.Addr.LID == 9 && n >= 4 {
				f.arrive(rtt, answerOf(m)) // the second after one attempt more
			}
			return nil
		})
		targets := []*Target{
			{To: umad.Target{LID: 7}}, {To: umad.Target{LID: 8}}, {To: umad.Target{LID: 9}}, {GRH: &umad.GRH{}},
		}
		if err := Detect(t.Context(), port, targets, Options{OUI: OUI, Count: 100, Timeout: time.Second}); err != nil {
			t.Fatal(err)
		}
		for i, want := range []Via{ViaVendor, ViaPMA, ViaVendor, ViaVendor} {
			if targets[i].Via != want {
				t.Errorf("target %d: %v, want %v", i, targets[i].Via, want)
			}
		}
	})
}

// What came while the process itself was held up is not lost.
func TestHeldUp(t *testing.T) {
	target := &Target{To: umad.Target{LID: 7}}
	r, _, err := pingOne(t, target, Options{Count: 1}, func(f *pingFake, _ int, m umad.Message) error {
		f.arrive(rtt, answerOf(m))
		time.Sleep(2 * patience)
		return nil
	})
	if err != nil || r.Total.Received != 1 || r.Total.Max != 2*patience {
		t.Errorf("%v, %+v, %v", err, r.Total.counts(), r.Total.Max)
	}
}

// A target that there is no way to does not go round and round in a flood, and
// costs the others nothing.
func TestUnreachableFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port := newPingFake(func(f *pingFake, n int, m umad.Message) error {
			if m.Addr.LID == 7 {
				return syscall.EHOSTUNREACH
			}
			f.arrive(rtt, answerOf(m))
			return nil
		})
		targets := []*Target{{To: umad.Target{LID: 7}}, {To: umad.Target{LID: 8}}}
		_, err := Run(t.Context(), port, targets, Options{OUI: OUI, Count: -1, Deadline: 10 * patience, Timeout: patience})
		a, b := targets[0].Stats, targets[1].Stats
		if want := int(10 * patience / rtt); err != nil || a.Unreachable != 10 || b.Received != want {
			t.Errorf("%v, %+v, %+v", err, a.counts(), b.counts())
		}
	})
}
