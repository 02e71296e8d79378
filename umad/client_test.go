package umad_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

func TestClient_Reply(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = answerAfter(3 * time.Microsecond)
		var o outcome
		c.Submit(o.request(5))
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o.calls != 1 || o.err != nil || o.reply.RTT != 3*time.Microsecond {
			t.Errorf("got %+v, want one reply after 3 µs", o)
		}
		if got, want := c.Stats(), (umad.Stats{Sent: 1, Received: 1, Window: 1}); got != want {
			t.Errorf("stats: got %+v, want %+v", got, want)
		}
		if got := p.Sent()[0].Timeout; got != time.Second {
			t.Errorf("timeout of the message: got %v, want 1s", got)
		}
	})
}

// TestClient_Loss checks when a request is given up, and how often it is sent.
func TestClient_Loss(t *testing.T) {
	tests := []struct {
		name     string
		lost     int // attempts that get no reply
		reports  time.Duration
		attempts int
		took     time.Duration
		err      error
	}{
		{name: "first attempt", lost: 1, attempts: 2, took: time.Second + umad.Slack + time.Millisecond},
		{name: "all", lost: 99, attempts: 3, took: 3 * (time.Second + umad.Slack), err: umad.ErrTimeout},
		{name: "all, kernel keeps time", lost: 99, reports: time.Second, attempts: 3, took: 3 * time.Second, err: umad.ErrTimeout},
		{name: "all, dropped at once", lost: 99, reports: time.Microsecond, attempts: 3, took: 3 * time.Microsecond, err: umad.ErrTimeout},
		{name: "two, dropped at once", lost: 2, reports: time.Microsecond, attempts: 3, took: 2*time.Microsecond + time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
					switch {
					case len(p.Sent()) >= tt.lost:
						p.Deliver(time.Millisecond, umadtest.Reply(m))
					case tt.reports > 0:
						p.Deliver(tt.reports, umadtest.Returned(m))
					}
				})
				start := time.Now()
				_, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo})
				if !errors.Is(err, tt.err) {
					t.Errorf("got error %v, want %v", err, tt.err)
				}
				if got := time.Since(start); got != tt.took {
					t.Errorf("duration: got %v, want %v", got, tt.took)
				}
				if n := len(p.Sent()); n != tt.attempts {
					t.Errorf("attempts: got %d, want %d", n, tt.attempts)
				}
				if s := c.Stats(); s.Retries != tt.attempts-1 || s.Timeouts != min(tt.lost, tt.attempts) {
					t.Errorf("stats: got %+v, want %d retries and %d timeouts", s, tt.attempts-1, min(tt.lost, tt.attempts))
				}
				var e *umad.Error
				if tt.err != nil && (!errors.As(err, &e) || e.Attempts != tt.attempts) {
					t.Errorf("got %#v, want an error after %d attempts", err, tt.attempts)
				}
			})
		})
	}
}

// TestClient_Stray checks that a packet which matches no request is counted and
// has no other effect.
func TestClient_Stray(t *testing.T) {
	tests := []struct {
		name  string
		stray func(reply, request umad.Message) umad.Message
	}{
		{"later transaction", func(m, _ umad.Message) umad.Message { m.MAD.SetTID(m.MAD.TID() + 1); return m }},
		{"earlier transaction", func(m, _ umad.Message) umad.Message { m.MAD.SetTID(m.MAD.TID() - 1); return m }},
		{"other attribute", func(m, _ umad.Message) umad.Message { m.MAD[17]++; return m }},
		{"other modifier", func(m, _ umad.Message) umad.Message { m.MAD[23]++; return m }},
		{"other class", func(m, _ umad.Message) umad.Message { m.MAD[1] = byte(mad.ClassPM); return m }},
		{"a request", func(_, m umad.Message) umad.Message { return m }},
		{"response with transport error", func(m, _ umad.Message) umad.Message { m.Status = 110; return m }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
					p.Deliver(time.Microsecond, tt.stray(umadtest.Reply(m), m))
					p.Deliver(time.Millisecond, umadtest.Reply(m))
				})
				r, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo})
				if err != nil || r.RTT != time.Millisecond {
					t.Errorf("got round trip %v, error %v, want 1ms", r.RTT, err)
				}
				if got, want := c.Stats(), (umad.Stats{Sent: 1, Received: 1, Stray: 1, Window: 1}); got != want {
					t.Errorf("stats: got %+v, want %+v", got, want)
				}
			})
		})
	}
}

