package umad_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// late is the time after which the client regards requests as late if replies take a
// millisecond at most.
const late = umad.MinLateAfter

// TestClient_Overdue sends requests that are not answered after others that were.
func TestClient_Overdue(t *testing.T) {
	const dead, marker = 10, 1 << 20
	whole := time.Second + umad.Slack
	for _, test := range []struct {
		name     string
		answered int
		o        umad.ClientOptions
		request  umad.Request
		took     time.Duration
	}{
		{"early after many replies", 100, umad.ClientOptions{}, umad.Request{To: umad.Target{Route: mad.Local}}, 4*late + 12*late + whole},
		{"counters", 100, umad.ClientOptions{}, umad.Request{To: umad.Target{LID: 7}, Class: mad.ClassPM}, 4*late + 12*late + whole},
		{"vendor", 100, umad.ClientOptions{}, umad.Request{To: umad.Target{LID: 7}, Class: mad.ClassMlnx}, 4*late + 12*late + whole},
		{"four attempts", 100, umad.ClientOptions{Attempts: 4}, umad.Request{To: umad.Target{Route: mad.Local}}, 4*late + 12*late + 36*late + whole},
		{"one attempt", 100, umad.ClientOptions{Attempts: 1}, umad.Request{To: umad.Target{Route: mad.Local}}, whole},
		{"short timeout", 100, umad.ClientOptions{Timeout: 20 * time.Millisecond}, umad.Request{To: umad.Target{Route: mad.Local}}, 4*late + 2*(20*time.Millisecond+umad.Slack)},
		{"few replies", 3, umad.ClientOptions{}, umad.Request{To: umad.Target{Route: mad.Local}}, 3*whole + 5*late},                                     // the window delays some
		{"vendor, few replies", 3, umad.ClientOptions{}, umad.Request{To: umad.Target{LID: 7}, Class: mad.ClassMlnx}, time.Second*3/8 + whole + 2*late}, // 3 windows of 4
		{"Set", 100, umad.ClientOptions{}, umad.Request{To: umad.Target{Route: mad.Local}, Method: mad.MethodSet, Expect: &umad.Identity{}}, 3 * whole},
		{"subnet administration", 100, umad.ClientOptions{}, umad.Request{To: umad.Target{LID: 7}, Class: mad.ClassSA}, 3 * whole},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, test.o, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
					if m.MAD.Modifier() != marker {
						p.Deliver(time.Millisecond, umadtest.Reply(m))
					}
				})
				submit(c, test.answered)
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				start, ended := time.Now(), 0
				for range dead {
					r := test.request
					r.Modifier = marker
					r.Done = func(_ *umad.Request, reply *umad.Reply) {
						if ended++; !errors.Is(reply.Err, umad.ErrTimeout) {
							t.Errorf("got error %v, want %v", reply.Err, umad.ErrTimeout)
						}
					}
					c.Submit(&r)
				}
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				attempts := max(test.o.Attempts, 1)
				if test.o.Attempts == 0 {
					attempts = 3
				}
				if s := c.Stats(); ended != dead || s.Timeouts != dead*attempts || s.Sent != test.answered+dead*attempts {
					t.Errorf("got %d ends, stats %+v, want %d with %d attempts", ended, s, dead, attempts)
				}
				if got := time.Since(start); got != test.took {
					t.Errorf("duration: got %v, want %v", got, test.took)
				}
			})
		})
	}
}

// A slow agent responds to an attempt that ended early.
func TestClient_OverdueReply(t *testing.T) {
	for _, delay := range []time.Duration{5 * late, 20 * late, 90 * late} {
		t.Run(delay.String(), func(t *testing.T) {
			inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				p.OnSend = answerAfter(time.Millisecond)
				submit(c, 100)
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				p.OnSend = answerAfter(delay)
				start := time.Now()
				if _, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrPortInfo}); err != nil {
					t.Error(err)
				}
				if got := time.Since(start); got != delay {
					t.Errorf("got the reply after %v, want %v", got, delay)
				}
			})
		})
	}
}

// No request is sent again because the process did not receive for a time.
func TestClient_OverdueStall(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = answerAfter(time.Millisecond)
		for i := range 300 {
			c.Submit(&umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrPortInfo, Done: func(*umad.Request, *umad.Reply) {
				if i%100 == 99 {
					time.Sleep(time.Second)
				}
			}})
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := c.Stats(); s.Retries > 0 || s.Received != 300 {
			t.Errorf("stats: got %+v, want 300 replies without retries", s)
		}
	})
}
