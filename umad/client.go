package umad

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"time"

	"github.com/ibkit/ibkit/mad"
)

const (
	defaultTimeout  = time.Second
	defaultAttempts = 3
	defaultWindow   = 64

	// slack is how much longer than an attempt's time-out the client waits by
	// itself. A kernel keeps time and reports the time-out before; this is for
	// what got lost without a report.
	slack = 100 * time.Millisecond

	// sendPause is how long the client waits for replies before it tries to
	// send again where the port had no room.
	sendPause = time.Millisecond
)

// errNested is what a client says that is run by one of its own requests.
var errNested = errors.New("run client: already running; submit from Done instead")

// ClientOptions steer a [Client]. The zero value is good for most.
type ClientOptions struct {
	// MKey is sent with subnet management packets.
	MKey uint64

	// Timeout is how long one attempt may take; 0: a second.
	Timeout time.Duration

	// Attempts is how often a request is sent in all before it is given up,
	// at most 15; 0: 3.
	Attempts int

	// MaxWindow is how many requests the client keeps in flight at most, not
	// counting those whose reply is late; 0: 64.
	MaxWindow int

	// Trace, where set, is called for each MAD sent, received and timed out.
	Trace func(Event)
}

// Stats counts what a client has done.
type Stats struct {
	Sent     int // packets, retries included
	Received int // replies
	Retries  int // packets sent for want of a reply to an earlier one
	Timeouts int // attempts without a reply
	Stray    int // packets received that answer nothing that was asked
	Window   int // most requests in flight at a time
}

// A Client sends requests over a port and matches the replies to them. It
// keeps many in flight, as many as the fabric takes: the number grows while
// replies come in, and halves where they get lost or late.
//
// A request without a reply is sent again until its attempts are used up. One
// that waits much longer than others do no longer counts as in flight, so a
// dead port costs its own time-outs and holds nothing else up.
//
// A Client is not safe for concurrent use: everything, Done functions included,
// happens in the goroutine that calls [Client.Run].
type Client struct {
	port     BatchPort
	attr     PortAttr
	opts     ClientOptions
	now      func() time.Time
	epoch    time.Time
	running  bool
	stats    Stats
	in, out  []Message
	batch    [batchSize]*Request // of the messages in out
	reply    Reply
	window   window
	held     int  // requests in flight that count against the window
	limited  bool // the window, and nothing else, keeps requests in the queue
	sendable bool // the port has room, as far as is known

	table   table    // all that were sent and not answered
	queue   list     // not sent yet
	retries list     // to be sent again
	flying  list     // in flight, by time of sending
	fresh   *Request // all before it in flying are slow, and some after it may be
}

// NewClient returns a client for p, which nothing else may use from then on.
func NewClient(p Port, o ClientOptions) *Client {
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
	o.MaxWindow = min(o.MaxWindow, maxInFlight)
	return &Client{
		port:   batchPort(p),
		attr:   p.Attr(),
		opts:   o,
		now:    time.Now,
		epoch:  time.Now(),
		in:     make([]Message, batchSize),
		out:    make([]Message, batchSize),
		window: window{size: min(firstWindow, o.MaxWindow), limit: o.MaxWindow},
		// Replies to whoever had the port before must not look like ours.
		table: newTable(rand.Uint32()),
	}
}

// Stats returns what the client has done so far.
func (c *Client) Stats() Stats { return c.stats }

// Submit queues a request. It is sent, in its turn, by the running or the next
// [Client.Run]; until its Done is called it belongs to the client.
func (c *Client) Submit(r *Request) {
	if r.flight.state != idle {
		panic("umad: request submitted twice")
	}
	r.flight = flight{state: queued}
	c.queue.push(r)
}