func TestClient_Duplicate(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			p.Deliver(time.Microsecond, umadtest.Reply(m))
			p.Deliver(time.Microsecond, umadtest.Reply(m))
		})
		o := submit(c, 5)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		// The run ends before the last reply's duplicate is received.
		if s := c.Stats(); s.Received != 5 || s.Duplicate != 4 || s.Stray != 0 {
			t.Errorf("stats: got %+v, want 5 received and 4 duplicates", s)
		}
		for i := range o {
			if o[i].calls != 1 {
				t.Errorf("request %d: got %d ends, want 1", i, o[i].calls)
			}
		}
	})
}

// A reply to an earlier attempt ends the request. The reply to the later attempt
// is then a duplicate, and the round-trip time is unknown.
func TestClient_ReplyToEarlierAttempt(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			switch len(p.Sent()) {
			case 0:
				p.Deliver(1500*time.Millisecond, umadtest.Reply(m))
				// The transport reports the first attempt's timeout late.
				p.Deliver(1400*time.Millisecond, umadtest.Returned(m))
			case 1:
				p.Deliver(600*time.Millisecond, umadtest.Reply(m))
			default:
				p.Deliver(time.Second, umadtest.Reply(m))
			}
		})
		r, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo, Modifier: 1})
		if err != nil || r.RTT != 0 {
			t.Errorf("got round trip %v, error %v, want an unknown one", r.RTT, err)
		}
		if r, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo, Modifier: 2}); err != nil || r.RTT != time.Second {
			t.Errorf("next request: got round trip %v, error %v, want 1s", r.RTT, err)
		}
		if s := c.Stats(); s.Duplicate != 1 || s.Stray != 0 || s.Late != 0 || s.Sent != 3 {
			t.Errorf("stats: got %+v, want 3 sent and 1 duplicate", s)
		}
	})
}

// A reply to an earlier attempt also ends a request that waits to be sent again.
func TestClient_ReplyBeforeRetry(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = func(p *umadtest.Port, m umad.Message) error {
			if len(p.Sent()) > 0 {
				return umad.ErrWouldBlock
			}
			p.Deliver(time.Millisecond, umadtest.Returned(m))
			p.Deliver(3*time.Millisecond, umadtest.Reply(m))
			return nil
		}
		if r, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo}); err != nil || r.MAD == nil {
			t.Errorf("got %+v, error %v, want the reply to the first attempt", r, err)
		}
	})
}

// TestClient_Late checks the replies to requests that have ended.
func TestClient_Late(t *testing.T) {
	var kinds []umad.EventKind
	o := umad.ClientOptions{Attempts: 1, Trace: func(e umad.Event) {
		if e.Kind == umad.EventLate || e.Kind == umad.EventDuplicate {
			kinds = append(kinds, e.Kind)
			if e.To.LID != 9 || e.Attempt != 1 || e.Method != mad.MethodGetResp {
				t.Errorf("got event %+v, want the response of LID 9 to attempt 1", e)
			}
		}
	}}
	inBubble(t, o, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			if m.Addr.LID == 9 {
				p.Deliver(1500*time.Millisecond, umadtest.Reply(m))
				p.Deliver(1600*time.Millisecond, umadtest.Reply(m))
			} else {
				p.Deliver(800*time.Millisecond, umadtest.Reply(m))
			}
		})
		r := &umad.Request{To: umad.Target{LID: 9}, Attr: mad.AttrNodeInfo}
		if _, err := c.Call(t.Context(), r); !errors.Is(err, umad.ErrTimeout) {
			t.Fatalf("got error %v, want %v", err, umad.ErrTimeout)
		}
		// The request is reused, and must not be ended by the late reply.
		r.To.LID = 5
		if reply, err := c.Call(t.Context(), r); err != nil || reply.RTT != 800*time.Millisecond {
			t.Errorf("got round trip %v, error %v, want 800ms", reply.RTT, err)
		}
		if s := c.Stats(); s.Late != 1 || s.Duplicate != 1 || s.Stray != 0 || s.Received != 1 {
			t.Errorf("stats: got %+v, want 1 late reply and 1 duplicate", s)
		}
	})
	if len(kinds) != 2 || kinds[0] != umad.EventLate || kinds[1] != umad.EventDuplicate {
		t.Errorf("got events %v, want a late reply and a duplicate", kinds)
	}
}

