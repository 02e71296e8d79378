package umad

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/inflight"
	"github.com/ibkit/ibkit/mad"
)

const (
	defaultTimeout  = time.Second
	defaultAttempts = 3
	defaultWindow   = 64

	// slack is added to an attempt's timeout before the client gives it up. A kernel
	// reports the timeout earlier; slack covers requests that are lost without a report.
	slack = 100 * time.Millisecond

	// sendPause is how long the client waits for a reply before it sends again,
	// after the port had no room.
	sendPause = time.Millisecond
)

// errTwice is the error of a client with a request that was submitted again too early.
var errTwice = errors.New("submit request: it was submitted before and has not ended")

// ClientOptions configure a [Client]. The zero value has good defaults.
type ClientOptions struct {
	// MKey is sent with subnet management packets.
	MKey mad.Key

	// PKeyIndex is the index of the P_Key in the local port's table for packets other than
	// subnet management packets, which have index 0.
	PKeyIndex uint16

	// Timeout is the time limit per attempt (default 1 s). After replies to other
	// requests, all attempts but the last in a Get to an agent for subnet or performance
	// management, or in [mad.ClassMlnx], end early if they take much longer than these
	// replies, so that agents that do not respond cost little more than a single timeout.
	// A [mad.ClassMlnx] Get is sent again early also without other replies, because most
	// nodes ignore it.
	Timeout time.Duration

	// Attempts is the maximum send count for a request, up to 15 (default 3).
	Attempts int

	// MaxWindow is the maximum number of requests in flight, not counting requests
	// with a late reply (default 64).
	MaxWindow int

	// Trace, if set, is called for each MAD that is sent or received, and for each
	// timeout. It must not use the client.
	Trace func(Event)
}

// Stats are a client's counts.
type Stats struct {
	Sent     int // packets, including retries
	Received int // replies
	Retries  int // packets sent again after a timeout
	Timeouts int // attempts without a reply
	Window   int // maximum number of requests in flight, including late ones

	Late      int // replies to requests that had timed out
	Duplicate int // replies to requests that had been answered
	Stray     int // packets that match no request
}

// A Client sends requests over a port and matches the replies to them. It keeps
// several requests in flight, with an adaptive window: the window grows while
// replies arrive in time, and is halved if a reply is lost or late.
//
// A request without a reply is sent again until its attempts are used up. A request
// that waits much longer than others leaves the window, so that a dead port costs its
// own timeouts and does not delay other requests.
//
// A Client is not safe for concurrent use: Done functions and traces run in the
// goroutine that calls [Client.Run]. A Run that finds another one in progress returns an
// error, and a concurrent Submit panics.
type Client struct {
	port     batchPort
	attr     PortAttr
	services []listener
	heard    uint64 // service packets so far
	opts     ClientOptions
	epoch    time.Time
	use      use
	misuse   error // ends the next step of Run
	stats    Stats
	in, out  []Message
	batch    [batchSize]uint32 // transaction IDs of the messages in out
	reply    Reply
	window   window
	present  map[ib.LID]bool // with a reply in [mad.ClassMlnx]
	limited  bool            // requests are in the queue because of the window only
	sendable bool            // the port had room at the last attempt
	drained  bool            // the port had no message at the last attempt

	submissions uint64
	sent        *inflight.Tracker[attempt]
	queue       list          // not sent yet
	retries     list          // to be sent again
	overdue     list          // sent, late, and to be sent again early
	overdueAt   time.Duration // when the first of these may have to be sent again

	routes *routeFinder // nil: subnet management packets can be routed by LID
	pkeys  []mad.PKey   // local port's keys; nil: not read yet
}

