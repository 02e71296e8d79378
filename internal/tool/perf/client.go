package perf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
	"github.com/ibkit/ibkit/verbs"
)

// Options are the tests and the local resources of a client.
type Options struct {
	Server   string // host, or host:port
	Tests    []Test
	Identity host.Identity

	Device   string // "": the device that reaches the server
	Port     uint8  // 0: the first active port
	GIDIndex int    // negative: the best
	CPUs     host.CPUs
	Memory   memory.Source

	// ReduceDepth permits fewer messages in flight and fewer receives than the tests
	// have, on both sides, if a device does not support as many.
	ReduceDepth bool

	// Done, unless nil, is called after each measurement.
	Done func(*Measurement)
}

// address returns the TCP address of a server.
func address(server string, port int) string {
	if _, _, err := net.SplitHostPort(server); err == nil {
		return server
	}
	return net.JoinHostPort(server, strconv.Itoa(port))
}

// dial connects to a server. Program is its name if it is not ibkit.
func dial(ctx context.Context, server string, port int, program string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: responseTime}
	conn, err := dialer.DialContext(ctx, "tcp", address(server, port))
	if err != nil {
		return nil, &ConnectError{server, program, err}
	}
	return conn, nil
}

// A ConnectError is returned if the TCP connection to a server fails.
type ConnectError struct {
	Server  string
	Program string // such as "ib_send_lat"; "": ibkit
	Err     error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("connect to %s: %v", e.Server, e.Err) }

// Unwrap returns Err.
func (e *ConnectError) Unwrap() error { return e.Err }

// A client is the client's side of a connection.
type client struct {
	*controlConn
	options Options
	server  host.Identity
}

// measure runs a test.
func (c *client) measure(ctx context.Context, m *Measurement) (err error) {
	ports, err := port.Open(c.options.Device, c.options.Port)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, port.CloseAll(ports)) }()
	if c.options.ReduceDepth {
		for _, p := range ports {
			m.Test = role{m.Test, true}.reduced(p.Limits)
		}
	}
	selector := port.SelectorFor(c.conn, c.options.GIDIndex)
	r, err := c.request(m.Test, ports, selector)
	if err != nil {
		return err
	}
	if err := c.send(message{Prepare: r}); err != nil {
		return err
	}
	answer, err := c.next(ctx, responseTime)
	if err != nil {
		return err
	}
	if answer.Prepared == nil {
		return c.errUnexpected()
	}
	defer c.keepalive(min(max(answer.Prepared.AliveEvery, minKeepaliveInterval), keepaliveInterval), responseTime)()
	m.Server = answer.Prepared.Port
	t := &endpointTest{role: role{m.Test, true}, measurement: m, requestedGID: c.options.GIDIndex, memory: c.options.Memory}
	if err := t.open(ports, answer.Prepared, selector); err != nil {
		return c.fail(err)
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := c.connect(ctx, t, answer.Prepared); err != nil {
		return err
	}
	return c.run(ctx, t, answer.Prepared)
}

// request returns the request for a test: with the GIDs that the server may choose
// from. If the control connection uses IPoIB, it has GIDs only if that port needs them.
func (c *client) request(t Test, ports []*port.Port, selector port.Selector) (*request, error) {
	r := &request{Test: t, CPUs: c.options.CPUs.List, ReduceDepth: c.options.ReduceDepth}
	if p := selector.InfiniBand(ports); p != nil {
		r.LID, r.InfiniBandGIDs = p.Attr.LID, p.AppendGIDs(nil, c.options.GIDIndex)
		if selector.UsesIPoIB(ports) {
			ports = []*port.Port{p}
		}
	}
	if err := port.CheckIndex(ports, c.options.GIDIndex); err != nil {
		return nil, err
	}
	r.GIDs = port.GIDsOf(ports, c.options.GIDIndex)
	if len(r.GIDs) > 0 || r.LID != 0 {
		return r, nil
	}
	return nil, fmt.Errorf("choose a GID: %w", port.ErrNoGID)
}

// fail reports an error of the client to the server.
func (c *client) fail(err error) error {
	return errors.Join(err, c.send(message{Failure: err.Error()}))
}

