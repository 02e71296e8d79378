package umad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// ClientOptions steer a [Client]. The zero value has the defaults of
// infiniband-diags, but for the window.
type ClientOptions struct {
	MKey      uint64        // management key that subnet management packets carry
	Timeout   time.Duration // how long one attempt waits for a reply; 0: 1 s
	Attempts  int           // attempts in total; 0: 3
	MaxWindow int           // most requests in flight at once; 0: 64

	// Trace, where set, is called with each attempt that ended.
	Trace func(Event)
}

// An Event is the end of one attempt.
type Event struct {
	To       Target
	Attr     mad.AttrID
	Modifier uint32
	Attempt  int           // counted from 1
	RTT      time.Duration // how long it took
	Err      error         // nil: a reply came
}

// String tells the event in one line.
func (e Event) String() string {
	s := fmt.Sprintf("%s %s:%d attempt %d: %v", e.To, e.Attr, e.Modifier, e.Attempt, e.RTT.Round(time.Microsecond))
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// A Request asks for one attribute. It belongs to the client from Submit until
// Done is called; Done may submit it again.
type Request struct {
	To       Target
	Class    mad.Class  // 0: subnet management, by LID or directed route as To says
	Method   mad.Method // 0: Get
	Attr     mad.AttrID
	Modifier uint32

	// Payload is what goes with a Set, or a Get of other classes: of subnet
	// management packets the 64 data bytes, of others all that follows the
	// 24-byte common header. nil: zeros.
	Payload []byte

	// Done is called with the reply, or with why there is none, once.
	Done func(*Request, *Reply)

	next, prev *Request // in the queue, or among those in flight
	slot       uint16
	attempts   int
	sent       time.Time
	late       bool
}

// A Reply is the end of a request.
type Reply struct {
	Err error         // nil or an *Error
	MAD *mad.Packet   // the reply; valid until Done returns; nil where there is none
	RTT time.Duration // from the last attempt to the reply
}

// ClientStats count what a client did.
type ClientStats struct {
	Sent     int // attempts
	Received int // replies that belong to a request
	Retries  int // attempts beyond the first
	Timeouts int // attempts without a reply
	Stray    int // received, but no reply to anything in flight
	Window   int // most requests in flight at once
}

// A Client sends requests over a Port, many at a time, and matches the replies
// to them. It belongs to one goroutine and starts none: all Done functions are
// called from Run. It allocates nothing per request.
type Client struct {
	port   Port
	opts   ClientOptions
	window window
	stats  ClientStats

	queue  list // not sent yet
	flight list // sent, the oldest attempt first
	onTime *Request
	inTime int // how many in flight hold a place in the window

	slots []slot
	free  []uint16

	in, out Message
	now     func() time.Time
}

// slot is a place in the table of those in flight. A transaction ID holds the
// slot's number and generation, so that a late reply to a request that gave up
// cannot be taken for one to the next request in the same slot.
type slot struct {
	request    *Request
	generation uint16
}

const (
	defaultTimeout  = time.Second
	defaultAttempts = 3
	defaultWindow   = 64
	maxSlots        = 1 << 15

	// retrySend is when a full send queue is tried again if nothing arrives.
	retrySend = time.Millisecond
)

// NewClient returns a client that sends over p.
func NewClient(p Port, o ClientOptions) *Client {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.Attempts = cmp.Or(o.Attempts, defaultAttempts)
	o.MaxWindow = min(cmp.Or(o.MaxWindow, defaultWindow), maxSlots)
	return &Client{port: p, opts: o, window: newWindow(o.MaxWindow), now: time.Now}
}

// Stats returns what the client did so far.
func (c *Client) Stats() ClientStats { return c.stats }

// Submit queues a request, which is sent by Run. It never blocks.
func (c *Client) Submit(r *Request) {
	r.attempts = 0
	c.queue.pushBack(r)
}

// Run sends what is queued and receives replies until nothing is left of
// either. Where ctx ends or the port breaks, every request that is left is done
// with that error, which Run returns.
func (c *Client) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, c.port.Interrupt)
	defer stop()
	for {
		if err := ctx.Err(); err != nil {
			return c.abort(context.Cause(ctx))
		}
		blocked, err := c.send()
		if err != nil {
			return c.abort(err)
		}
		if c.flight.front == nil && c.queue.front == nil {
			return nil
		}
		deadline := c.deadline(blocked)
		switch err := c.port.Recv(&c.in, deadline); {
		case err == nil:
			now := c.now()
			c.receive(now)
			if now.After(deadline) && !deadline.IsZero() {
				c.expire(now)
			}
		case errors.Is(err, os.ErrDeadlineExceeded):
			c.expire(c.now())
		default:
			return c.abort(err)
		}
	}
}