// NewClient returns a client for p, which must not be used otherwise from then on. It panics
// if p is nil.
func NewClient(p Port, o ClientOptions) *Client {
	if p == nil {
		panic("umad: NewClient without a port")
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Attempts <= 0 {
		o.Attempts = defaultAttempts
	}
	if o.MaxWindow <= 0 {
		o.MaxWindow = defaultWindow
	}
	o.Attempts = min(o.Attempts, maxAttempts)
	o.MaxWindow = min(o.MaxWindow, maxOutstanding)
	c := &Client{
		port:    batchesOf(p),
		attr:    p.Attr(),
		opts:    o,
		epoch:   time.Now(),
		in:      make([]Message, batchSize),
		out:     make([]Message, batchSize),
		window:  window{size: min(firstWindow, o.MaxWindow), limit: o.MaxWindow},
		present: map[ib.LID]bool{},
		// Replies to the port's previous user must not match our requests.
		sent: newSent(rand.Uint32()),
	}
	if c.attr.DirectedOnly {
		c.routes = newRouteFinder(c)
	}
	return c
}

func newSent(firstID uint32) *inflight.Tracker[attempt] { return inflight.New[attempt](firstID) }

// Local returns the local port's attributes when the client was made.
func (c *Client) Local() PortAttr { return c.attr }

// Stats returns the counts so far.
func (c *Client) Stats() Stats { return c.stats }

// Submit queues a request, which the current or the next [Client.Run] sends. The
// caller must not change the request until its Done is called. If it submits the request
// again before, that Run ends all requests with an error.
func (c *Client) Submit(r *Request) {
	if c.use.submit() {
		defer c.use.leave()
	}
	c.submit(r)
}

func (c *Client) submit(r *Request) {
	if r.flight.state != idle {
		c.misuse = errTwice
		return
	}
	if r.needsIdentity() {
		c.confirm(r)
		return
	}
	c.dispatch(r)
}

// dispatch queues a request, as soon as the directed route to its LID is known if the port
// needs one.
func (c *Client) dispatch(r *Request) {
	if c.routes != nil && r.byLID() {
		c.routes.submit(r)
		return
	}
	c.enqueue(r, flight{})
}

// enqueue puts a request into the queue.
func (c *Client) enqueue(r *Request, f flight) {
	c.submissions++
	f.state, f.id = queued, c.submissions
	r.flight = f
	c.queue.push(r)
}

// Run sends and receives until each request is answered or given up. If ctx ends or
// the port breaks before, it ends all submitted requests with that error and returns
// the error. Requests that their Done functions submit wait for the next Run.
func (c *Client) Run(ctx context.Context) error {
	if err := c.use.enter(); err != nil {
		return err
	}
	defer c.use.leave()
	return c.run(ctx)
}

func (c *Client) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, c.port.Interrupt)()

	for {
		if err := cmp.Or(c.misuse, ctx.Err()); err != nil {
			c.misuse = nil
			return c.abort(err)
		}
		now := c.clock()
		c.expire(now)
		if err := c.send(now); err != nil {
			return c.abort(err)
		}
		if c.queue.len+c.retries.len+c.sent.Outstanding() == 0 {
			return nil
		}
		n, err := c.port.RecvBatch(c.in, c.epoch.Add(c.deadline(now)))
		c.drained = errors.Is(err, os.ErrDeadlineExceeded)
		if err != nil && !c.drained {
			return c.abort(err)
		}
		if n > 0 {
			now = c.clock()
		}
		for i := range c.in[:n] {
			c.receive(&c.in[i], now)
		}
	}
}

// Call submits r, runs until r and all other submitted requests have ended, and
// returns the reply with a copy of its data. It replaces r.Done meanwhile.
func (c *Client) Call(ctx context.Context, r *Request) (Reply, error) {
	if err := c.use.enter(); err != nil {
		return Reply{}, err
	}
	defer c.use.leave()
	var reply Reply
	done := r.Done
	defer func() { r.Done = done }()
	r.Done = func(_ *Request, from *Reply) {
		reply = *from
		if from.MAD != nil {
			packet := *from.MAD
			reply.MAD, reply.Rest = &packet, slices.Clone(from.Rest)
		}
	}
	c.submit(r)
	// An error of the run also ends r, and r's error has more details.
	_ = c.run(ctx)
	return reply, reply.Err
}

// clock returns the time since the client was made.
func (c *Client) clock() time.Duration { return time.Since(c.epoch) }

// deadline returns when the client has to act if it receives nothing before.
func (c *Client) deadline(now time.Duration) time.Duration {
	next := now + c.opts.Timeout + slack
	if e := c.sent.Oldest(); e != nil {
		next = e.Sent + c.opts.Timeout + slack
	}
	if e := c.sent.OldestOnTime(); e != nil && (c.limited || c.window.rtt.isKnown() || e.Data.mayBeAbsent()) {
		next = min(next, e.Sent+c.window.rtt.lateAfter())
	}
	if c.overdue.len > 0 {
		next = min(next, c.overdueAt)
	}
	if !c.sendable {
		next = min(next, now+sendPause)
	}
	return next
}

// expire ends the attempts that waited too long, and removes late attempts from
// the window.
func (c *Client) expire(now time.Duration) {
	for e := c.sent.Oldest(); e != nil && now-e.Sent >= c.opts.Timeout+slack; e = c.sent.Oldest() {
		c.lost(e)
	}
	late := c.window.rtt.lateAfter()
	for e := c.sent.OldestOnTime(); e != nil && now-e.Sent >= late; e = c.sent.OldestOnTime() {
		c.sent.Release(e)
		e.Data.request.flight.slow = true
		c.congested(&e.Data)
		c.addOverdue(e)
	}
	c.retryOverdue(now)
}

