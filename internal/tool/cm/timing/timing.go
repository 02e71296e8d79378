// Package timing implements librdmacm's cmtime: it makes many connections and measures
// each step in all connections before the next step begins.
package timing

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/ibkit/ibkit/internal/tool/cm/exchange"
	"github.com/ibkit/ibkit/internal/tool/cm/internal/device"
	"github.com/ibkit/ibkit/internal/tool/cm/internal/event"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// A Step is a step in all connections.
type Step int

// The steps in order. StepBind requires a local address.
const (
	StepCreate Step = iota
	StepBind
	StepAddress
	StepRoute
	StepQP
	StepConnect
	StepDisconnect
	StepDestroy
	stepCount
)

var stepNames = [stepCount]string{
	"create id", "bind addr", "resolve addr", "resolve route", "create qp", "connect", "disconnect", "destroy",
}

// String returns the name that cmtime prints.
func (s Step) String() string { return stepNames[s] }

// progress are cmtime's texts when a step begins.
var progress = [stepCount]string{
	"creating id", "binding source address", "resolving address", "resolving route", "creating qp", "connecting", "disconnecting", "destroying id",
}

// Times are a step's times.
type Times struct {
	Step     Step
	Total    time.Duration // from the first begin to the last end
	Min, Max time.Duration // for a connection; Min is negative if no connection completed the step
}

// Options are a client's options.
type Options struct {
	Local, Peer rdmacm.Addr // Local may be nil
	Connections int
	Timeout     time.Duration // for the steps address and route
	Retries     int           // for these steps and the queue pairs

	Begin func(text string)     // called when each step begins
	Warn  func(*exchange.Error) // called for failed connections
}

// A Client makes connections to a server. All its work is done by one goroutine, which
// waits for events in a system call: further goroutines would spend more time on waking
// each other than on the work.
type Client struct {
	Options
	channel *rdmacm.Channel
	batch   event.Batch
	devices device.Set
	nodes   []node
	byID    map[*rdmacm.ID]*node
	times   [stepCount]Times
	pending int // connections waiting for an event in their step
	result  int
	broken  bool      // no further events
	base    time.Time // for node times
}

// A node is a connection.
type node struct {
	id      *rdmacm.ID
	qp      *verbs.QP
	began   time.Duration // when the step began, since the base
	waits   bool          // for an event
	spent   [stepCount]time.Duration
	done    [stepCount]bool
	failed  bool
	retries int
}

// New opens the connection manager and creates the IDs.
func New(o Options) (*Client, error) {
	channel, err := rdmacm.NewChannel()
	if err != nil {
		return nil, err
	}
	c := &Client{Options: o, channel: channel, nodes: make([]node, o.Connections), byID: make(map[*rdmacm.ID]*node, o.Connections), base: time.Now()}
	for s := range c.times {
		c.times[s] = Times{Step: Step(s), Min: -1}
	}
	c.each(StepCreate, func(n *node) (string, error) {
		id, err := channel.NewID(rdmacm.PortSpaceTCP, verbs.QPTypeRC)
		if err == nil {
			n.id = id
			c.byID[id] = n
		}
		return "create ID", err
	})
	return c, nil
}

// now returns the time since the base. It reads a single clock; time.Now reads two.
func (c *Client) now() time.Duration { return time.Since(c.base) }

// each runs a step that needs no event for all connections.
func (c *Client) each(s Step, f func(*node) (string, error)) {
	c.Begin(progress[s])
	began := c.now()
	at := began
	for n := range c.ready(s) {
		n.began, n.retries = at, c.Retries
		op, err := f(n)
		at = c.now() // this connection's end and the next connection's start
		if err != nil {
			c.fail(op, err)
			c.result = -1
			n.failed = true
			continue
		}
		n.complete(s, at)
	}
	c.summarize(s, began)
}

// await runs a step that an event completes. It begins the step in all connections before
// it reads events, as cmtime does.
func (c *Client) await(ctx context.Context, s Step, f func(*node) (string, error)) {
	c.Begin(progress[s])
	began := c.now()
	for n := range c.ready(s) {
		n.began, n.retries, n.waits = c.now(), c.Retries, true
		c.pending++
		if op, err := f(n); err != nil {
			c.fail(op, err)
			c.result = -1
			n.failed, n.waits = true, false
			c.pending--
		}
	}
	for c.pending > 0 && !c.broken {
		c.next(ctx)
	}
	c.summarize(s, began)
}

// ready yields the connections that take part in a step.
func (c *Client) ready(s Step) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for i := range c.nodes {
			if n := &c.nodes[i]; !n.failed && (n.id != nil || s == StepCreate) && !yield(n) {
				return
			}
		}
	}
}

// summarize computes the times for a step that has ended.
func (c *Client) summarize(s Step, began time.Duration) {
	t := &c.times[s]
	t.Total = c.now() - began
	for i := range c.nodes {
		n := &c.nodes[i]
		if !n.done[s] {
			continue
		}
		if t.Min < 0 {
			t.Min = math.MaxInt64
		}
		t.Min, t.Max = min(t.Min, n.spent[s]), max(t.Max, n.spent[s])
	}
}

