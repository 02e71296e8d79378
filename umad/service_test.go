package umad

import (
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// A request that is answered by a packet of its own, and by nothing else.
func TestAnswer(t *testing.T) {
	const answer mad.Method = 0x40
	for _, test := range []struct {
		name   string
		answer func(m *Message) Message
		good   bool
	}{
		{"the method asked for", func(m *Message) Message { return withMethod(m, answer) }, true},
		{"a response", func(m *Message) Message { return reply(m) }, false},
		{"another request", func(m *Message) Message { return withMethod(m, mad.MethodSend) }, false},
		{"the request, unanswered", func(m *Message) Message { return returned(m) }, false},
	} {
		port, c := newFake(0, ClientOptions{Attempts: 1})
		port.onSend = func(m *Message) {
			if m.Timeout != 0 {
				t.Errorf("%s: the transport is to keep time", test.name)
			}
			port.arrive(time.Millisecond, test.answer(m))
		}
		var o outcome
		r := o.request(0)
		r.To, r.Class, r.Method, r.Answer = Target{LID: 3}, 0x32, mad.MethodSend, answer
		c.Submit(r)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o.calls != 1 || (o.err == nil) != test.good {
			t.Errorf("%s: ended %d times: %v", test.name, o.calls, o.err)
		}
		checkIdle(t, c)
	}
}

// withMethod returns a packet of another method, as a kernel sends it.
func withMethod(m *Message, method mad.Method) Message {
	r := reply(m)
	r.MAD[3] = byte(method)
	return r
}
