package umad

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/mad"
)

func TestReply(t *testing.T) {
	f, c := newFake(3*time.Microsecond, ClientOptions{})
	var o outcome
	c.Submit(o.request(5))
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o.calls != 1 || o.err != nil || o.reply.RTT != 3*time.Microsecond {
		t.Errorf("got %+v", o)
	}
	if want := (Stats{Sent: 1, Received: 1, Window: 1}); c.Stats() != want {
		t.Errorf("stats %+v, want %+v", c.Stats(), want)
	}
	if f.sent[0].Timeout != time.Second {
		t.Errorf("the transport was told a time-out of %v", f.sent[0].Timeout)
	}
	checkIdle(t, c)
}

// TestLoss checks how long it takes until a request is given up, and how often
// it is sent.
func TestLoss(t *testing.T) {
	tests := []struct {
		name     string
		lost     int // attempts that get no reply
		reports  time.Duration
		attempts int
		took     time.Duration
		err      error
	}{
		{name: "first attempt", lost: 1, attempts: 2, took: time.Second + slack + time.Millisecond},
		{name: "all", lost: 99, attempts: 3, took: 3 * (time.Second + slack), err: ErrTimeout},
		{name: "all, kernel keeps time", lost: 99, reports: time.Second, attempts: 3, took: 3 * time.Second, err: ErrTimeout},
		{name: "all, dropped at once", lost: 99, reports: time.Microsecond, attempts: 3, took: 3 * time.Microsecond, err: ErrTimeout},
		{name: "two, dropped at once", lost: 2, reports: time.Microsecond, attempts: 3, took: 2*time.Microsecond + time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, c := newFake(0, ClientOptions{})
			f.onSend = func(m *Message) {
				switch {
				case len(f.sent) > tt.lost:
					f.arrive(time.Millisecond, reply(m))
				case tt.reports > 0:
					f.arrive(tt.reports, returned(m))
				}
			}
			start := f.now
			_, err := c.Call(t.Context(), &Request{Attr: mad.AttrNodeInfo})
			if !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if got := f.now.Sub(start); got != tt.took {
				t.Errorf("took %v, want %v", got, tt.took)
			}
			if len(f.sent) != tt.attempts || c.Stats().Retries != tt.attempts-1 || c.Stats().Timeouts != min(tt.lost, tt.attempts) {
				t.Errorf("sent %d times, want %d; stats %+v", len(f.sent), tt.attempts, c.Stats())
			}
			var e *Error
			if tt.err != nil && (!errors.As(err, &e) || e.Attempts != tt.attempts) {
				t.Errorf("error is %#v", err)
			}
			checkIdle(t, c)
		})
	}
}