// send sends from the queue while the window is open. blocked says that the way
// out is full.
func (c *Client) send() (blocked bool, err error) {
	for c.queue.front != nil && c.window.open(c.inTime) {
		r := c.queue.front
		if r.attempts == 0 && !c.takeSlot(r) {
			return false, nil
		}
		r.attempts++
		c.build(r)
		if err := c.port.Send(&c.out); err != nil {
			r.attempts--
			if r.attempts == 0 {
				c.leaveSlot(r)
			}
			if errors.Is(err, ErrWouldBlock) {
				return true, nil
			}
			return false, err
		}
		c.queue.remove(r)
		r.sent, r.late = c.now(), false
		c.flight.pushBack(r)
		if c.onTime == nil {
			c.onTime = r
		}
		c.inTime++
		c.stats.Sent++
		if r.attempts > 1 {
			c.stats.Retries++
		}
		c.stats.Window = max(c.stats.Window, c.inTime)
	}
	return false, nil
}

// takeSlot gives a request a place in the table, if there is one.
func (c *Client) takeSlot(r *Request) bool {
	switch last := len(c.free) - 1; {
	case last >= 0:
		r.slot, c.free = c.free[last], c.free[:last]
	case len(c.slots) < maxSlots:
		r.slot = uint16(len(c.slots))
		c.slots = append(c.slots, slot{})
	default:
		return false
	}
	s := &c.slots[r.slot]
	s.request = r
	s.generation++
	return true
}

func (c *Client) leaveSlot(r *Request) {
	c.slots[r.slot].request = nil
	c.free = append(c.free, r.slot)
}

// tid returns the part of the transaction ID that is ours: the kernel overwrites
// the upper half with the agent's number, ibsim the top 16 bits with the
// client's (linux/drivers/infiniband/core/user_mad.c; ibsim/sim_net.c).
func (c *Client) tid(r *Request) uint32 {
	return uint32(c.slots[r.slot].generation)<<16 | uint32(r.slot)
}

// build fills c.out with a request.
func (c *Client) build(r *Request) {
	m := &c.out
	m.Addr = Addr{LID: r.To.LID}
	m.Timeout = c.opts.Timeout
	method := cmp.Or(r.Method, mad.MethodGet)
	if r.Class != 0 {
		m.Addr.QPN, m.Addr.QKey = 1, QP1QKey
		m.MAD.PutGMP(mad.Header{
			BaseVersion:  1,
			Class:        r.Class,
			ClassVersion: classVersion(r.Class),
			Method:       method,
			TID:          uint64(c.tid(r)),
			Attr:         r.Attr,
			Modifier:     r.Modifier,
		})
		copy(m.MAD[headerSize:], r.Payload)
		return
	}
	smp := mad.SMPRequest{
		TID:      uint64(c.tid(r)),
		Method:   method,
		Attr:     r.Attr,
		Modifier: r.Modifier,
		MKey:     c.opts.MKey,
		Directed: r.To.LID == 0 || r.To.Route != "",
		Route:    r.To.Route,
		DrSLID:   PermissiveLID,
		DrDLID:   PermissiveLID,
	}
	switch {
	case r.To.LID == 0:
		m.Addr.LID = PermissiveLID
	case r.To.Route != "":
		// The reply comes back by LID from where the route began.
		smp.DrSLID = c.port.Attr().LID
	}
	m.MAD.PutSMP(smp)
	copy(m.MAD.Data(), r.Payload)
}

const headerSize = 24

// classVersion returns the version of a class that is in use: 2 for subnet
// administration (InfiniBand Architecture, Volume 1, 15.2.1.1).
func classVersion(class mad.Class) uint8 {
	if class == mad.ClassSA {
		return 2
	}
	return 1
}

// receive takes in c.in.
func (c *Client) receive(now time.Time) {
	p := &c.in.MAD
	r := c.match(uint32(p.TID()))
	unanswered := c.in.Status != 0
	if r == nil || p.Attr() != r.Attr || p.Modifier() != r.Modifier || !unanswered && !p.Method().IsResponse() {
		c.stats.Stray++
		return
	}
	if unanswered {
		c.unanswered(r, now, c.in.Status)
		return
	}
	c.land(r)
	c.leaveSlot(r)
	c.stats.Received++
	rtt := now.Sub(r.sent)
	c.window.reply(rtt)
	reply := Reply{MAD: p, RTT: rtt}
	if err := p.Status().Err(); err != nil {
		reply = Reply{Err: c.failure(r, err), RTT: rtt}
	}
	c.trace(r, rtt, reply.Err)
	r.Done(r, &reply)
}