// receive processes a message that was received by now.
func (c *Client) receive(in *Message, now time.Duration) {
	m := &in.MAD
	e := c.sent.Find(uint32(m.TID()))
	if e == nil || (in.Status != 0) == e.Data.answeredBy(m.Method()) {
		c.stray(in)
		return
	}
	if in.Status != 0 {
		// The request came back. If the client itself gave the attempt up before, the
		// next attempt is on its way and nothing is to be done.
		if e.State == inflight.Waiting {
			c.lost(e)
		}
		return
	}
	if !e.Data.matches(m) {
		c.stray(in)
		return
	}
	a := &e.Data
	if a.mayBeAbsent() && !c.present[a.to.LID] {
		c.present[a.to.LID] = true
	}
	switch state := c.sent.Answer(e); {
	case state == inflight.Waiting:
		rtt := now - e.Sent
		if c.window.rtt.add(rtt); c.window.rtt.samples == enoughSamples {
			c.overdueAt = 0 // attempts end earlier from now on
		}
		c.answered(e, in, rtt)
	case state == inflight.Expired && a.pending():
		// The reply to an earlier attempt. Which attempt the round trip began
		// with is known, but not whether the current attempt is late, too.
		if a.request.flight.state == queued {
			c.retries.remove(a.request)
		} else {
			c.sent.Answer(c.sent.Find(a.request.flight.tid))
		}
		c.answered(e, in, 0)
	case state == inflight.Expired:
		c.stats.Late++
		c.beside(EventLate, e, m, now)
	default:
		c.stats.Duplicate++
		c.beside(EventDuplicate, e, m, now)
	}
}

// answered ends an attempt's request with the reply to the attempt. rtt is
// 0 if it is not known.
func (c *Client) answered(e *inflight.Entry[attempt], in *Message, rtt time.Duration) {
	m := &in.MAD
	c.stats.Received++
	if c.limited {
		c.window.grow()
	}
	err := m.Status().Err()
	if c.opts.Trace != nil {
		c.opts.Trace(e.Data.event(EventReceived, e.TID, m, rtt, err))
	}
	r := e.Data.request
	if err == nil && r.Value != nil {
		err = mad.Decode(r.Value, m.Data())
	}
	if err != nil {
		err = r.fail(err)
	}
	c.end(r, Reply{Err: err, MAD: m, Rest: in.Rest, RTT: rtt})
}

// beside reports a reply to a request that had ended.
func (c *Client) beside(kind EventKind, e *inflight.Entry[attempt], m *mad.Packet, now time.Duration) {
	if c.opts.Trace != nil {
		c.opts.Trace(e.Data.event(kind, e.TID, m, now-e.Sent, m.Status().Err()))
	}
}

// lost ends an attempt that got no reply.
func (c *Client) lost(e *inflight.Entry[attempt]) {
	a := &e.Data
	if !e.Slow {
		c.congested(a)
	}
	c.countLost(e)
	r := a.request
	c.removeOverdue(r)
	if int(r.flight.attempt) < c.opts.Attempts {
		r.flight.state = queued
		c.retries.push(r)
		return
	}
	c.end(r, Reply{Err: r.fail(ErrTimeout)})
}

// congested halves the window for a late or lost attempt, except if the node may lack the
// agent: such nodes are not congestion, and many of them would leave a window of 1.
func (c *Client) congested(a *attempt) {
	if a.mayBeAbsent() && !c.present[a.to.LID] {
		return
	}
	c.window.shrink(a.packets, c.stats.Sent)
}

// countLost counts and reports an attempt that got no reply, and ends it.
func (c *Client) countLost(e *inflight.Entry[attempt]) {
	c.stats.Timeouts++
	if c.opts.Trace != nil {
		c.opts.Trace(e.Data.event(EventTimedOut, e.TID, nil, 0, ErrTimeout))
	}
	c.sent.Expire(e)
}

// end returns r, which is in neither queue any more, to its owner.
func (c *Client) end(r *Request, reply Reply) {
	c.removeOverdue(r)
	r.flight = flight{}
	c.reply = reply
	if r.Done != nil {
		was := c.use.call()
		r.Done(r, &c.reply)
		c.use.restore(was)
	}
}

// abort ends all requests with err and returns it. Requests that Done functions
// submit meanwhile stay in the queue.
func (c *Client) abort(err error) error {
	lists := [...]list{c.retries, c.queue}
	c.retries, c.queue = list{}, list{}
	for e := c.sent.Oldest(); e != nil; e = c.sent.Oldest() {
		c.sent.Expire(e)
		r := e.Data.request
		c.end(r, Reply{Err: r.fail(err)})
	}
	for i := range lists {
		l := &lists[i]
		for r := l.head; r != nil; r = l.head {
			l.remove(r)
			c.end(r, Reply{Err: r.fail(err)})
		}
	}
	if c.routes != nil {
		c.routes = newRouteFinder(c) // without the searches that ended
	}
	return err
}

// stray counts a packet that matches no request, unless it belongs to a service.
func (c *Client) stray(in *Message) {
	if c.unsolicited(in) {
		return
	}
	c.stats.Stray++
	m := &in.MAD
	if c.opts.Trace != nil {
		c.opts.Trace(Event{
			Kind: EventStray, Class: m.Class(), Method: m.Method(), Attr: m.Attr(), Modifier: m.Modifier(), TID: m.TID(),
		})
	}
}
