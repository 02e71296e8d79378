package umad_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// TestClient_MaxWindow checks how many requests are in flight at most, counted at
// the transport.
func TestClient_MaxWindow(t *testing.T) {
	for _, limit := range []int{1, 3, 16, 64} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			inBubble(t, umad.ClientOptions{MaxWindow: limit}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				inFlight, most := 0, 0
				p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
					inFlight++
					most = max(most, inFlight)
					p.Deliver(100*time.Microsecond, umadtest.Reply(m))
				})
				for range 1000 {
					c.Submit(&umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrPortInfo, Done: func(*umad.Request, *umad.Reply) { inFlight-- }})
				}
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if most != limit || c.Stats().Window != limit {
					t.Errorf("in flight: got %d, stats %d, want %d", most, c.Stats().Window, limit)
				}
			})
		})
	}
}

// Replies to requests that are sent singly, which show nothing about the fabric's
// capacity, do not widen the window.
func TestClient_WindowUnused(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, _ *umadtest.Port, c *umad.Client) {
		for range 100 {
			if _, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo}); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.WindowSize(); got != umad.FirstWindow {
			t.Errorf("window: got %d, want %d", got, umad.FirstWindow)
		}
	})
}

// The window halves for requests that are dropped, and for requests that are late before
// they time out.
func TestClient_Congestion(t *testing.T) {
	tests := []struct {
		name   string
		report time.Duration
	}{
		{"dropped", time.Microsecond},
		{"late", time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) { p.Deliver(tt.report, umadtest.Returned(m)) })
				submit(c, umad.FirstWindow+1)
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := c.WindowSize(); got >= umad.FirstWindow {
					t.Errorf("window: got %d, want less than %d", got, umad.FirstWindow)
				}
			})
		})
	}
}

// The client adapts to a fabric that drops all but a few packets in flight.
func TestClient_Overload(t *testing.T) {
	const room, latency = 10, 100 * time.Microsecond
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			if p.Pending() < room {
				p.Deliver(latency, umadtest.Reply(m))
			}
		})
		answered := 0
		for range 5000 {
			c.Submit(&umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrPortInfo, Done: func(_ *umad.Request, r *umad.Reply) {
				if r.Err == nil {
					answered++
				}
			}})
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if answered != 5000 {
			t.Errorf("replies: got %d, want 5000", answered)
		}
		if s := c.Stats(); s.Retries > 500 {
			t.Errorf("stats: got %+v, want at most 500 retries", s)
		}
	})
}

// Nodes without an agent in NVIDIA's class are not congestion: the window stays, and many of
// them cost little more than the timeouts of a node. A node that replied before is congested.
func TestClient_AbsentAgents(t *testing.T) {
	const nodes = 2000
	ask := func(t *testing.T, c *umad.Client, first int) {
		t.Helper()
		for i := range nodes {
			c.Submit(&umad.Request{To: umad.Target{LID: ib.LID(first + i)}, Class: mad.ClassMlnx, Attr: mad.AttrMlnxGeneralInfo})
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		silent := false
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			if !silent {
				p.Deliver(100*time.Microsecond, umadtest.Reply(m))
			}
		})
		ask(t, c, 1)
		silent = true
		before, start := c.WindowSize(), time.Now()
		ask(t, c, 1+nodes)
		if got := c.WindowSize(); got != before {
			t.Errorf("window after absent agents: got %d, want %d", got, before)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("got %v for %d nodes, want at most 2 s", took, nodes)
		}
		ask(t, c, 1)
		if got := c.WindowSize(); got >= before {
			t.Errorf("window after lost replies: got %d, want less than %d", got, before)
		}
	})
}