// match returns the request in flight that a transaction ID belongs to.
func (c *Client) match(tid uint32) *Request {
	number, generation := uint16(tid), uint16(tid>>16)
	if int(number) >= len(c.slots) || c.slots[number].generation != generation {
		return nil
	}
	r := c.slots[number].request
	if r == nil || r.attempts == 0 || r.sent.IsZero() {
		return nil
	}
	return r
}

// unanswered ends an attempt without a reply, and with the last attempt the
// request. status is what the transport says, 0 where time ran out here.
func (c *Client) unanswered(r *Request, now time.Time, status syscall.Errno) {
	c.window.lost(r.sent, now)
	c.stats.Timeouts++
	c.land(r)
	err := ErrTimeout
	if status != 0 && status != syscall.ETIMEDOUT {
		err = status
	}
	c.trace(r, now.Sub(r.sent), err)
	if r.attempts < c.opts.Attempts {
		c.slots[r.slot].generation++
		r.sent = time.Time{}
		c.queue.pushFront(r)
		return
	}
	c.leaveSlot(r)
	r.Done(r, &Reply{Err: c.failure(r, err)})
}

// land takes a request out of those in flight.
func (c *Client) land(r *Request) {
	if !r.late {
		c.inTime--
	}
	if c.onTime == r {
		c.onTime = r.next
	}
	c.flight.remove(r)
}

// expire looks after requests that wait for too long.
func (c *Client) expire(now time.Time) {
	for r := c.onTime; r != nil && now.Sub(r.sent) >= c.window.overdue(); r = c.onTime {
		c.window.lost(r.sent, now)
		r.late = true
		c.inTime--
		c.onTime = r.next
	}
	for r := c.flight.front; r != nil && now.Sub(r.sent) >= c.patience(); r = c.flight.front {
		c.unanswered(r, now, 0)
	}
}

// patience is how long the client itself waits for the end of an attempt: a
// little longer than the transport, whose word on it is the better one.
func (c *Client) patience() time.Duration { return c.opts.Timeout + c.opts.Timeout/8 }

// deadline returns when there will be something to do if nothing arrives.
func (c *Client) deadline(blocked bool) time.Time {
	var t time.Time
	earliest := func(u time.Time) {
		if t.IsZero() || u.Before(t) {
			t = u
		}
	}
	if blocked {
		earliest(c.now().Add(retrySend))
	}
	if c.onTime != nil {
		earliest(c.onTime.sent.Add(c.window.overdue()))
	}
	if c.flight.front != nil {
		earliest(c.flight.front.sent.Add(c.patience()))
	}
	return t
}

// abort ends all requests with an error and returns it.
func (c *Client) abort(err error) error {
	for _, l := range []*list{&c.flight, &c.queue} {
		for r := l.front; r != nil; r = l.front {
			if l == &c.flight {
				c.land(r)
			} else {
				l.remove(r)
			}
			if r.attempts > 0 {
				c.leaveSlot(r)
			}
			r.Done(r, &Reply{Err: c.failure(r, err)})
		}
	}
	return err
}

func (c *Client) failure(r *Request, err error) error {
	return &Error{To: r.To, Attr: r.Attr, Modifier: r.Modifier, Attempts: r.attempts, Err: err}
}

func (c *Client) trace(r *Request, rtt time.Duration, err error) {
	if c.opts.Trace != nil {
		c.opts.Trace(Event{To: r.To, Attr: r.Attr, Modifier: r.Modifier, Attempt: r.attempts, RTT: rtt, Err: err})
	}
}

// Call sends one request, waits for its end and returns a copy of the reply. It
// must not be called from a Done function.
func (c *Client) Call(ctx context.Context, r *Request) (mad.Packet, error) {
	var reply mad.Packet
	var failed error
	r.Done = func(_ *Request, got *Reply) {
		if failed = got.Err; failed == nil {
			reply = *got.MAD
		}
	}
	c.Submit(r)
	if err := c.Run(ctx); err != nil {
		return reply, err
	}
	return reply, failed
}
