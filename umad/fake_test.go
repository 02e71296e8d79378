package umad_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// localPort describes the tests' port.
var localPort = umad.PortAttr{LID: 7, SMLID: 3, SMSL: 2, PortGUID: 0x0102030405060708, GIDPrefix: 0xfec0 << 48}

// newPort returns a port on which every request is answered after a delay.
func newPort(delay time.Duration) *umadtest.Port {
	p := &umadtest.Port{Attributes: localPort}
	p.OnSend = answerAfter(delay)
	return p
}

func answerAfter(delay time.Duration) func(*umadtest.Port, umad.Message) error {
	return func(p *umadtest.Port, m umad.Message) error {
		p.Deliver(delay, umadtest.Reply(m))
		return nil
	}
}

// onSend returns a hook that refuses no message.
func onSend(f func(p *umadtest.Port, m umad.Message)) func(*umadtest.Port, umad.Message) error {
	return func(p *umadtest.Port, m umad.Message) error {
		f(p, m)
		return nil
	}
}

// inBubble runs a client test in a synctest bubble, in which timeouts take no time. At
// the end the client must track no request.
func inBubble(t *testing.T, o umad.ClientOptions, test func(t *testing.T, p *umadtest.Port, c *umad.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPort(0)
		c := umad.NewClient(p, o)
		test(t, p, c)
		checkIdle(t, c)
	})
}

// checkIdle checks that a client tracks no request.
func checkIdle(t *testing.T, c *umad.Client) {
	t.Helper()
	if err := c.CheckIdle(); err != nil {
		t.Error(err)
	}
}

// An outcome counts how often a request ended, and keeps how.
type outcome struct {
	calls int
	err   error
	reply umad.Reply
}

// request returns a request that records its end in o.
func (o *outcome) request(modifier uint32) *umad.Request {
	return &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrPortInfo, Modifier: modifier, Done: func(_ *umad.Request, r *umad.Reply) {
		o.calls++
		o.err, o.reply = r.Err, *r
	}}
}

// submit submits n requests and returns their outcomes.
func submit(c *umad.Client, n int) []outcome {
	o := make([]outcome, n)
	for i := range o {
		c.Submit(o[i].request(uint32(i)))
	}
	return o
}
