// Package timing implements cmtime of librdmacm: it makes many connections and measures
// each step of all of them before the next step begins.
package timing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/cm/exchange"
	"github.com/ibkit/ibkit/cm/internal/device"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// A Step is a step of all connections.
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

// progress are the texts of cmtime at the begin of a step.
var progress = [stepCount]string{
	"creating id", "binding source address", "resolving address", "resolving route", "creating qp", "connecting", "disconnecting", "destroying id",
}

// Times are the times of a step.
type Times struct {
	Step     Step
	Total    time.Duration // from the first begin to the last end
	Min, Max time.Duration // of a connection; Min is negative if no connection completed the step
}

// Options are the options of a client.
type Options struct {
	Local, Peer rdmacm.Addr // Local may be nil
	Connections int
	Timeout     time.Duration // of the steps address and route
	Retries     int           // of these steps, and of the queue pairs

	Begin func(text string)       // called at the begin of each step
	Warn  func(*exchange.Failure) // called for failed connections; may be called concurrently
}

// A Client makes connections to a server.
type Client struct {
	Options
	channel *rdmacm.Channel
	devices device.Set
	nodes   []node
	byID    map[*rdmacm.ID]*node
	times   [stepCount]Times
	pending chan struct{} // one element for each connection whose step waits for an event
	result  atomic.Int64

	events chan rdmacm.Event
	ended  sync.WaitGroup
}

// A node is a connection. Its fields are used by one step at a time.
type node struct {
	id      *rdmacm.ID
	qp      *verbs.QP
	begin   time.Time
	waits   atomic.Bool // for an event
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
	c := &Client{Options: o, channel: channel, nodes: make([]node, o.Connections), byID: make(map[*rdmacm.ID]*node, o.Connections), pending: make(chan struct{}, window), events: make(chan rdmacm.Event, window)}
	for s := range c.times {
		c.times[s] = Times{Step: Step(s), Min: -1}
	}
	var lock sync.Mutex // protects byID
	c.each(StepCreate, func(n *node) (string, error) {
		id, err := channel.NewID(rdmacm.PortSpaceTCP, verbs.QPTypeRC)
		if err == nil {
			n.id = id
			lock.Lock()
			c.byID[id] = n
			lock.Unlock()
		}
		return "create ID", err
	})
	return c, nil
}

// each runs a step that needs no event for all connections.
func (c *Client) each(s Step, f func(*node) (string, error)) { c.run(s, false, f) }

// await runs a step that an event completes.
func (c *Client) await(s Step, f func(*node) (string, error)) { c.run(s, true, f) }

// window is the number of connections whose step waits for an event. With more of them,
// the peer replies so late that requests are repeated.
const window = 32

// run runs a step for all connections, several at a time.
func (c *Client) run(s Step, event bool, f func(*node) (string, error)) {
	c.Begin(progress[s])
	began := time.Now()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(c.nodes)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(c.nodes); i = next.Add(1) - 1 {
				if n := &c.nodes[i]; !n.failed && (n.id != nil || s == StepCreate) {
					c.start(n, s, event, f)
				}
			}
		})
	}
	workers.Wait()
	for range window { // until no connection waits
		c.pending <- struct{}{}
	}
	for range window {
		<-c.pending
	}
	t := &c.times[s]
	t.Total = time.Since(began)
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

// start begins a step of a connection. An event may complete it before f returns.
func (c *Client) start(n *node, s Step, event bool, f func(*node) (string, error)) {
	if event {
		c.pending <- struct{}{}
		n.waits.Store(true)
	}
	n.begin, n.retries = time.Now(), c.Retries
	op, err := f(n)
	switch {
	case err != nil:
		c.fail(op, err)
		c.result.Store(-1)
		if !event {
			n.failed = true
		} else if n.waits.Swap(false) {
			n.failed = true
			<-c.pending
		}
	case !event:
		n.complete(s)
	}
}

func (c *Client) fail(op string, err error) { c.Warn(&exchange.Failure{Op: op, Err: err, Code: -1}) }

func (n *node) complete(s Step) { n.spent[s], n.done[s] = time.Since(n.begin), true }

// Run connects and disconnects. It returns the result of the program: 0, or -1 after a
// failed call.
func (c *Client) Run(ctx context.Context) int {
	watched, stop := context.WithCancel(ctx)
	c.watch(watched)
	defer func() {
		stop()
		c.ended.Wait()
	}()
	if c.Local != nil {
		c.each(StepBind, func(n *node) (string, error) { return "failure bind addr", n.id.Bind(c.Local) })
	}
	c.await(StepAddress, func(n *node) (string, error) {
		return "failure getting addr", n.id.ResolveAddr(c.Local, c.Peer, c.Timeout)
	})
	c.await(StepRoute, func(n *node) (string, error) { return "failure resolving route", n.id.ResolveRoute(c.Timeout) })
	c.each(StepQP, func(n *node) (op string, err error) {
		if n.qp, _, err = c.devices.NewQP(n.id); err == nil {
			err = n.id.InitQP(n.qp)
		}
		return "failure creating qp", err
	})
	c.await(StepConnect, func(n *node) (string, error) {
		c.result.Store(0) // the result is that of the last call
		return "failure rconnecting", n.id.Connect(c.Peer, rdmacm.ConnParam{
			QPN: n.qp.Number(), ResponderResources: 1, InitiatorDepth: 1, RetryCount: uint8(c.Retries),
		})
	})
	c.await(StepDisconnect, func(n *node) (string, error) {
		hangUp(n.id, n.qp)
		return "", nil
	})
	return int(c.result.Load())
}

// hangUp ends a connection and closes its queue pair.
func hangUp(id *rdmacm.ID, qp *verbs.QP) {
	// The request fails if the connection has ended. A queue pair without a
	// connection needs no flush: Close drops its work requests.
	_ = id.Disconnect()
	_ = qp.Close()
}

// watch handles the events of the channel, several at a time.
func (c *Client) watch(ctx context.Context) {
	c.ended.Go(func() {
		defer close(c.events)
		for {
			e, err := c.channel.Next(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				c.fail("failure in rdma_get_cm_event in process_server_events", err)
				return
			}
			c.events <- e
		}
	})
	for range runtime.GOMAXPROCS(0) {
		c.ended.Go(func() {
			for e := range c.events {
				if n := c.byID[e.ID]; n != nil {
					c.handle(n, e)
				}
			}
		})
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
	if n.waits.Swap(false) {
		n.complete(s)
		<-c.pending
	}
}

// failEvent completes a step that failed.
func (c *Client) failEvent(n *node, s Step, text string) {
	c.Warn(&exchange.Failure{Op: text})
	n.failed = true
	c.end(n, s)
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

// Close destroys the IDs, and returns the times of all steps.
func (c *Client) Close() ([]Times, error) {
	for i := range c.nodes {
		c.nodes[i].failed = false
	}
	c.each(StepDestroy, func(n *node) (string, error) { return "destroy ID", n.id.Close() })
	return c.times[:], errors.Join(c.channel.Close(), c.devices.Close())
}