func TestClient_StatusError(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			r := umadtest.Reply(m)
			r.MAD.SetStatus(mad.StatusBadMethodAttr)
			p.Deliver(0, r)
		})
		r, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrSwitchInfo})
		var status mad.StatusError
		if !errors.As(err, &status) || mad.Status(status) != mad.StatusBadMethodAttr || r.MAD == nil {
			t.Errorf("got %v, error %v, want the packet and its status", r, err)
		}
		if n := len(p.Sent()); n != 1 {
			t.Errorf("attempts: got %d, want 1", n)
		}
	})
}

// Requests to dead targets wait at the same time, and do not delay the others.
func TestClient_DeadTargets(t *testing.T) {
	const latency = 20 * time.Microsecond
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			if m.MAD.Modifier()%20 != 0 {
				p.Deliver(latency, umadtest.Reply(m))
			}
		})
		start := time.Now()
		var alive, dead int
		var lastAlive time.Time
		for i := range uint32(1000) {
			c.Submit(&umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrPortInfo, Modifier: i, Done: func(_ *umad.Request, r *umad.Reply) {
				if errors.Is(r.Err, umad.ErrTimeout) {
					dead++
					return
				}
				alive++
				lastAlive = time.Now()
			}})
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if alive != 950 || dead != 50 {
			t.Errorf("got %d alive and %d dead, want 950 and 50", alive, dead)
		}
		// A dead target occupies the window until its request counts as late,
		// and not until its timeout.
		if got, most := lastAlive.Sub(start), 50*umad.MinLateAfter; got > most {
			t.Errorf("last good reply: got %v after the start, want at most %v", got, most)
		}
		if got, most := time.Since(start), 3*(time.Second+umad.Slack)+50*umad.MinLateAfter; got > most {
			t.Errorf("duration: got %v, want at most %v", got, most)
		}
	})
}

func TestClient_Cancel(t *testing.T) {
	inBubble(t, umad.ClientOptions{MaxWindow: 4}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		p.OnSend = nil
		recvs := 0
		p.OnRecv = func(*umadtest.Port) error {
			if recvs++; recvs == 3 {
				cancel()
			}
			return nil
		}
		o := submit(c, 50)
		if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Run: got error %v, want %v", err, context.Canceled)
		}
		for i := range o {
			if o[i].calls != 1 || !errors.Is(o[i].err, context.Canceled) {
				t.Errorf("request %d: got %d ends, error %v, want one with %v", i, o[i].calls, o[i].err, context.Canceled)
			}
		}
		checkIdle(t, c)

		p.OnRecv, p.OnSend = nil, answerAfter(0)
		if _, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo}); err != nil {
			t.Errorf("next call: got error %v", err)
		}
	})
}

