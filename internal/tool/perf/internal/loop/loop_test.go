package loop

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/perf/stats"
	"github.com/ibkit/ibkit/verbs"
)

// An echo is a queue pair with a completion queue. Its peer answers each send with the
// same payload, and each read with the data at the same place in In.
type echo struct {
	flow     *QPFlow
	out, in  []byte // memory of the flow as the device sees it
	done     []verbs.Completion
	receives []verbs.RecvWR
	answers  bool
	sent     int
	signaled int
	status   verbs.Status
	damage   bool
	flood    bool // a message arrives for each receive at once
	deaf     bool // reads return no data
	polls    int
}

func (e *echo) PostSend(wrs []verbs.SendWR) (int, error) {
	for i := range wrs {
		wr := &wrs[i]
		e.sent++
		if wr.Flags&verbs.SendSignaled != 0 || e.status != 0 {
			e.signaled++
			e.done = append(e.done, verbs.Completion{ID: wr.ID, Status: e.status})
		}
		if wr.Opcode == verbs.OpRead && !e.deaf {
			at := int(wr.SGEs[0].Addr - e.flow.Out.Addr)
			copy(e.out[at:at+e.flow.Size], e.in[at:])
		}
		if e.answers {
			r := e.receives[0]
			e.receives = e.receives[:copy(e.receives, e.receives[1:])]
			to := int(r.SGEs[0].Addr - e.flow.In.Addr)
			from := int(wr.SGEs[0].Addr - e.flow.Out.Addr)
			copy(e.in[to:], e.out[from:][:e.flow.Size])
			if e.damage {
				e.in[to] ^= 1
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

// newEcho returns an echo with its flow.
func newEcho(size, list int, op verbs.Opcode) *echo {
	e := &echo{answers: op == verbs.OpSend}
	r := Ring{Stride: 128, Slots: 64}
	e.flow = &QPFlow{
		Queue: e, Size: size, Ring: r, InRing: r, Message: verbs.SendWR{Opcode: op}, Seed: 7, PeerSeed: 7,
		Out: Area{Bytes: make([]byte, r.Size()), Addr: 1 << 20}, In: Area{Bytes: make([]byte, r.Size()), Addr: 1 << 21},
	}
	e.out, e.in = e.flow.Out.Bytes, e.flow.In.Bytes
	e.flow.Prepare(0, list)
	return e
}

// supervise returns a Supervisor that lasts as long as the test.
func supervise(t testing.TB, stallTimeout time.Duration) *Supervisor {
	s := NewSupervisor(t.Context(), stallTimeout)
	t.Cleanup(s.Stop)
	return s
}

func TestPingPong(t *testing.T) {
	e := newEcho(100, 1, verbs.OpSend)
	e.flow.Verify = true
	if err := e.flow.Receive(4); err != nil {
		t.Fatal(err)
	}
	p := &PingPong{Flow: e.flow, CQ: e, Supervisor: supervise(t, time.Minute), Depth: 16, Plan: Plan{Count: 100, Warmup: 5}}
	if err := p.LeadSends(); err != nil {
		t.Fatal(err)
	}
	if p.Samples.Count != 100 || e.sent != 105 || len(e.receives) != 4 {
		t.Errorf("got %d samples, %d messages and %d posted receives, want 100, 105 and 4", p.Samples.Count, e.sent, len(e.receives))
	}
	e.damage = true
	if err := p.LeadSends(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("damaged payload: got %v, want %v", err, ErrCorrupt)
	}
	e.damage, e.status = false, verbs.StatusRetryExceeded
	if err := p.LeadSends(); !errors.As(err, new(*verbs.CompletionError)) {
		t.Errorf("failed completion: got %v, want a CompletionError", err)
	}
}

// TestPingPong_completions checks that few sends generate a completion, and that the
// last send does, so that Drain can wait for it.
func TestPingPong_completions(t *testing.T) {
	const count, warmup, depth = 100, 3, 64
	e := newEcho(100, 1, verbs.OpSend)
	if err := e.flow.Receive(4); err != nil {
		t.Fatal(err)
	}
	p := &PingPong{Flow: e.flow, CQ: e, Supervisor: supervise(t, time.Minute), Depth: depth, Plan: Plan{Count: count, Warmup: warmup}}
	if err := p.LeadSends(); err != nil {
		t.Fatal(err)
	}
	if err := p.Drain(); err != nil {
		t.Fatal(err)
	}
	if want := (count+warmup)/sendEvery + 1; e.signaled != want {
		t.Errorf("got %d completions of %d sends, want %d", e.signaled, count+warmup, want)
	}
	if e.flow.completed != count+warmup {
		t.Errorf("got %d completed messages after Drain, want %d", e.flow.completed, count+warmup)
	}
}

func TestPingPong_byTime(t *testing.T) {
	e := newEcho(100, 1, verbs.OpRead)
	// The processor may be busy with other processes for tens of milliseconds.
	plan := Plan{Before: time.Millisecond, During: 200 * time.Millisecond}
	p := &PingPong{Flow: e.flow, CQ: e, Supervisor: supervise(t, time.Minute), Depth: 16, Plan: plan}
	begin := time.Now()
	if err := p.Single(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < plan.Before+plan.During {
		t.Errorf("got a duration of %v, want at least %v", took, plan.Before+plan.During)
	}
	if p.Samples.Count == 0 || p.Samples.Count >= int64(e.sent) {
		t.Errorf("got %d samples of %d messages, want some but not all", p.Samples.Count, e.sent)
	}
}

// TestStream checks the requested completions at any moderation and list length.
func TestStream(t *testing.T) {
	const count, warmup = 1000, 10
	for _, depth := range []int{1, 7, 64} {
		for _, moderation := range []int{1, 5, 64} {
			for _, list := range []int{1, 3, 64} {
				if moderation > depth || list > depth {
					continue
				}
				t.Run(fmt.Sprintf("depth %d, moderation %d, list %d", depth, moderation, list), func(t *testing.T) {
					e := newEcho(100, list, verbs.OpWrite)
					calls := 0
					s := &Stream{
						Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: supervise(t, time.Minute), Depth: depth, List: list, Moderation: moderation,
						Plan: Plan{Count: count, Warmup: warmup}, Sent: func() { calls++ },
					}
					if err := s.Run(); err != nil {
						t.Fatal(err)
					}
					if n, ns := s.Out.Total(); n != count || ns <= 0 {
						t.Errorf("got %d messages in %d ns, want %d", n, ns, count)
					}
					if e.sent != count+warmup || calls != 1 {
						t.Errorf("got %d messages sent and %d calls of Sent, want %d and 1", e.sent, calls, count+warmup)
					}
				})
			}
		}
	}
}

// TestStream_byTime checks that the last message of a timed test has a completion.
func TestStream_byTime(t *testing.T) {
	e := newEcho(100, 4, verbs.OpWrite)
	s := &Stream{
		Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: supervise(t, time.Minute), Depth: 64, List: 4, Moderation: 17,
		Plan: Plan{During: 3 * time.Millisecond},
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if e.flow.completed != uint64(e.sent) {
		t.Errorf("got %d completed messages, want %d", e.flow.completed, e.sent)
	}
}

func TestStream_rate(t *testing.T) {
	for name, events := range map[string]bool{"polling": false, "events": true} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(100, 1, verbs.OpWrite)
			s := &Stream{
				Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: supervise(t, time.Minute), Depth: 64, List: 1, Moderation: 1, Rate: 10000,
				Plan: Plan{Count: 100, Warmup: 1}, Events: events,
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			if n, ns := s.Out.Total(); n != 100 || ns < 9.5e6 {
				t.Errorf("got %d messages in %d ns, want 100 at 10000 per second", n, ns)
			}
			if events && e.polls > 1000 {
				t.Errorf("got %d polls with events, want at most 1000", e.polls)
			}
		})
	}
}

// TestStream_burst checks that a rate holds back messages in bursts, and that a burst
// does not exceed its size.
func TestStream_burst(t *testing.T) {
	e := newEcho(100, 2, verbs.OpWrite)
	s := &Stream{
		Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: supervise(t, time.Minute), Depth: 64, List: 2, Moderation: 1, Rate: 2000, Burst: 10,
		Plan: Plan{Count: 40}, Progress: new(atomic.Uint64),
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	// The last of four bursts begins after three pauses of 5 ms.
	if n, ns := s.Out.Total(); n != 40 || ns < 14e6 || s.Progress.Load() != 40 {
		t.Errorf("got %d messages in %d ns and progress %d, want 40 in 15 ms", n, ns, s.Progress.Load())
	}
}

// TestReceiveList checks that lists of receives are posted whole.
func TestReceiveList(t *testing.T) {
	e := newEcho(100, 1, verbs.OpSend)
	e.flow.RecvList, e.flow.Shared = 4, e
	e.flow.Prepare(0, 1)
	if err := e.flow.Receive(8); err != nil {
		t.Fatal(err)
	}
	s := &Stream{Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: supervise(t, time.Minute), Receives: true, Expect: 8}
	s.begin()
	s.consumed[0] = 7
	if err := s.repost(); err != nil {
		t.Fatal(err)
	}
	if len(e.receives) != 12 || s.consumed[0] != 3 {
		t.Errorf("got %d posted receives and %d consumed ones, want 12 and 3", len(e.receives), s.consumed[0])
	}
	if first, last := e.receives[0].SGEs[0].Addr, e.receives[3].SGEs[0].Addr; last-first != 3*128 {
		t.Errorf("got receives %d bytes apart, want %d", last-first, 3*128)
	}
}

// TestPingPong_gap checks that the pause before messages is a part of their times.
func TestPingPong_gap(t *testing.T) {
	e := newEcho(100, 1, verbs.OpSend)
	if err := e.flow.Receive(4); err != nil {
		t.Fatal(err)
	}
	p := &PingPong{
		Flow: e.flow, CQ: e, Supervisor: supervise(t, time.Minute), Depth: 16, Plan: Plan{Count: 10}, Gap: time.Millisecond,
	}
	if err := p.LeadSends(); err != nil {
		t.Fatal(err)
	}
	if p.Samples.Min < 1e6 {
		t.Errorf("got a time of %d ns, want at least 1 ms", p.Samples.Min)
	}
}

// TestPingPong_quiet checks that a leading side waits before its first message, and
// that Stop ends the wait.
func TestPingPong_quiet(t *testing.T) {
	e := newEcho(100, 1, verbs.OpSend)
	if err := e.flow.Receive(4); err != nil {
		t.Fatal(err)
	}
	p := &PingPong{
		Flow: e.flow, CQ: e, Supervisor: supervise(t, testenv.WaitLimit), Depth: 16, Plan: Plan{Count: 3}, Quiet: 5 * time.Millisecond,
	}
	begin := time.Now()
	if err := p.LeadSends(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < p.Quiet || p.Samples.Count != 3 {
		t.Errorf("got %d samples after %v, want 3 after at least %v", p.Samples.Count, took, p.Quiet)
	}
	p.Quiet = time.Hour
	time.AfterFunc(5*time.Millisecond, p.Supervisor.Stop)
	if err := p.LeadSends(); err != nil {
		t.Errorf("stopped: got %v, want none", err)
	}
}

// TestPingPong_samples checks that all times count, whether they are added during or
// after the loop.
func TestPingPong_samples(t *testing.T) {
	for _, count := range []uint64{10, maxTimes, maxTimes + 10} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			e := newEcho(100, 1, verbs.OpRead)
			samples := stats.NewSamples()
			samples.Keep(5)
			p := &PingPong{
				Flow: e.flow, CQ: e, Supervisor: supervise(t, testenv.WaitLimit), Depth: 16, Plan: Plan{Count: count, Warmup: 2}, Samples: samples,
			}
			if err := p.Single(); err != nil {
				t.Fatal(err)
			}
			if samples.Count != int64(count) || samples.Min <= 0 || len(samples.Kept()) != 5 {
				t.Errorf("got %d samples from %d ns and %d kept, want %d and 5", samples.Count, samples.Min, len(samples.Kept()), count)
			}
		})
	}
}

// TestStalled checks that a loop without answers ends by its timeout or by Stop.
func TestStalled(t *testing.T) {
	for name, events := range map[string]bool{"polling": false, "events": true} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(100, 1, verbs.OpSend)
			e.answers = false
			p := &PingPong{Flow: e.flow, CQ: e, Supervisor: supervise(t, 20*time.Millisecond), Depth: 16, Plan: Plan{Count: 100}, Events: events}
			if err := p.LeadSends(); !errors.Is(err, ErrStalled) {
				t.Errorf("got %v, want %v", err, ErrStalled)
			}
			p.Lossy, p.Lost = true, 0
			if err := p.LeadSends(); !errors.Is(err, ErrStalled) || p.Lost != maxLost-1 {
				t.Errorf("lossy transport: got %v and %d lost round trips, want %v and %d", err, p.Lost, ErrStalled, maxLost-1)
			}
			p.Lossy = false
			for _, timeout := range []time.Duration{0, time.Minute} {
				p.Supervisor = supervise(t, timeout)
				time.AfterFunc(5*time.Millisecond, p.Supervisor.Stop)
				if err := p.FollowSends(); err != nil {
					t.Errorf("stopped, with timeout %v: got %v, want none", timeout, err)
				}
			}
		})
	}
}

