package umad

import (
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
)

func TestWindow(t *testing.T) {
	w := window{size: 4, limit: 64}
	for range 12 {
		w.grow()
	}
	if w.size != 16 {
		t.Errorf("grew to %d by 12 replies, want 16", w.size)
	}
	w.shrink(90, 100)
	if w.size != 8 {
		t.Errorf("halved to %d, want 8", w.size)
	}
	w.shrink(95, 104) // was under way when the window was halved
	if w.size != 8 {
		t.Errorf("halved twice for one congestion, to %d", w.size)
	}
	for range 8 {
		w.grow()
	}
	if w.size != 9 {
		t.Errorf("grew to %d by a window of replies, want 9", w.size)
	}
	for i := range 10 {
		w.shrink(200+i, 200+i)
	}
	if w.size != 1 {
		t.Errorf("shrank to %d, want 1", w.size)
	}
	for range 10000 {
		w.grow()
	}
	if w.size != 64 {
		t.Errorf("grew to %d, want 64", w.size)
	}
}

func TestRTT(t *testing.T) {
	var e rtt
	if e.patience() != minPatience {
		t.Errorf("patience %v before the first reply", e.patience())
	}
	for range 100 {
		e.add(100 * time.Millisecond)
	}
	if e.smoothed != 100*time.Millisecond || e.patience() < 400*time.Millisecond || e.patience() > 401*time.Millisecond {
		t.Errorf("steady: %+v, patience %v", e, e.patience())
	}
	e.add(300 * time.Millisecond)
	if e.patience() < 600*time.Millisecond {
		t.Errorf("after an outlier: patience %v", e.patience())
	}
}

// TestInFlight checks how many requests are in flight at most, counting those
// that the transport has taken and not answered.
func TestInFlight(t *testing.T) {
	for _, limit := range []int{1, 3, 16, 64} {
		f, c := newFake(0, ClientOptions{MaxWindow: limit})
		inFlight, most := 0, 0
		f.onSend = func(m *Message) {
			inFlight++
			most = max(most, inFlight)
			f.arrive(100*time.Microsecond, reply(m))
		}
		for range 1000 {
			c.Submit(&Request{Attr: mad.AttrPortInfo, Done: func(*Request, *Reply) { inFlight-- }})
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if most != limit || c.Stats().Window != limit {
			t.Errorf("%d in flight, stats say %d, want %d", most, c.Stats().Window, limit)
		}
	}
}

// TestWindowUnused checks that replies to requests sent one at a time, which
// tell nothing of how many the fabric takes, do not widen the window.
func TestWindowUnused(t *testing.T) {
	_, c := newFake(0, ClientOptions{})
	for range 100 {
		if _, err := c.Call(t.Context(), &Request{Attr: mad.AttrNodeInfo}); err != nil {
			t.Fatal(err)
		}
	}
	if c.window.size != firstWindow {
		t.Errorf("window is %d", c.window.size)
	}
}

// TestCongestionSignals checks that the window halves for requests that are
// dropped, and for those that are late before they time out.
func TestCongestionSignals(t *testing.T) {
	for name, report := range map[string]time.Duration{"dropped": time.Microsecond, "late": time.Second} {
		f, c := newFake(0, ClientOptions{})
		f.onSend = func(m *Message) { f.arrive(report, returned(m)) }
		var o [firstWindow + 1]outcome
		for i := range o {
			c.Submit(o[i].request(uint32(i)))
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c.window.size >= firstWindow {
			t.Errorf("%s: window is %d", name, c.window.size)
		}
	}
}

// TestOverload checks that the client finds its pace over a fabric that drops
// all but a few of the packets under way.
func TestOverload(t *testing.T) {
	const room, latency = 10, 100 * time.Microsecond
	f, c := newFake(0, ClientOptions{})
	inside := 0
	f.onSend = func(m *Message) {
		if inside >= room {
			return
		}
		inside++
		f.arrive(latency, reply(m))
	}
	f.onRecv = func() error {
		if len(f.arrivals) < inside {
			inside = len(f.arrivals)
		}
		return nil
	}
	ended := 0
	for range 5000 {
		c.Submit(&Request{Attr: mad.AttrPortInfo, Done: func(_ *Request, r *Reply) {
			if r.Err == nil {
				ended++
			}
		}})
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ended != 5000 {
		t.Errorf("%d of 5000 answered", ended)
	}
	if s := c.Stats(); s.Retries > 500 {
		t.Errorf("the window does not settle: %+v", s)
	}
}
