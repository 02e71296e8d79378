package crew

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/tool/perf"

	"github.com/ibkit/ibkit/internal/interrupt"
)

func TestCrew_Round(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.join(t.Context(), r.options("b"), r.options("a"), r.options("c"))
		c := r.gather("a", "b", "c")
		for step, want := range map[int][]string{
			1: {"a>b 1 measured", "b>c 2 measured", "c>a 3 measured"},
			2: {"c>b 1 measured", "b>c 2 measured"},
		} {
			names := map[int][]string{1: {"a", "b", "c"}, 2: {"c", "b"}}[step]
			got, err := c.Round(t.Context(), ring(names...))
			if d := cmp.Diff(want, text(got)); err != nil || d != "" {
				t.Errorf("round of %v: got %v and difference\n%s", names, err, d)
			}
		}
		c.Close("no findings")
		if got := r.end("b"); got != "no findings" {
			t.Errorf("got %q, want the summary of the coordinator", got)
		}
	})
}

// TestCrew_Round_measure checks that a worker runs the sends of a task at the same time, and
// that the failure of a pair is a result.
func TestCrew_Round_measure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		o := r.options("a")
		o.Engine = measure(func(ctx context.Context, s Send) Figures {
			_ = interrupt.Sleep(ctx, time.Hour) // the end of the round ends it
			return Figures{Error: "to " + s.To}
		})
		r.join(t.Context(), o, r.options("b"), r.options("c"))
		c := r.gather("a", "b", "c")
		defer c.Close("")
		began := time.Now()
		got, err := c.Round(t.Context(), Round{Flows: []Flow{{From: "a", To: "b"}, {From: "a", To: "c"}, {From: "b", To: "a"}}})
		want := []string{"a>b no result within 29.5s measured", "a>c no result within 29.5s measured", "b>a the worker has no device measured"}
		if d := cmp.Diff(want, text(got)); err != nil || d != "" {
			t.Errorf("got %v and difference\n%s", err, d)
		}
		if took := time.Since(began); took != 29500*time.Millisecond {
			t.Errorf("got a round of %v, want 29.5s", took)
		}
		if lost := c.Losses(); len(lost) > 0 {
			t.Errorf("got losses %v, want none", lost)
		}
	})
}

// TestCrew_Round_hung checks that a silent worker is left out after the limit of the round,
// which follows the rounds before, and that its partners pause.
func TestCrew_Round_hung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.join(t.Context(), r.options("a"), r.options("b"))
		c, x := r.gatherWith("x", "a", "b")
		defer x.Close()
		over := make(chan struct{})
		defer close(over)
		go func() {
			first := readTask(t, x)
			sendTo(t, x, message{Report: &taskDone{Number: first.Number, Results: make([]Figures, len(first.Sends))}})
			readTask(t, x)
			<-over // frozen
		}()
		defer c.Close("")
		if _, err := c.Round(t.Context(), ring("a", "b", "x")); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got, err := c.Round(t.Context(), ring("a", "b", "x"))
		if d := cmp.Diff([]string{"a>b 1 measured", "b>x 2 measured", "x>a  broken"}, text(got)); err != nil || d != "" {
			t.Errorf("round with the frozen worker: got %v and difference\n%s", err, d)
		}
		if took := time.Since(began); took != minLimit {
			t.Errorf("got a round of %v, want the shortest limit of %v", took, minLimit)
		}
		if d := cmp.Diff([]Loss{{"x", Hung, 2, "no report within 2s"}}, c.Losses()); d != "" {
			t.Error(d)
		}
		got, err = c.Round(t.Context(), ring("a", "b", "x"))
		if d := cmp.Diff([]string{"a>b 1 measured", "b>x  paused", "x>a  paused"}, text(got)); err != nil || d != "" {
			t.Errorf("round after it: got %v and difference\n%s", err, d)
		}
	})
}

