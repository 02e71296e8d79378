package loop

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// An echo is a queue pair whose other side answers each send with what was sent and
// each read with what is at the same place in In, and its completion queue.
type echo struct {
	lane     *Lane
	done     []verbs.Completion
	receives []verbs.RecvWR
	answers  bool
	sent     int
	status   verbs.Status
	damage   bool
	flood    bool // messages come as soon as there are receives
	deaf     bool // reads bring nothing
	polls    int
}

func (e *echo) PostSend(wrs []verbs.SendWR) (int, error) {
	for i := range wrs {
		wr := &wrs[i]
		e.sent++
		if wr.Flags&verbs.SendSignaled != 0 || e.status != 0 {
			e.done = append(e.done, verbs.Completion{ID: wr.ID, Status: e.status})
		}
		if wr.Opcode == verbs.OpRead && !e.deaf {
			at := int(wr.SGEs[0].Addr - e.lane.Out.Addr)
			copy(e.lane.Out.Bytes[at:at+e.lane.Size], e.lane.In.Bytes[at:])
		}
		if e.answers {
			r := e.receives[0]
			e.receives = e.receives[:copy(e.receives, e.receives[1:])]
			to := int(r.SGEs[0].Addr - e.lane.In.Addr)
			from := int(wr.SGEs[0].Addr - e.lane.Out.Addr)
			copy(e.lane.In.Bytes[to:], e.lane.Out.Bytes[from:][:e.lane.Size])
			if e.damage {
				e.lane.In.Bytes[to] ^= 1
			}
			e.done = append(e.done, verbs.Completion{ID: r.ID, Opcode: verbs.CompletedRecv})
		}
	}
	return len(wrs), nil
}

func (e *echo) PostRecv(wrs []verbs.RecvWR) (int, error) {
	for _, wr := range wrs {
		wr.SGEs = []verbs.SGE{wr.SGEs[0]}
		e.receives = append(e.receives, wr)
	}
	for e.flood && len(e.receives) > 0 {
		e.done = append(e.done, verbs.Completion{ID: e.receives[0].ID, Opcode: verbs.CompletedRecv})
		e.receives = e.receives[1:]
	}
	return len(wrs), nil
}

func (e *echo) Poll(into []verbs.Completion) (int, error) {
	e.polls++
	n := copy(into, e.done)
	e.done = e.done[:copy(e.done, e.done[n:])]
	return n, nil
}

