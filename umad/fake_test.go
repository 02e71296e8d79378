package umad

import (
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// fakeTransport is a Port with a clock of its own, which only Recv moves: to
// the next arrival, or to the deadline where none comes before.
type fakeTransport struct {
	attr PortAttr
	now  time.Time

	// onSend says what comes of a message. What it wants to arrive it adds by
	// arrive.
	onSend func(m *Message)
	// refuse, where set, is what Send returns instead of sending.
	refuse func() error
	// onRecv, where set, runs before each Recv, which returns its error.
	onRecv func() error

	sent        []Message
	arrivals    []arrival // by time
	interrupted atomic.Bool
}

type arrival struct {
	at time.Time
	m  Message
}

func (f *fakeTransport) Attr() PortAttr { return f.attr }
func (f *fakeTransport) Interrupt()     { f.interrupted.Store(true) }
func (f *fakeTransport) Close() error   { return nil }

func (f *fakeTransport) Send(m *Message) error {
	if f.refuse != nil {
		if err := f.refuse(); err != nil {
			return err
		}
	}
	f.sent = append(f.sent, *m)
	if f.onSend != nil {
		f.onSend(m)
	}
	return nil
}

func (f *fakeTransport) Recv(m *Message, deadline time.Time) error {
	if f.onRecv != nil {
		if err := f.onRecv(); err != nil {
			return err
		}
	}
	if f.interrupted.Swap(false) {
		return os.ErrDeadlineExceeded
	}
	if len(f.arrivals) == 0 || f.arrivals[0].at.After(deadline) {
		if deadline.After(f.now) {
			f.now = deadline
		}
		return os.ErrDeadlineExceeded
	}
	first := f.arrivals[0]
	f.arrivals = f.arrivals[1:]
	if first.at.After(f.now) {
		f.now = first.at
	}
	*m = first.m
	return nil
}

// arrive makes a message arrive in a while.
func (f *fakeTransport) arrive(in time.Duration, m Message) {
	at := f.now.Add(in)
	i := len(f.arrivals)
	for i > 0 && f.arrivals[i-1].at.After(at) {
		i--
	}
	f.arrivals = slices.Insert(f.arrivals, i, arrival{at, m})
}

// reply returns the good reply to m, with the upper half of the transaction ID
// as a kernel or ibsim leaves it.
func reply(m *Message) Message {
	r := *m
	r.MAD[3] |= 0x80
	r.MAD.SetTID(m.MAD.TID()&0xffffffff | 0xabcd<<48)
	return r
}

// returned returns m as a transport does that keeps time itself: unanswered,
// all but the header cut off.
func returned(m *Message) Message {
	r := *m
	r.Status = syscall.ETIMEDOUT
	clear(r.MAD[headerSize:])
	return r
}

// newFake returns a client over a transport that answers everything after a
// while.
func newFake(latency time.Duration, o ClientOptions) (*fakeTransport, *Client) {
	f := &fakeTransport{
		attr: PortAttr{LID: 7, SMLID: 3, SMSL: 2, PortGUID: 0x0102030405060708, GIDPrefix: 0xfec0 << 48},
		now:  time.Unix(1000, 0),
	}
	f.onSend = func(m *Message) { f.arrive(latency, reply(m)) }
	c := NewClient(f, o)
	c.now = func() time.Time { return f.now }
	c.epoch = f.now
	return f, c
}

// outcome counts how the requests of a test ended.
type outcome struct {
	calls int
	err   error
	reply Reply
}

func (o *outcome) request(modifier uint32) *Request {
	return &Request{Attr: mad.AttrPortInfo, Modifier: modifier, Done: func(_ *Request, r *Reply) {
		o.calls++
		o.err, o.reply = r.Err, *r
	}}
}

// checkIdle checks that nothing is left behind in the client's books.
func checkIdle(t *testing.T, c *Client) {
	t.Helper()
	if c.held != 0 || c.table.used != 0 || c.fresh != nil || c.queue.len+c.retries.len+c.flying.len != 0 {
		t.Errorf("client is not idle: held %d, table %d, fresh %v, lists %d %d %d",
			c.held, c.table.used, c.fresh, c.queue.len, c.retries.len, c.flying.len)
	}
	for i, r := range c.table.slots {
		if r != nil {
			t.Errorf("slot %d still holds a request", i)
		}
	}
}