// TestStopped checks that Stop ends a loop that always finds completions.
func TestStopped(t *testing.T) {
	for name, run := range map[string]func(*echo, *Supervisor) error{
		"round trips": func(e *echo, s *Supervisor) error {
			if err := e.flow.Receive(4); err != nil {
				return err
			}
			return (&PingPong{Flow: e.flow, CQ: e, Supervisor: s, Depth: 16, Plan: Plan{Count: 1 << 40}}).LeadSends()
		},
		"sends": func(e *echo, s *Supervisor) error {
			e.answers = false
			return (&Stream{Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: s, Depth: 16, List: 1, Moderation: 1, Plan: Plan{Count: 1 << 40}}).Run()
		},
		"bidirectional": func(e *echo, s *Supervisor) error {
			if err := e.flow.Receive(32); err != nil {
				return err
			}
			return (&Stream{Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: s, Depth: 16, List: 1, Moderation: 1, Plan: Plan{Count: 1 << 40}, Receives: true}).Run()
		},
		"receives": func(e *echo, s *Supervisor) error {
			e.flood = true
			if err := e.flow.Receive(32); err != nil {
				return err
			}
			return (&Stream{Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: s, Receives: true}).Run()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := supervise(t, 0)
			time.AfterFunc(5*time.Millisecond, s.Stop)
			if err := run(newEcho(100, 1, verbs.OpSend), s); err != nil {
				t.Errorf("got %v, want none", err)
			}
		})
	}
}