// Cancellation also ends requests that wait to be sent again.
func TestClient_CancelRetries(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		p.OnSend = func(p *umadtest.Port, m umad.Message) error {
			if len(p.Sent()) >= 3 {
				return umad.ErrWouldBlock
			}
			p.Deliver(0, umadtest.Returned(m))
			return nil
		}
		p.OnRecv = func(*umadtest.Port) error {
			if c.Retries() == 3 {
				cancel()
			}
			return nil
		}
		o := submit(c, 3)
		if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Run: got error %v, want %v", err, context.Canceled)
		}
		for i := range o {
			if o[i].calls != 1 || !errors.Is(o[i].err, context.Canceled) {
				t.Errorf("request %d: got %d ends, error %v, want one with %v", i, o[i].calls, o[i].err, context.Canceled)
			}
		}
	})
}

// A Done function that submits its request again at once does not prolong a run
// that was cancelled.
func TestClient_CancelSubmits(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, _ *umadtest.Port, c *umad.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		calls := 0
		c.Submit(&umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo, Done: func(r *umad.Request, p *umad.Reply) {
			if calls++; p.Err != nil {
				c.Submit(r)
			}
		}})
		if err := c.Run(ctx); !errors.Is(err, context.Canceled) || calls != 1 {
			t.Errorf("Run: got error %v after %d calls, want %v after 1", err, calls, context.Canceled)
		}
		if err := c.Run(t.Context()); err != nil || calls != 2 {
			t.Errorf("next Run: got error %v after %d calls, want none after 2", err, calls)
		}
	})
}

func TestClient_DeviceRemoved(t *testing.T) {
	removed := fmt.Errorf("device was unplugged: %w", umad.ErrDeviceRemoved)
	for _, during := range []string{"send", "receive"} {
		t.Run(during, func(t *testing.T) {
			inBubble(t, umad.ClientOptions{MaxWindow: 8}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				count := 0
				breaks := func() error {
					if count++; count > 10 {
						return removed
					}
					return nil
				}
				p.OnSend = answerAfter(time.Microsecond)
				if during == "send" {
					p.OnSend = func(p *umadtest.Port, m umad.Message) error {
						if err := breaks(); err != nil {
							return err
						}
						p.Deliver(time.Microsecond, umadtest.Reply(m))
						return nil
					}
				} else {
					p.OnRecv = func(*umadtest.Port) error { return breaks() }
				}
				o := submit(c, 40)
				if err := c.Run(t.Context()); !errors.Is(err, umad.ErrDeviceRemoved) {
					t.Errorf("Run: got error %v, want %v", err, umad.ErrDeviceRemoved)
				}
				failed := 0
				for i := range o {
					if o[i].calls != 1 {
						t.Errorf("request %d: got %d ends, want 1", i, o[i].calls)
					}
					if errors.Is(o[i].err, umad.ErrDeviceRemoved) {
						failed++
					}
				}
				if failed+c.Stats().Received != len(o) || failed < len(o)-10 {
					t.Errorf("got %d failed, stats %+v, want all but 10 to fail", failed, c.Stats())
				}
			})
		})
	}
}

// A message that the port cannot send ends its own request only.
func TestClient_SendError(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		refused := errors.New("no such agent")
		count := 0
		p.OnSend = func(p *umadtest.Port, m umad.Message) error {
			if count++; count == 2 {
				return refused
			}
			p.Deliver(0, umadtest.Reply(m))
			return nil
		}
		o := submit(c, 3)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o[0].err != nil || !errors.Is(o[1].err, refused) || o[2].err != nil {
			t.Errorf("got errors %v, %v, %v, want the second one to be %v", o[0].err, o[1].err, o[2].err, refused)
		}
	})
}

func TestClient_SubmitFromDone(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, _ *umadtest.Port, c *umad.Client) {
		left := 1000
		r := &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrPortInfo}
		r.Done = func(r *umad.Request, p *umad.Reply) {
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
			t.Errorf("got %d requests left, error %v, want none left", left, err)
		}
	})
}

func TestClient_Nested(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, _ *umadtest.Port, c *umad.Client) {
		var run, call error
		c.Submit(&umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo, Done: func(*umad.Request, *umad.Reply) {
			run = c.Run(context.Background())
			_, call = c.Call(context.Background(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo})
		}})
		if err := c.Run(t.Context()); err != nil || run == nil || call == nil {
			t.Errorf("got errors %v of Run, %v of the nested Run, %v of the nested Call, want the latter two", err, run, call)
		}
	})
}