// Run sends and receives until each request was answered or given up. Where
// ctx ends or the port breaks before, it ends all that were submitted until
// then with that error and returns it; requests that their Done functions
// submit wait for the next Run.
func (c *Client) Run(ctx context.Context) error {
	if c.running {
		return errNested
	}
	c.running = true
	defer func() { c.running = false }()
	defer context.AfterFunc(ctx, c.port.Interrupt)()

	for {
		if err := ctx.Err(); err != nil {
			return c.abort(err)
		}
		now := c.clock()
		c.expire(now)
		if err := c.send(now); err != nil {
			return c.abort(err)
		}
		if c.queue.len+c.retries.len+c.flying.len == 0 {
			return nil
		}
		n, err := c.port.RecvBatch(c.in, c.epoch.Add(c.deadline(now)))
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
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

// Call submits r, runs until it and all else that was submitted has ended, and
// returns the reply with a packet of its own. It takes the place of r.Done.
func (c *Client) Call(ctx context.Context, r *Request) (Reply, error) {
	if c.running {
		return Reply{}, errNested
	}
	var reply Reply
	done := r.Done
	defer func() { r.Done = done }()
	r.Done = func(_ *Request, from *Reply) {
		reply = *from
		if from.MAD != nil {
			packet := *from.MAD
			reply.MAD = &packet
		}
	}
	c.Submit(r)
	// What ends the run also ends r, and r's error says more.
	_ = c.Run(ctx)
	return reply, reply.Err
}

// clock returns the time since the client was made.
func (c *Client) clock() time.Duration { return c.now().Sub(c.epoch) }

// deadline returns when something is to be done if nothing comes in before.
func (c *Client) deadline(now time.Duration) time.Duration {
	next := now + c.opts.Timeout + slack
	if r := c.flying.head; r != nil {
		next = r.flight.sent + c.opts.Timeout + slack
	}
	if c.limited && c.fresh != nil {
		next = min(next, c.fresh.flight.sent+c.window.rtt.patience())
	}
	if !c.sendable {
		next = min(next, now+sendPause)
	}
	return next
}

// expire ends the attempts that waited too long, and takes their place in the
// window from those that are late.
func (c *Client) expire(now time.Duration) {
	for r := c.flying.head; r != nil && now-r.flight.sent >= c.opts.Timeout+slack; r = c.flying.head {
		c.lost(r)
	}
	patience := c.window.rtt.patience()
	for r := c.fresh; r != nil && (r.flight.slow || now-r.flight.sent >= patience); r = c.fresh {
		c.fresh = r.flight.next
		if !r.flight.slow {
			r.flight.slow = true
			c.held--
			c.window.shrink(r.flight.number, c.stats.Sent)
		}
	}
}

// receive processes a message that was received by now.
func (c *Client) receive(in *Message, now time.Duration) {
	m := &in.MAD
	tid := uint32(m.TID())
	r := c.table.find(tid)
	attempt := uint8(tid & maxAttempts)
	switch {
	case r == nil, (in.Status != 0) == r.answeredBy(m.Method()):
		c.stray(m)
	case in.Status != 0:
		// The request came back. Where that is about an attempt that was given
		// up before, the next one is under way already.
		if r.flight.state != flying || attempt != r.flight.attempt {
			c.stray(m)
			return
		}
		c.lost(r)
	case attempt == 0 || attempt > r.flight.attempt,
		m.Class() != r.class() || m.Attr() != r.Attr || m.Modifier() != r.Modifier:
		c.stray(m)
	default:
		c.answered(r, m, attempt, now)
	}
}

// answered ends r with the reply that came to one of its attempts.
func (c *Client) answered(r *Request, m *mad.Packet, attempt uint8, now time.Duration) {
	c.stats.Received++
	var took time.Duration
	if attempt == r.flight.attempt && r.flight.state == flying {
		took = now - r.flight.sent
		c.window.rtt.add(took)
	}
	if c.limited {
		c.window.grow()
	}
	err := m.Status().Err()
	if c.opts.Trace != nil {
		c.trace(EventReceived, r, m, took, err)
	}
	if err != nil {
		err = r.fail(err)
	}
	c.unlink(r)
	c.end(r, Reply{Err: err, MAD: m, RTT: took})
}

// lost ends an attempt that got no reply.
func (c *Client) lost(r *Request) {
	c.stats.Timeouts++
	if !r.flight.slow {
		c.window.shrink(r.flight.number, c.stats.Sent)
	}
	if c.opts.Trace != nil {
		c.trace(EventTimedOut, r, nil, 0, ErrTimeout)
	}
	c.unlink(r)
	if int(r.flight.attempt) < c.opts.Attempts {
		r.flight.state = queued
		c.retries.push(r)
		return
	}
	c.end(r, Reply{Err: r.fail(ErrTimeout)})
}

// unlink takes a request that was sent out of the list that it is in.
func (c *Client) unlink(r *Request) {
	if r.flight.state == queued {
		c.retries.remove(r)
		return
	}
	if r == c.fresh {
		c.fresh = r.flight.next
	}
	c.flying.remove(r)
}

// end gives r, which is in no list any more, back to its owner.
func (c *Client) end(r *Request, reply Reply) {
	if r.flight.attempt > 0 {
		c.table.remove(r)
		if !r.flight.slow {
			c.held--
		}
	}
	r.flight = flight{}
	c.reply = reply
	r.Done(r, &c.reply)
}

// abort ends everything with err and returns it.
func (c *Client) abort(err error) error {
	lists := [...]list{c.flying, c.retries, c.queue}
	c.flying, c.retries, c.queue, c.fresh = list{}, list{}, list{}, nil
	for i := range lists {
		l := &lists[i]
		for r := l.head; r != nil; r = l.head {
			l.remove(r)
			c.end(r, Reply{Err: r.fail(err)})
		}
	}
	return err
}

func (c *Client) stray(m *mad.Packet) {
	c.stats.Stray++
	if c.opts.Trace != nil {
		c.opts.Trace(Event{
			Kind: EventStray, Class: m.Class(), Method: m.Method(), Attr: m.Attr(), Modifier: m.Modifier(), TID: m.TID(),
		})
	}
}

func (c *Client) trace(kind EventKind, r *Request, m *mad.Packet, took time.Duration, err error) {
	e := Event{
		Kind: kind, To: r.To, Class: r.class(), Method: r.method(), Attr: r.Attr, Modifier: r.Modifier,
		TID: uint64(r.tid()), Attempt: int(r.flight.attempt), RTT: took, Err: err,
	}
	if m != nil {
		e.Method, e.TID = m.Method(), m.TID()
	}
	c.opts.Trace(e)
}