func (c *Client) fail(op string, err error) { c.Warn(&exchange.Error{Op: op, Err: err, Code: -1}) }

func (n *node) complete(s Step, at time.Duration) { n.spent[s], n.done[s] = at-n.began, true }

// Run connects and disconnects. It returns the program result: 0, or -1 after a failed
// call.
func (c *Client) Run(ctx context.Context) int {
	if c.Local != nil {
		c.each(StepBind, func(n *node) (string, error) { return "failure bind addr", n.id.Bind(c.Local) })
	}
	c.await(ctx, StepAddress, func(n *node) (string, error) {
		return "failure getting addr", n.id.ResolveAddr(c.Local, c.Peer, c.Timeout)
	})
	c.await(ctx, StepRoute, func(n *node) (string, error) { return "failure resolving route", n.id.ResolveRoute(c.Timeout) })
	c.each(StepQP, func(n *node) (op string, err error) {
		if n.qp, _, err = c.devices.NewQP(n.id); err == nil && n.qp.IWARP() {
			err = n.id.InitQP(n.qp) // otherwise ReadyQP does it, as there are no receives to post
		}
		return "failure creating qp", err
	})
	c.await(ctx, StepConnect, func(n *node) (string, error) {
		c.result = 0 // the result of the last call counts
		return "failure rconnecting", n.id.Connect(c.Peer, rdmacm.ConnParam{
			QPN: n.qp.Number(), ResponderResources: 1, InitiatorDepth: 1, RetryCount: uint8(c.Retries),
		})
	})
	c.await(ctx, StepDisconnect, func(n *node) (string, error) {
		// The request fails if the connection has ended. A queue pair without a
		// connection needs no flush: Close drops its work requests.
		_ = n.id.Disconnect()
		_ = n.qp.Close()
		return "", nil
	})
	return c.result
}

// next handles the next event and the events that follow it at once.
func (c *Client) next(ctx context.Context) {
	if err := c.batch.Wait(ctx, c.channel); err != nil {
		c.broken = true
		if ctx.Err() == nil {
			c.fail("failure in rdma_get_cm_event in process_server_events", err)
		}
		return
	}
	for e := range c.batch.All() {
		if n := c.byID[e.ID]; n != nil {
			c.handle(n, e)
		}
	}
}

func (c *Client) handle(n *node, e rdmacm.Event) {
	switch e.Type {
	case rdmacm.EventAddrResolved:
		c.end(n, StepAddress)
	case rdmacm.EventRouteResolved:
		c.end(n, StepRoute)
	case rdmacm.EventConnectResponse:
		err := n.id.ReadyQP(n.qp, nil)
		if err == nil {
			err = n.id.Establish()
		}
		if err != nil {
			e = rdmacm.Event{Type: rdmacm.EventConnectError, Status: -1}
			c.failEvent(n, StepConnect, fmt.Sprintf("event: %v, error: %d", e.Type, e.Status))
			return
		}
		c.end(n, StepConnect)
	case rdmacm.EventEstablished:
		c.end(n, StepConnect)
	case rdmacm.EventAddrError, rdmacm.EventRouteError:
		c.retry(n, e)
	case rdmacm.EventConnectError, rdmacm.EventUnreachable, rdmacm.EventRejected:
		c.failEvent(n, StepConnect, fmt.Sprintf("event: %v, error: %d", e.Type, e.Status))
	case rdmacm.EventDisconnected:
		c.end(n, StepDisconnect)
	}
}

// end completes a step that waits for an event.
func (c *Client) end(n *node, s Step) {
	if n.waits {
		n.waits = false
		n.complete(s, c.now())
		c.pending--
	}
}

// failEvent completes a step that failed. A late event does not change a connection.
func (c *Client) failEvent(n *node, s Step, text string) {
	c.Warn(&exchange.Error{Op: text})
	if n.waits {
		n.failed = true
		c.end(n, s)
	}
}

// retry repeats a step that failed, if a retry is left.
func (c *Client) retry(n *node, e rdmacm.Event) {
	step, again := StepAddress, func() error { return n.id.ResolveAddr(c.Local, c.Peer, c.Timeout) }
	if e.Type == rdmacm.EventRouteError {
		step, again = StepRoute, func() error { return n.id.ResolveRoute(c.Timeout) }
	}
	n.retries--
	if n.retries >= 0 && again() == nil {
		return
	}
	c.failEvent(n, step, fmt.Sprintf("%v, error: %d", e.Type, e.Status))
}

// Close destroys the IDs, and returns the times for all steps.
func (c *Client) Close() ([]Times, error) {
	for i := range c.nodes {
		c.nodes[i].failed = false
	}
	c.each(StepDestroy, func(n *node) (string, error) { return "destroy ID", n.id.Close() })
	return c.times[:], errors.Join(c.channel.Close(), c.devices.Close())
}