func (e *echo) Wait(ctx context.Context, into []verbs.Completion) (int, error) {
	if len(e.done) == 0 {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return e.Poll(into)
}

// newEcho returns a lane that talks to an echo.
func newEcho(size, list int, op verbs.Opcode) *echo {
	e := &echo{answers: op == verbs.OpSend}
	w := Walk{Step: 128, Slots: 64}
	e.lane = &Lane{
		Queue: e, Size: size, Walk: w, InWalk: w, Message: verbs.SendWR{Opcode: op}, Seed: 7, PeerSeed: 7,
		Out: Area{Bytes: make([]byte, w.Size()), Addr: 1 << 20}, In: Area{Bytes: make([]byte, w.Size()), Addr: 1 << 21},
	}
	e.lane.Prepare(0, list)
	return e
}

func watch(t testing.TB) *Watch {
	w := NewWatch(t.Context(), 10*time.Second)
	t.Cleanup(w.Stop)
	return w
}

func TestPingPong(t *testing.T) {
	e := newEcho(100, 1, verbs.OpSend)
	e.lane.Verify = true
	if err := e.lane.Receive(4); err != nil {
		t.Fatal(err)
	}
	p := &PingPong{Lane: e.lane, CQ: e, Watch: watch(t), Depth: 16, Plan: Plan{Count: 100, Warmup: 5}}
	if err := p.LeadSends(); err != nil {
		t.Fatal(err)
	}
	if p.Samples.Count != 100 || e.sent != 105 || len(e.receives) != 4 {
		t.Errorf("%d samples, %d sent, %d receives left", p.Samples.Count, e.sent, len(e.receives))
	}
	e.damage = true
	if err := p.LeadSends(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("damaged payload: %v", err)
	}
	e.damage, e.status = false, verbs.StatusRetryExceeded
	if err := p.LeadSends(); !errors.As(err, new(*verbs.CompletionError)) {
		t.Errorf("failed completion: %v", err)
	}
}

func TestByTime(t *testing.T) {
	e := newEcho(100, 1, verbs.OpRead)
	p := &PingPong{Lane: e.lane, CQ: e, Watch: watch(t), Depth: 16, Plan: Plan{Before: time.Millisecond, During: 5 * time.Millisecond}}
	begin := time.Now()
	if err := p.Single(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 6*time.Millisecond || p.Samples.Count == 0 || p.Samples.Count >= int64(e.sent) {
		t.Errorf("%d of %d counted in %v", p.Samples.Count, e.sent, took)
	}
}

// TestStream looks at the completions asked for, at any moderation and list.
func TestStream(t *testing.T) {
	for _, depth := range []int{1, 7, 64} {
		for _, moderation := range []int{1, 5, 64} {
			for _, list := range []int{1, 3, 64} {
				if moderation > depth || list > depth {
					continue
				}
				e := newEcho(100, list, verbs.OpWrite)
				s := &Stream{
					Lanes: []*Lane{e.lane}, CQ: e, Watch: watch(t), Depth: depth, List: list, Moderation: moderation,
					Plan: Plan{Count: 1000, Warmup: 10},
				}
				sent := 0
				s.Sent = func() { sent++ }
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				if n, ns := s.Out.Total(); n != 1000 || ns <= 0 || e.sent != 1010 || sent != 1 {
					t.Errorf("depth %d, moderation %d, list %d: %d counted in %d ns, %d sent, told %d times", depth, moderation, list, n, ns, e.sent, sent)
				}
			}
		}
	}
}

// By time, the last message has a completion too.
func TestStreamByTime(t *testing.T) {
	e := newEcho(100, 4, verbs.OpWrite)
	s := &Stream{Lanes: []*Lane{e.lane}, CQ: e, Watch: watch(t), Depth: 64, List: 4, Moderation: 17, Plan: Plan{During: 3 * time.Millisecond}}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if e.lane.completed != uint64(e.sent) {
		t.Errorf("%d of %d completed", e.lane.completed, e.sent)
	}
}

func TestRate(t *testing.T) {
	for _, events := range []bool{false, true} {
		e := newEcho(100, 1, verbs.OpWrite)
		s := &Stream{
			Lanes: []*Lane{e.lane}, CQ: e, Watch: watch(t), Depth: 64, List: 1, Moderation: 1, Rate: 10000,
			Plan: Plan{Count: 100, Warmup: 1}, Events: events,
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		if n, ns := s.Out.Total(); n != 100 || ns < 9.5e6 {
			t.Errorf("%d in %d ns, at 10000 per second", n, ns)
		}
		if events && e.polls > 1000 {
			t.Errorf("%d polls, with events", e.polls)
		}
	}
}

// Nothing answers: the loop ends by its patience, or by Stop.
func TestStalled(t *testing.T) {
	for _, events := range []bool{false, true} {
		e := newEcho(100, 1, verbs.OpSend)
		e.answers = false
		w := NewWatch(t.Context(), 20*time.Millisecond)
		defer w.Stop()
		p := &PingPong{Lane: e.lane, CQ: e, Watch: w, Depth: 16, Plan: Plan{Count: 100}, Events: events}
		if err := p.LeadSends(); !errors.Is(err, ErrStalled) {
			t.Errorf("silence: %v", err)
		}
		p.Lossy, p.Lost = true, 0
		if err := p.LeadSends(); !errors.Is(err, ErrStalled) || p.Lost != maxLost-1 {
			t.Errorf("silence where messages get lost: %v, %d lost", err, p.Lost)
		}
		p.Lossy = false
		for _, patience := range []time.Duration{0, time.Minute} {
			w = NewWatch(t.Context(), patience)
			time.AfterFunc(5*time.Millisecond, w.Stop)
			p.Watch = w
			if err := p.FollowSends(); err != nil {
				t.Errorf("stopped: %v", err)
			}
		}
	}
}

// Where completions never fail to come a loop ends by Stop as well.
func TestStopped(t *testing.T) {
	for name, run := range map[string]func(*echo, *Watch) error{
		"round trips": func(e *echo, w *Watch) error {
			if err := e.lane.Receive(4); err != nil {
				return err
			}
			return (&PingPong{Lane: e.lane, CQ: e, Watch: w, Depth: 16, Plan: Plan{Count: 1 << 40}}).LeadSends()
		},
		"sends": func(e *echo, w *Watch) error {
			e.answers = false
			return (&Stream{Lanes: []*Lane{e.lane}, CQ: e, Watch: w, Depth: 16, List: 1, Moderation: 1, Plan: Plan{Count: 1 << 40}}).Run()
		},
		"both ways": func(e *echo, w *Watch) error {
			if err := e.lane.Receive(32); err != nil {
				return err
			}
			return (&Stream{Lanes: []*Lane{e.lane}, CQ: e, Watch: w, Depth: 16, List: 1, Moderation: 1, Plan: Plan{Count: 1 << 40}, Receives: true}).Run()
		},
		"receives": func(e *echo, w *Watch) error {
			e.flood = true
			if err := e.lane.Receive(32); err != nil {
				return err
			}
			return (&Stream{Lanes: []*Lane{e.lane}, CQ: e, Watch: w, Receives: true}).Run()
		},
	} {
		w := NewWatch(t.Context(), 0)
		time.AfterFunc(5*time.Millisecond, w.Stop)
		if err := run(newEcho(100, 1, verbs.OpSend), w); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAllocations: a longer run allocates as much as a short one.
func TestAllocations(t *testing.T) {
	e := newEcho(100, 4, verbs.OpWrite)
	p := &PingPong{Lane: e.lane, CQ: e, Watch: watch(t), Depth: 16, Samples: NewSamples()}
	s := &Stream{Lanes: []*Lane{e.lane}, CQ: e, Watch: p.Watch, Depth: 64, List: 4, Moderation: 16}
	run := func(n uint64) float64 {
		return testing.AllocsPerRun(5, func() {
			e.lane.Prepare(0, 4)
			p.Plan.Count, s.Plan.Count = n, n
			if err := p.Single(); err != nil {
				t.Fatal(err)
			}
			e.lane.Prepare(0, 4)
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
		})
	}
	if short, long := run(200), run(20000); short != long {
		t.Errorf("%v allocations in 200 messages, %v in 20000", short, long)
	}
}

func BenchmarkSingle(b *testing.B) {
	e := newEcho(64, 1, verbs.OpRead)
	p := &PingPong{Lane: e.lane, CQ: e, Watch: watch(b), Depth: 16, Plan: Plan{Count: uint64(b.N)}, Samples: NewSamples()}
	b.ReportAllocs()
	b.ResetTimer()
	if err := p.Single(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkStream(b *testing.B) {
	e := newEcho(64, 1, verbs.OpWrite)
	s := &Stream{Lanes: []*Lane{e.lane}, CQ: e, Watch: watch(b), Depth: 128, List: 1, Moderation: 32, Plan: Plan{Count: uint64(b.N)}}
	b.ReportAllocs()
	b.ResetTimer()
	if err := s.Run(); err != nil {
		b.Fatal(err)
	}
}

func TestSamples(t *testing.T) {
	s := NewSamples()
	for _, v := range []int64{2, 4, 4, 4, 5, 5, 7, 9} {
		s.Add(v)
	}
	if s.Avg() != 5 || s.StdDev() != 2 || s.Jitter() != 1 || s.Quantile(50) != 4 || s.Quantile(100) != 9 {
		t.Errorf("avg %v, stddev %v, jitter %v, median %v, max %v", s.Avg(), s.StdDev(), s.Jitter(), s.Quantile(50), s.Quantile(100))
	}
}

func TestWindows(t *testing.T) {
	var w Windows
	w.start(5e9)
	for i := range int64(10000) {
		w.add(5e9+i*1e6, 3)
	}
	n, ns := w.Total()
	if n != 30000 || ns != 9999e6 {
		t.Errorf("%d in %d ns", n, ns)
	}
	rates := w.Rates(50)
	if len(rates) < 40 || len(rates) > 100 {
		t.Errorf("%d windows", len(rates))
	}
	for _, r := range rates {
		if got := float64(r.Count) / float64(r.Length) * 1e6; math.Abs(got-3) > 0.2 {
			t.Errorf("%v per ms in the window at %d", got, r.Begin)
		}
	}
}

// TestUntouched has reads that bring something, and then some that bring nothing.
func TestUntouched(t *testing.T) {
	for _, size := range []int{1, 8, 100} {
		e := newEcho(size, 1, verbs.OpRead)
		e.lane.Verify = true
		e.lane.Offer()
		p := &PingPong{Lane: e.lane, CQ: e, Watch: watch(t), Depth: 16, Plan: Plan{Count: 100}}
		s := &Stream{Lanes: []*Lane{e.lane}, CQ: e, Watch: watch(t), Depth: 64, List: 1, Moderation: 8, Plan: Plan{Count: 100}}
		for _, run := range []func() error{p.Single, s.Run} {
			for _, c := range []struct {
				deaf bool
				want error
			}{{false, nil}, {true, ErrUntouched}} {
				e.deaf, e.done = c.deaf, nil
				e.lane.Prepare(0, 1)
				if err := run(); !errors.Is(err, c.want) {
					t.Errorf("%d bytes: %v, not %v", size, err, c.want)
				}
			}
		}
	}
	b := make([]byte, 64)
	if Check(b, 0, 0) == nil {
		t.Error("memory that nobody has written passes")
	}
}

func TestPattern(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 100} {
		b := make([]byte, n)
		Fill(b, 1, 2)
		if err := Check(b, 1, 2); err != nil {
			t.Error(err)
		}
		if n > 0 {
			for _, other := range [][2]uint64{{1, 3}, {2, 2}} {
				if n > 1 && Check(b, other[0], other[1]) == nil {
					t.Errorf("%d bytes of message %v pass for another", n, other)
				}
			}
			b[n-1] ^= 0x80
			if err := Check(b, 1, 2); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d bytes, last one damaged: %v", n, err)
			}
		}
	}
}