func TestClient_SubmittedTwice(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		answering(p, func(*umad.Message) {})
		var ended []error
		r := &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo}
		r.Done = func(_ *umad.Request, reply *umad.Reply) { ended = append(ended, reply.Err) }
		c.Submit(r)
		c.Submit(r)
		if err := c.Run(t.Context()); err == nil || len(ended) != 1 || !errors.Is(ended[0], err) {
			t.Errorf("got %v from Run and %v, want one error", err, ended)
		}
		c.Submit(r)
		if err := c.Run(t.Context()); err != nil || len(ended) != 2 || ended[1] != nil {
			t.Errorf("got %v from Run and %v, want success", err, ended)
		}
	})
}

// A request need not have a Done function.
func TestClient_NoDone(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		answering(p, func(*umad.Message) {})
		c.Submit(&umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo})
		if err := c.Run(t.Context()); err != nil || c.Stats().Received != 1 {
			t.Errorf("got %v, %+v", err, c.Stats())
		}
	})
}

// A client on a port without room tries again after a pause or the next reply, and not
// all the time.
func TestClient_WouldBlock(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		refusals, calls := 0, 0
		start := time.Now()
		p.OnSend = func(p *umadtest.Port, m umad.Message) error {
			if calls++; calls%100 != 0 && time.Since(start) < time.Second {
				refusals++
				return umad.ErrWouldBlock
			}
			p.Deliver(50*time.Microsecond, umadtest.Reply(m))
			return nil
		}
		o := submit(c, 100)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range o {
			if o[i].calls != 1 || o[i].err != nil {
				t.Errorf("request %d: got %d ends, error %v, want one reply", i, o[i].calls, o[i].err)
			}
		}
		if most := int(time.Second/umad.SendPause) + len(o) + 1; refusals > most {
			t.Errorf("got %d refusals, want at most %d", refusals, most)
		}
	})
}

// A client on a port without room tries again soon even if no reply is awaited that
// would wake it.
func TestClient_WouldBlockWithoutReplies(t *testing.T) {
	inBubble(t, umad.ClientOptions{Timeout: time.Minute}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		refusals := 3
		p.OnSend = func(p *umadtest.Port, m umad.Message) error {
			if refusals--; refusals >= 0 {
				return umad.ErrWouldBlock
			}
			p.Deliver(0, umadtest.Reply(m))
			return nil
		}
		start := time.Now()
		if _, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo}); err != nil {
			t.Fatal(err)
		}
		if got, want := time.Since(start), 3*umad.SendPause; got != want {
			t.Errorf("duration: got %v, want %v", got, want)
		}
	})
}

// The count of late requests, which are not in the window, is bounded.
func TestClient_MaxOutstanding(t *testing.T) {
	inBubble(t, umad.ClientOptions{Timeout: time.Hour, Attempts: 1}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = nil
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p.OnRecv = func(*umadtest.Port) error {
			if c.Stats().Timeouts > 0 {
				cancel()
			}
			return nil
		}
		requests := make([]umad.Request, umad.MaxOutstanding+100)
		for i := range requests {
			requests[i] = umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo, Done: func(*umad.Request, *umad.Reply) {}}
			c.Submit(&requests[i])
		}
		if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("Run: got error %v, want %v", err, context.Canceled)
		}
		if got := c.Stats().Window; got != umad.MaxOutstanding {
			t.Errorf("outstanding requests: got %d, want %d", got, umad.MaxOutstanding)
		}
	})
}

