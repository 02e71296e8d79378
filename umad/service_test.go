package umad_test

import (
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// TestRequest_Answer checks that a request with an answer method is answered by a
// packet with that method, and by no other packet.
func TestRequest_Answer(t *testing.T) {
	const answer mad.Method = 0x40
	withMethod := func(m umad.Message, method mad.Method) umad.Message {
		r := umadtest.Reply(m)
		r.MAD.SetMethod(method)
		return r
	}
	tests := []struct {
		name   string
		answer func(m umad.Message) umad.Message
		good   bool
	}{
		{"answer method", func(m umad.Message) umad.Message { return withMethod(m, answer) }, true},
		{"response", umadtest.Reply, false},
		{"other request", func(m umad.Message) umad.Message { return withMethod(m, mad.MethodSend) }, false},
		{"returned request", umadtest.Returned, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, umad.ClientOptions{Attempts: 1}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
					if m.Timeout != 0 {
						t.Errorf("timeout of the message: got %v, want 0", m.Timeout)
					}
					p.Deliver(time.Millisecond, tt.answer(m))
				})
				var o outcome
				r := o.request(0)
				r.To, r.Class, r.Method, r.Answer = umad.Target{LID: 3}, 0x32, mad.MethodSend, answer
				c.Submit(r)
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if o.calls != 1 || (o.err == nil) != tt.good {
					t.Errorf("got %d ends, error %v, want one end, answered: %t", o.calls, o.err, tt.good)
				}
			})
		})
	}
}