// TestCrew_Round_lost checks the events that end the part of a worker.
func TestCrew_Round_lost(t *testing.T) {
	for name, test := range map[string]struct {
		do     func(*testing.T, *puppetCall)
		kind   LossKind
		detail string
	}{
		"killed":      {func(_ *testing.T, p *puppetCall) { p.conn.Close() }, Died, "the connection ended"},
		"interrupted": {func(t *testing.T, p *puppetCall) { sendTo(t, p.conn, message{Leave: "interrupted\x1b"}) }, Left, "interrupted "},
		"unexpected":  {func(t *testing.T, p *puppetCall) { sendTo(t, p.conn, message{End: &end{}}) }, Died, "it sent an unexpected message"},
		"too few results": {func(t *testing.T, p *puppetCall) {
			sendTo(t, p.conn, message{Report: &taskDone{Number: p.task.Number}})
		}, Died, "got a report with 0 results, want 1"},
		"noise": {func(t *testing.T, p *puppetCall) {
			if _, err := p.conn.Write([]byte("noise, noise")); err != nil {
				t.Log(err) // the coordinator has closed the connection
			}
		}, Died, `the peer sent an invalid message: it begins with "nois"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.join(t.Context(), r.options("a"))
				c, x := r.gatherWith("x", "a")
				defer x.Close()
				r.workers.Go(func() { test.do(t, &puppetCall{x, readTask(t, x)}) })
				defer c.Close("")
				if _, err := c.Round(t.Context(), ring("a", "x")); err != nil {
					t.Error(err)
				}
				if d := cmp.Diff([]Loss{{"x", test.kind, 1, test.detail}}, c.Losses()); d != "" {
					t.Error(d)
				}
			})
		})
	}
}

// A puppetCall is a task that a test's worker has received.
type puppetCall struct {
	conn net.Conn
	task *Task
}

// TestCrew_Round_pairOfLost checks that the failure of a pair with a lost end is none of the
// pair.
func TestCrew_Round_pairOfLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		o := r.options("a")
		o.Engine = measure(func(context.Context, Send) Figures { return Figures{Error: "the peer closed the connection"} })
		r.join(t.Context(), o)
		c, x := r.gatherWith("x", "a")
		r.workers.Go(func() {
			readTask(t, x)
			x.Close()
		})
		defer c.Close("")
		got, err := c.Round(t.Context(), Round{Flows: []Flow{{From: "a", To: "x"}}})
		if d := cmp.Diff([]string{"a>x the peer closed the connection broken"}, text(got)); err != nil || d != "" {
			t.Errorf("got %v and difference\n%s", err, d)
		}
	})
}

func TestCrew_Round_interrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.join(t.Context(), r.options("a"), r.options("b"))
		c := r.gather("a", "b")
		slow := ring("a", "b")
		slow.Flows[0].Model.Takes = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got, err := c.Round(ctx, slow); !errors.Is(err, context.DeadlineExceeded) || got != nil {
			t.Errorf("got %v and %v, want an interrupted round", text(got), err)
		}
		if got, err := c.Round(t.Context(), ring("b", "a")); err != nil || text(got)[0] != "b>a 1 measured" {
			t.Errorf("round after it: got %v and %v, want a complete round", text(got), err)
		}
		c.Close("interrupted")
		if got := r.end("a"); got != "interrupted" {
			t.Errorf("got %q, want the summary", got)
		}
	})
}

// TestCrew_limit checks the limit of a round: three times the median, at least two seconds.
func TestCrew_limit(t *testing.T) {
	for name, test := range map[string]struct {
		times []time.Duration
		takes time.Duration
		want  time.Duration
	}{
		"first":      {nil, 0, 30 * time.Second},
		"first long": {nil, time.Minute, 3*time.Minute + time.Second},
		"short":      {[]time.Duration{time.Millisecond}, 0, 2 * time.Second},
		"median":     {[]time.Duration{5 * time.Second, time.Hour, time.Second}, 0, 16 * time.Second},
		"long flows": {[]time.Duration{time.Second}, 10 * time.Second, 31 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Crew{times: test.times, o: Options{Retry: time.Second}}
			if got := c.limit(Round{Takes: test.takes}); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// An offering is an engine with rails, which records the members that it serves.
type offering struct {
	measure
	offer Offer
	tests []perf.Test // that each measurement has
	serve chan []netip.Addr
}

func (o *offering) Measure(ctx context.Context, tests []perf.Test, s Send) Figures {
	if !slices.Equal(tests, o.tests) {
		return Figures{Error: fmt.Sprintf("got tests %v", tests)}
	}
	return o.measure(ctx, s)
}

func (o *offering) Offer() Offer                                  { return o.offer }
func (o *offering) Serve(_ context.Context, members []netip.Addr) { o.serve <- members }

// TestCrew_Round_rails checks that a worker measures to the address and TCP port of the other
// member's rail, with the tests of the round, and serves all members.
func TestCrew_Round_rails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		sends := make(chan Send, 1)
		tests := []perf.Test{perf.NewTest(perf.Send, perf.Latency, perf.RC, 8)}
		own := map[string]netip.Addr{"a": netip.MustParseAddr("192.0.2.1"), "b": netip.MustParseAddr("192.0.2.2")}
		served := make(chan []netip.Addr, 2)
		for name, at := range own {
			o := r.options(name)
			o.Engine = &offering{
				tests: tests, measure: func(_ context.Context, s Send) Figures { sends <- s; return Figures{Gbps: new(7.0)} },
				offer: Offer{Rails: []Rail{{Device: "x0", Listen: 1000}, {Device: "x1\x1b", Listen: 1001}}, Addresses: []netip.Addr{at}},
				serve: served,
			}
			r.join(t.Context(), o)
		}
		c, err := Gather(t.Context(), r.l, Options{Token: token, Version: version, Expect: []string{"a", "b"}, Within: time.Minute, Tests: tests})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close("")
		if got := c.Offer("b").Rails[1].Device; got != "x1 " {
			t.Errorf("got device %q, want a printable name", got)
		}
		got, err := c.Round(t.Context(), Round{Flows: []Flow{{From: "a", To: "b", FromRail: 1, ToRail: 1}}})
		if d := cmp.Diff([]string{"a>b 7 measured"}, text(got)); err != nil || d != "" {
			t.Errorf("got %v and difference\n%s", err, d)
		}
		if s, want := <-sends, "192.0.2.2:1001"; s.Rail != 1 || s.Peer != want {
			t.Errorf("got rail %d to %v, want 1 to %v", s.Rail, s.Peer, want)
		}
		for range own {
			members := <-served
			for name, at := range own {
				if !slices.Contains(members, at) {
					t.Errorf("got members %v to serve, want the address of %s, %v", members, name, at)
				}
			}
		}
	})
}