// TestStrays checks that what answers nothing that was asked is counted and
// left alone.
func TestStrays(t *testing.T) {
	tests := map[string]func(good, request Message) Message{
		"other transaction": func(m, _ Message) Message { m.MAD.SetTID(m.MAD.TID() + 1<<attemptBits); return m },
		"later attempt":     func(m, _ Message) Message { m.MAD.SetTID(m.MAD.TID() + 1); return m },
		"attempt 0":         func(m, _ Message) Message { m.MAD.SetTID(m.MAD.TID() - 1); return m },
		"other attribute":   func(m, _ Message) Message { m.MAD[17]++; return m },
		"other modifier":    func(m, _ Message) Message { m.MAD[23]++; return m },
		"other class":       func(m, _ Message) Message { m.MAD[1] = byte(mad.ClassPM); return m },
		"a request":         func(_, m Message) Message { return m },
		"response with transport error": func(m, _ Message) Message {
			m.Status = 110
			return m
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			f, c := newFake(0, ClientOptions{})
			f.onSend = func(m *Message) {
				f.arrive(time.Microsecond, spoil(reply(m), *m))
				f.arrive(time.Millisecond, reply(m))
			}
			r, err := c.Call(t.Context(), &Request{Attr: mad.AttrNodeInfo})
			if err != nil || r.RTT != time.Millisecond {
				t.Errorf("RTT %v, error %v", r.RTT, err)
			}
			if s := c.Stats(); s.Stray != 1 || s.Received != 1 || s.Retries != 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestDuplicate(t *testing.T) {
	f, c := newFake(0, ClientOptions{})
	f.onSend = func(m *Message) {
		f.arrive(time.Microsecond, reply(m))
		f.arrive(time.Microsecond, reply(m))
	}
	var o [5]outcome
	for i := range o {
		c.Submit(o[i].request(uint32(i)))
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A duplicate of the last one is nobody's business any more.
	if s := c.Stats(); s.Received != 5 || s.Stray < 4 {
		t.Errorf("stats %+v", s)
	}
	for i := range o {
		if o[i].calls != 1 {
			t.Errorf("request %d ended %d times", i, o[i].calls)
		}
	}
}

// TestLateReply checks that a reply to an earlier attempt is taken, that what
// comes of the later one is ignored, and that neither says how long a reply
// takes.
func TestLateReply(t *testing.T) {
	f, c := newFake(0, ClientOptions{})
	f.onSend = func(m *Message) {
		switch len(f.sent) {
		case 1:
			f.arrive(1500*time.Millisecond, reply(m))
			// That the first attempt timed out is reported late, too.
			f.arrive(1400*time.Millisecond, returned(m))
		case 2:
			f.arrive(600*time.Millisecond, reply(m))
		default:
			f.arrive(time.Second, reply(m))
		}
	}
	r, err := c.Call(t.Context(), &Request{Attr: mad.AttrNodeInfo, Modifier: 1})
	if err != nil || r.RTT != 0 {
		t.Errorf("RTT %v, error %v", r.RTT, err)
	}
	if r, err := c.Call(t.Context(), &Request{Attr: mad.AttrNodeInfo, Modifier: 2}); err != nil || r.RTT != time.Second {
		t.Errorf("next request: RTT %v, error %v", r.RTT, err)
	}
	if s := c.Stats(); s.Stray != 2 || s.Sent != 3 {
		t.Errorf("stats %+v", s)
	}
}

func TestStatusError(t *testing.T) {
	f, c := newFake(0, ClientOptions{})
	f.onSend = func(m *Message) {
		r := reply(m)
		r.MAD.SetStatus(mad.StatusBadMethodAttr)
		f.arrive(0, r)
	}
	r, err := c.Call(t.Context(), &Request{Attr: mad.AttrSwitchInfo})
	var status mad.StatusError
	if !errors.As(err, &status) || mad.Status(status) != mad.StatusBadMethodAttr || r.MAD == nil {
		t.Errorf("got %v, error %v", r, err)
	}
	if len(f.sent) != 1 {
		t.Errorf("an answer was asked for %d times", len(f.sent))
	}
}

// TestDeadTargets checks that dead targets wait side by side, and do not hold
// up the others.
func TestDeadTargets(t *testing.T) {
	const latency = 20 * time.Microsecond
	f, c := newFake(0, ClientOptions{})
	f.onSend = func(m *Message) {
		if m.MAD.Modifier()%20 != 0 {
			f.arrive(latency, reply(m))
		}
	}
	start := f.now
	var alive, dead int
	var lastAlive time.Time
	for i := range uint32(1000) {
		c.Submit(&Request{Attr: mad.AttrPortInfo, Modifier: i, Done: func(_ *Request, r *Reply) {
			if errors.Is(r.Err, ErrTimeout) {
				dead++
				return
			}
			alive++
			lastAlive = f.now
		}})
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if alive != 950 || dead != 50 {
		t.Errorf("%d alive, %d dead", alive, dead)
	}
	// Each dead one can hold its place in the window for as long as the
	// patience is, and not for its time-out.
	if got := lastAlive.Sub(start); got > 50*minPatience {
		t.Errorf("the last good reply came after %v", got)
	}
	if got, most := f.now.Sub(start), 3*(time.Second+slack)+50*minPatience; got > most {
		t.Errorf("took %v, want at most %v", got, most)
	}
	checkIdle(t, c)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f, c := newFake(0, ClientOptions{MaxWindow: 4})
	f.onSend = nil
	recvs := 0
	f.onRecv = func() error {
		if recvs++; recvs == 3 {
			cancel()
		}
		return nil
	}
	o := make([]outcome, 50)
	for i := range o {
		c.Submit(o[i].request(uint32(i)))
	}
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	for i := range o {
		if o[i].calls != 1 || !errors.Is(o[i].err, context.Canceled) {
			t.Errorf("request %d: ended %d times, %v", i, o[i].calls, o[i].err)
		}
	}
	checkIdle(t, c)

	f.onRecv = nil
	f.onSend = func(m *Message) { f.arrive(0, reply(m)) }
	if _, err := c.Call(t.Context(), &Request{Attr: mad.AttrNodeInfo}); err != nil {
		t.Errorf("after a run that was ended: %v", err)
	}
}

// TestCancelRetries checks that requests end which wait to be sent again.
func TestCancelRetries(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f, c := newFake(0, ClientOptions{})
	f.onSend = func(m *Message) { f.arrive(0, returned(m)) }
	f.refuse = func() error {
		if len(f.sent) >= 3 {
			return ErrWouldBlock
		}
		return nil
	}
	f.onRecv = func() error {
		if c.retries.len == 3 {
			cancel()
		}
		return nil
	}
	var o [3]outcome
	for i := range o {
		c.Submit(o[i].request(uint32(i)))
	}
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	for i := range o {
		if o[i].calls != 1 || !errors.Is(o[i].err, context.Canceled) {
			t.Errorf("request %d: ended %d times, %v", i, o[i].calls, o[i].err)
		}
	}
	checkIdle(t, c)
}

// TestCancelSubmits checks that a Done which tries again at once does not keep
// a run alive that was ended.
func TestCancelSubmits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, c := newFake(0, ClientOptions{})
	calls := 0
	c.Submit(&Request{Attr: mad.AttrNodeInfo, Done: func(r *Request, p *Reply) {
		if calls++; p.Err != nil {
			c.Submit(r)
		}
	}})
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("Run returned %v after %d calls", err, calls)
	}
	if err := c.Run(t.Context()); err != nil || calls != 2 {
		t.Errorf("the next Run returned %v after %d calls", err, calls)
	}
}

func TestPortGone(t *testing.T) {
	gone := fmt.Errorf("device was unplugged: %w", ErrDeviceRemoved)
	for _, where := range []string{"send", "receive"} {
		t.Run(where, func(t *testing.T) {
			f, c := newFake(time.Microsecond, ClientOptions{MaxWindow: 8})
			count := 0
			die := func() error {
				if count++; count > 10 {
					return gone
				}
				return nil
			}
			if where == "send" {
				f.refuse = die
			} else {
				f.onRecv = die
			}
			o := make([]outcome, 40)
			for i := range o {
				c.Submit(o[i].request(uint32(i)))
			}
			if err := c.Run(t.Context()); !errors.Is(err, ErrDeviceRemoved) {
				t.Errorf("Run returned %v", err)
			}
			failed := 0
			for i := range o {
				if o[i].calls != 1 {
					t.Errorf("request %d ended %d times", i, o[i].calls)
				}
				if errors.Is(o[i].err, ErrDeviceRemoved) {
					failed++
				}
			}
			if failed+c.Stats().Received != len(o) || failed < len(o)-10 {
				t.Errorf("%d failed, stats %+v", failed, c.Stats())
			}
			checkIdle(t, c)
		})
	}
}

// TestRefused checks that what a port cannot send ends one request only.
func TestRefused(t *testing.T) {
	f, c := newFake(0, ClientOptions{})
	refused := errors.New("no such agent")
	count := 0
	f.refuse = func() error {
		if count++; count == 2 {
			return refused
		}
		return nil
	}
	var o [3]outcome
	for i := range o {
		c.Submit(o[i].request(uint32(i)))
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o[0].err != nil || !errors.Is(o[1].err, refused) || o[2].err != nil {
		t.Errorf("errors %v, %v, %v", o[0].err, o[1].err, o[2].err)
	}
	checkIdle(t, c)
}

func TestSubmitFromDone(t *testing.T) {
	_, c := newFake(time.Microsecond, ClientOptions{})
	left := 1000
	r := &Request{Attr: mad.AttrPortInfo}
	r.Done = func(r *Request, p *Reply) {
		if p.Err != nil {
			t.Error(p.Err)
		}
		if left--; left > 0 {
			r.Modifier++
			c.Submit(r)
		}
	}
	c.Submit(r)
	if err := c.Run(t.Context()); err != nil || left != 0 {
		t.Errorf("%d left, %v", left, err)
	}
}

func TestMisuse(t *testing.T) {
	_, c := newFake(0, ClientOptions{})
	var run, call error
	c.Submit(&Request{Attr: mad.AttrNodeInfo, Done: func(*Request, *Reply) {
		run = c.Run(context.Background())
		_, call = c.Call(context.Background(), &Request{Attr: mad.AttrNodeInfo})
	}})
	if err := c.Run(t.Context()); err != nil || run == nil || call == nil {
		t.Errorf("outer %v, nested Run %v, nested Call %v", err, run, call)
	}
	defer func() {
		if recover() == nil {
			t.Error("a request can be submitted twice")
		}
	}()
	r := &Request{}
	c.Submit(r)
	c.Submit(r)
}

// TestWouldBlock checks that a port without room is asked again after a while,
// or after the next reply, and not all the time.
func TestWouldBlock(t *testing.T) {
	f, c := newFake(50*time.Microsecond, ClientOptions{})
	refusals, storm := 0, 0
	f.refuse = func() error {
		if storm++; storm%100 != 0 && f.now.Sub(time.Unix(1000, 0)) < time.Second {
			refusals++
			return ErrWouldBlock
		}
		return nil
	}
	o := make([]outcome, 100)
	for i := range o {
		c.Submit(o[i].request(uint32(i)))
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range o {
		if o[i].calls != 1 || o[i].err != nil {
			t.Errorf("request %d ended %d times, %v", i, o[i].calls, o[i].err)
		}
	}
	if most := int(time.Second/sendPause) + len(o) + 1; refusals > most {
		t.Errorf("asked %d times, want at most %d", refusals, most)
	}
	checkIdle(t, c)
}

// TestNoRoomNoReplies checks that a port without room is asked again soon also
// where no reply is on its way that could wake the client.
func TestNoRoomNoReplies(t *testing.T) {
	f, c := newFake(0, ClientOptions{Timeout: time.Minute})
	refusals := 3
	f.refuse = func() error {
		if refusals--; refusals >= 0 {
			return ErrWouldBlock
		}
		return nil
	}
	start := f.now
	if _, err := c.Call(t.Context(), &Request{Attr: mad.AttrNodeInfo}); err != nil {
		t.Fatal(err)
	}
	if took := f.now.Sub(start); took != 3*sendPause {
		t.Errorf("took %v", took)
	}
}

// TestLateLimit checks that there is an end also to the requests that are late,
// which the window does not hold back.
func TestLateLimit(t *testing.T) {
	f, c := newFake(0, ClientOptions{Timeout: time.Hour, Attempts: 1})
	f.onSend = nil
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.onRecv = func() error {
		f.sent = f.sent[:0]
		if c.Stats().Timeouts > 0 {
			cancel()
		}
		return nil
	}
	requests := make([]Request, maxInFlight+100)
	for i := range requests {
		requests[i] = Request{Attr: mad.AttrNodeInfo, Done: func(*Request, *Reply) {}}
		c.Submit(&requests[i])
	}
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if s := c.Stats(); s.Window != maxInFlight {
		t.Errorf("stats %+v", s)
	}
	checkIdle(t, c)
}

// TestRandom lets everything go wrong at once and checks that each request
// ends once, with its own answer.
func TestRandom(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		f, c := newFake(0, ClientOptions{MaxWindow: 1 + rnd.IntN(80), Attempts: 1 + rnd.IntN(4), Timeout: 100 * time.Millisecond})
		f.refuse = func() error {
			if rnd.IntN(10) == 0 {
				return ErrWouldBlock
			}
			return nil
		}
		f.onSend = func(m *Message) {
			delay := time.Duration(rnd.ExpFloat64() * float64(20*time.Millisecond))
			switch rnd.IntN(8) {
			case 0: // lost
			case 1:
				f.arrive(delay, returned(m))
			case 2:
				f.arrive(delay, reply(m))
				f.arrive(2*delay, reply(m))
			case 3:
				f.arrive(300*time.Millisecond, reply(m))
			case 4:
				foreign := reply(m)
				foreign.MAD.SetTID(rnd.Uint64())
				f.arrive(delay, foreign)
			default:
				f.arrive(delay, reply(m))
			}
		}
		ended := make([]int, 300)
		for i := range ended {
			c.Submit(&Request{Attr: mad.AttrPortInfo, Modifier: uint32(i), Done: func(r *Request, p *Reply) {
				ended[i]++
				switch {
				case p.Err == nil && p.MAD.Modifier() != uint32(i):
					t.Errorf("seed %d: request %d got the answer to %d", seed, i, p.MAD.Modifier())
				case p.Err != nil && !errors.Is(p.Err, ErrTimeout):
					t.Errorf("seed %d: request %d: %v", seed, i, p.Err)
				}
			}})
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, n := range ended {
			if n != 1 {
				t.Errorf("seed %d: request %d ended %d times", seed, i, n)
			}
		}
		checkIdle(t, c)
	}
}

// A waitingPort blocks as a real one does and never gets a reply.
type waitingPort struct {
	fakeTransport
	wake chan struct{}
}

func (p *waitingPort) Interrupt() { p.wake <- struct{}{} }

func (p *waitingPort) Recv(_ *Message, deadline time.Time) error {
	select {
	case <-p.wake:
	case <-time.After(time.Until(deadline)):
	}
	return os.ErrDeadlineExceeded
}

// TestNothingLeftBehind checks that a run which waits ends with its context,
// and leaves no goroutine behind: the bubble would not end.
func TestNothingLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &waitingPort{wake: make(chan struct{}, 1)}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		c := NewClient(p, ClientOptions{})
		start := time.Now()
		_, err := c.Call(ctx, &Request{Attr: mad.AttrNodeInfo})
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 500*time.Millisecond {
			t.Errorf("ended after %v: %v", took, err)
		}
	})
}

// TestAllocations checks that a request costs no allocation.
func TestAllocations(t *testing.T) {
	c := NewClient(&loopback{}, ClientOptions{})
	requests := make([]Request, 1000)
	for i := range requests {
		requests[i] = Request{Attr: mad.AttrPortInfo, Modifier: uint32(i), Done: func(*Request, *Reply) {}}
	}
	run := func(n int) func() {
		return func() {
			for i := range n {
				c.Submit(&requests[i])
			}
			if err := c.Run(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
	run(1000)() // grow what grows once
	if one, many := testing.AllocsPerRun(20, run(1)), testing.AllocsPerRun(20, run(1000)); many > one {
		t.Errorf("%v allocations for one request, %v for 1000", one, many)
	}
}

// loopback answers everything at once, in order, and allocates nothing.
type loopback struct {
	fakeTransport
	ring       [128]Message
	head, tail int
}

func (p *loopback) Send(m *Message) error {
	p.ring[p.tail%len(p.ring)] = *m
	p.tail++
	return nil
}

func (p *loopback) Recv(m *Message, _ time.Time) error {
	*m = p.ring[p.head%len(p.ring)]
	m.MAD[3] |= 0x80
	p.head++
	return nil
}

func BenchmarkClient(b *testing.B) {
	c := NewClient(&loopback{}, ClientOptions{})
	left := b.N
	requests := make([]Request, 256)
	done := func(r *Request, _ *Reply) {
		if left--; left > 0 {
			c.Submit(r)
		}
	}
	b.ReportAllocs()
	for i := range requests {
		requests[i] = Request{To: Target{Route: "\x01\x02\x03"}, Attr: mad.AttrPortInfo, Done: done}
		c.Submit(&requests[i])
	}
	if err := c.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
}