// connect connects the queue pairs of both sides.
func (c *client) connect(ctx context.Context, t *endpointTest, p *prepared) error {
	if t.CM {
		if err := t.dial(ctx, c.conn, p); err != nil {
			return c.withPeerError(ctx, testError{err})
		}
	} else if t.Multicast.IsValid() {
		if err := t.join(ctx, c.conn); err != nil {
			return c.fail(testError{err})
		}
	} else if err := t.connect(t.link(p.Port.GID, p.Port.LID, p.MaxDestRdAtomic), p.QueuePairs); err != nil {
		return c.fail(err)
	}
	var err error
	if t.runner, err = newRunner(t.role, t.endpoint, p.QueuePairs); err != nil {
		return c.fail(err)
	}
	err = c.send(message{Connect: &connect{
		GID: t.choice.Local, LID: t.choice.Port.Attr.LID, MTU: t.mtu.Bytes(), MaxDestRdAtomic: t.maxDestRdAtomic(),
		QueuePairs: t.endpoint.Addresses(),
	}})
	if err != nil {
		return err
	}
	m, err := c.next(ctx, responseTime)
	if err == nil && m.Started == nil {
		err = c.errUnexpected()
	}
	return err
}

// run moves the data and receives the server's result.
func (c *client) run(ctx context.Context, t *endpointTest, p *prepared) error {
	var others []int
	if c.server.BootID == c.options.Identity.BootID {
		others = p.CPUs
	}
	t.start(ctx, c.options.CPUs, others, p.Yield)
	defer t.stop()
	if err := c.awaitSent(ctx, t); err != nil {
		return err
	}
	// The loops go on: they count the messages that still arrive from the server.
	if err := c.send(message{Finish: &finish{Sent: t.runner.counts((*loop.QPFlow).Posted)}}); err != nil {
		return err
	}
	m, err := c.next(ctx, t.peerTime())
	if err == nil && m.Result == nil {
		err = c.errUnexpected()
	}
	t.stop()
	if err := errors.Join(err, t.runner.err); err != nil {
		return err
	}
	t.measurement.ServerSide = *m.Result
	t.measurement.Received, t.measurement.Reverse = m.Result.In, m.Result.Out
	if err := t.runner.verify(m.Result.Sent); err != nil {
		return err
	}
	if one := t.measurement; one.Sent != nil && one.Sent.Messages == 0 || one.Latency != nil && one.Latency.Count == 0 {
		return ErrNoFigures
	}
	return nil
}

// ErrNoFigures is returned if no message completed while the test was counting: the
// link was down, or the duration is too short.
var ErrNoFigures = errors.New("no message completed while the test was counting")

// awaitSent waits until this side has sent all its messages.
func (c *client) awaitSent(ctx context.Context, t *endpointTest) error {
	sent := t.runner.sent
	if t.Kind == Latency {
		sent = t.runner.done
	}
	select {
	case <-sent:
	case <-t.runner.done: // early, by an error
	case m, ok := <-c.inbox:
		if _, err := c.take(m, ok); err != nil {
			return err
		}
		return c.errUnexpected()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return c.fail(context.Cause(ctx))
	}
	select {
	case <-t.runner.done:
		if err := t.runner.err; err != nil {
			return c.withPeerError(ctx, err)
		}
	default:
	}
	return nil
}

// peerErrorTime is the time that the server has to report its error after the client
// has failed.
const peerErrorTime = 500 * time.Millisecond

// withPeerError adds the server's error to an error of the client's loops, which may be
// only a consequence of it.
func (c *client) withPeerError(ctx context.Context, err error) error {
	if failed := c.send(message{Failure: err.Error()}); failed != nil {
		return errors.Join(err, failed)
	}
	_, theirs := c.next(ctx, peerErrorTime)
	var peer *PeerError
	switch {
	case errors.Is(theirs, peererr.ErrClosed):
		return errors.Join(err, theirs)
	case !errors.As(theirs, &peer) || peer.Text == err.Error():
		return err
	case flushed(err):
		return peer
	}
	return errors.Join(err, peer)
}

// flushed reports whether an error is only the flush of a queue pair after another
// error.
func flushed(err error) bool {
	var failed *verbs.CompletionError
	return errors.As(err, &failed) && failed.Status == verbs.StatusFlushed
}