// TestAllocations checks that a long run allocates no more than a short run.
func TestAllocations(t *testing.T) {
	e := newEcho(100, 4, verbs.OpWrite)
	p := &PingPong{Flow: e.flow, CQ: e, Supervisor: supervise(t, time.Minute), Depth: 16, Samples: stats.NewSamples()}
	s := &Stream{Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: p.Supervisor, Depth: 64, List: 4, Moderation: 16}
	run := func(n uint64) float64 {
		return testing.AllocsPerRun(5, func() {
			e.flow.Prepare(0, 4)
			p.Plan.Count, s.Plan.Count = n, n
			if err := p.Single(); err != nil {
				t.Fatal(err)
			}
			e.flow.Prepare(0, 4)
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
		})
	}
	if short, long := run(200), run(20000); short != long {
		t.Errorf("got %v allocations for 20000 messages, want %v as for 200", long, short)
	}
}

func BenchmarkSingle(b *testing.B) {
	e := newEcho(64, 1, verbs.OpRead)
	p := &PingPong{Flow: e.flow, CQ: e, Supervisor: supervise(b, time.Minute), Depth: 16, Plan: Plan{Count: uint64(b.N)}, Samples: stats.NewSamples()}
	b.ReportAllocs()
	b.ResetTimer()
	if err := p.Single(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkStream(b *testing.B) {
	e := newEcho(64, 1, verbs.OpWrite)
	s := &Stream{Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: supervise(b, time.Minute), Depth: 128, List: 1, Moderation: 32, Plan: Plan{Count: uint64(b.N)}}
	b.ReportAllocs()
	b.ResetTimer()
	if err := s.Run(); err != nil {
		b.Fatal(err)
	}
}

// TestUntouched checks that reads that return no data are detected.
func TestUntouched(t *testing.T) {
	for _, size := range []int{1, 8, 100} {
		t.Run(fmt.Sprintf("%d bytes", size), func(t *testing.T) {
			e := newEcho(size, 1, verbs.OpRead)
			e.flow.Verify = true
			if err := e.flow.FillTarget(); err != nil {
				t.Fatal(err)
			}
			supervisor := supervise(t, time.Minute)
			p := &PingPong{Flow: e.flow, CQ: e, Supervisor: supervisor, Depth: 16, Plan: Plan{Count: 100}}
			s := &Stream{Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: supervisor, Depth: 64, List: 1, Moderation: 8, Plan: Plan{Count: 100}}
			for _, run := range []func() error{p.Single, s.Run} {
				for _, c := range []struct {
					deaf bool
					want error
				}{{false, nil}, {true, ErrUntouched}} {
					e.deaf, e.done = c.deaf, nil
					e.flow.Prepare(0, 1)
					if err := run(); !errors.Is(err, c.want) {
						t.Errorf("got %v, want %v", err, c.want)
					}
				}
			}
		})
	}
	if Check(make([]byte, 64), 0, 0) == nil {
		t.Error("zeroed memory: got no error, want one")
	}
}

func TestPattern(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 100} {
		t.Run(fmt.Sprintf("%d bytes", n), func(t *testing.T) {
			b := make([]byte, n)
			Fill(b, 1, 2)
			if err := Check(b, 1, 2); err != nil {
				t.Errorf("got %v, want none", err)
			}
			if n == 0 {
				return
			}
			for _, other := range [][2]uint64{{1, 3}, {2, 2}} {
				if n > 1 && Check(b, other[0], other[1]) == nil {
					t.Errorf("payload of message %v: got no error, want one", other)
				}
			}
			b[n-1] ^= 0x80
			if err := Check(b, 1, 2); !errors.Is(err, ErrCorrupt) {
				t.Errorf("last byte damaged: got %v, want %v", err, ErrCorrupt)
			}
		})
	}
}
