package watch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// Events beyond the queue are counted, and reported after the stored events.
func TestRun_Dropped(t *testing.T) {
	r := &run{queue: queue{wake: make(chan struct{}, 1)}}
	for range queueSize + 5 {
		r.add(newEvent(Links, report.LinkUp, report.Recovery, ""))
	}
	var events []*Event
	if err := r.flush(func(e *Event) error { events = append(events, e); return nil }); err != nil {
		t.Fatal(err)
	}
	last := events[len(events)-1]
	if len(events) != queueSize+1 || last.Kind != report.Dropped || *last.Data.Count != 5 || last.Sequence != queueSize+1 || r.dropped.Load() != 5 {
		t.Errorf("got %d events, the last %+v", len(events), last)
	}
}

// An error from the function that gets the events ends the stream.
func TestRun_EmitError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := errors.New("failed")
		o := Options{Sources: []Source{Links}, Fabric: fabric.Source{OpenPort: open(t, "demo"), Client: umad.ClientOptions{Timeout: 200 * time.Millisecond}}}
		if _, err := Run(t.Context(), o, func(*Event) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("got error %v", err)
		}
	})
}

// The local port is opened again after an error, with a single event pair for each source.
func TestRun_Reopen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ports := 0
		o := Options{
			Sources: []Source{Links, Counters}, Interval: 20 * time.Millisecond, Window: 20 * time.Millisecond, Fabric: fabric.Source{Client: umad.ClientOptions{Timeout: 200 * time.Millisecond}},
			Limits: counters.Limits{Thresholds: counters.RecommendedThresholds(), Wait: 1}, Duration: time.Minute,
		}
		again := open(t, "fat-tree:radix=4,pods=2,spines=2")
		o.Fabric.OpenPort = func(ctx context.Context) (umad.Port, error) {
			p, err := again(ctx)
			if ports++; ports == 1 {
				p = &failingPort{Port: p, after: 400}
			}
			return p, err
		}
		var got []string
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s, err := Run(ctx, o, func(e *Event) error {
			if got = append(got, string(e.Data.Source)+" "+string(e.Kind)); len(got) == 6 {
				stop()
			}
			return nil
		})
		want := "links source-up, counters source-up, links source-lost, counters source-lost, links source-up, counters source-up"
		if all := strings.Join(got, ", "); err != nil || all != want {
			t.Errorf("got %s, error %v, want %s", all, err, want)
		}
		if s.Losses != 2 || s.Complete() {
			t.Errorf("got %+v", s)
		}
	})
}

// open returns a function that opens ports in a single simulated fabric.
func open(t *testing.T, description string) func(context.Context) (umad.Port, error) {
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	return f.Opener("")
}

// A failingPort fails after a packet count.
type failingPort struct {
	umad.Port
	after int
}

func (p *failingPort) Send(m *umad.Message) error {
	if p.after--; p.after < 0 {
		return umad.ErrDeviceRemoved
	}
	return p.Port.Send(m)
}