// TestClient_Random lets all failure kinds happen at the same time. Each request must end
// once, with its own reply.
func TestClient_Random(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			window, attempts := 1+random.IntN(80), 1+random.IntN(4)
			inBubble(t, umad.ClientOptions{MaxWindow: window, Attempts: attempts, Timeout: 100 * time.Millisecond}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				p.OnSend = func(p *umadtest.Port, m umad.Message) error {
					if random.IntN(10) == 0 {
						return umad.ErrWouldBlock
					}
					deliverRandomly(random, p, m)
					return nil
				}
				ended := make([]int, 300)
				for i := range ended {
					c.Submit(&umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrPortInfo, Modifier: uint32(i), Done: func(r *umad.Request, p *umad.Reply) {
						ended[i]++
						switch {
						case p.Err == nil && p.MAD.Modifier() != uint32(i):
							t.Errorf("request %d: got the reply to %d", i, p.MAD.Modifier())
						case p.Err != nil && !errors.Is(p.Err, umad.ErrTimeout):
							t.Errorf("request %d: got error %v, want %v or none", i, p.Err, umad.ErrTimeout)
						}
					}})
				}
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				for i, n := range ended {
					if n != 1 {
						t.Errorf("request %d: got %d ends, want 1", i, n)
					}
				}
			})
		})
	}
}

// deliverRandomly delivers a reply to m, several, or anything else.
func deliverRandomly(random *rand.Rand, p *umadtest.Port, m umad.Message) {
	delay := time.Duration(random.ExpFloat64() * float64(20*time.Millisecond))
	switch random.IntN(8) {
	case 0: // lost
	case 1:
		p.Deliver(delay, umadtest.Returned(m))
	case 2:
		p.Deliver(delay, umadtest.Reply(m))
		p.Deliver(2*delay, umadtest.Reply(m))
	case 3:
		p.Deliver(300*time.Millisecond, umadtest.Reply(m))
	case 4:
		foreign := umadtest.Reply(m)
		foreign.MAD.SetTID(random.Uint64())
		p.Deliver(delay, foreign)
	default:
		p.Deliver(delay, umadtest.Reply(m))
	}
}

// A run that waits ends with its context, and leaves no goroutine behind: the
// bubble would not end.
func TestClient_CancelWhileWaiting(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = nil
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := c.Call(ctx, &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo})
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 500*time.Millisecond {
			t.Errorf("got error %v after %v, want %v after 500ms", err, took, context.DeadlineExceeded)
		}
		synctest.Wait()
	})
}

func TestClient_NoAllocation(t *testing.T) {
	c := umad.NewClient(&loopback{}, umad.ClientOptions{})
	requests := make([]umad.Request, 1000)
	for i := range requests {
		requests[i] = umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrPortInfo, Modifier: uint32(i), Done: func(*umad.Request, *umad.Reply) {}}
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
	run(1000)() // grow the buffers
	if one, many := testing.AllocsPerRun(20, run(1)), testing.AllocsPerRun(20, run(1000)); many > one {
		t.Errorf("got %v allocations for one request and %v for 1000, want no more", one, many)
	}
}

// loopback answers each request at once, in order, without allocations.
type loopback struct {
	umadtest.Port
	ring       [128]umad.Message
	head, tail int
}

func (p *loopback) Send(m *umad.Message) error {
	p.ring[p.tail%len(p.ring)] = *m
	p.tail++
	return nil
}

func (p *loopback) Recv(m *umad.Message, _ time.Time) error {
	*m = p.ring[p.head%len(p.ring)]
	m.MAD[umad.OffMethod] |= umad.ResponseBit
	p.head++
	return nil
}

func BenchmarkClient(b *testing.B) {
	c := umad.NewClient(&loopback{}, umad.ClientOptions{})
	left := b.N
	requests := make([]umad.Request, 256)
	done := func(r *umad.Request, _ *umad.Reply) {
		if left--; left > 0 {
			c.Submit(r)
		}
	}
	b.ReportAllocs()
	for i := range requests {
		requests[i] = umad.Request{To: umad.Target{Route: mad.RouteOf(1, 2, 3)}, Attr: mad.AttrPortInfo, Done: done}
		c.Submit(&requests[i])
	}
	if err := c.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
}
