package perf

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
)

// A session is a client's connection to a server.
type session struct {
	*Server
	*controlConn
	from   netip.AddrPort
	client host.Identity
}

// errDone ends a session if its client needs no further test.
var errDone = errors.New("the client is done")

// run serves the tests of the client.
func (s *session) run(ctx context.Context) error {
	m, err := s.next(ctx, s.o.Idle)
	if err != nil {
		return err
	}
	if m.Hello == nil {
		return s.refuse(s.errUnexpected())
	}
	s.client = *m.Hello
	if err := s.send(message{Hello: &s.o.Identity}); err != nil {
		return err
	}
	for {
		m, err := s.nextTest(ctx)
		if errors.Is(err, errDone) {
			return nil
		}
		if isPeerError(err) || m.Connect != nil || m.Finish != nil {
			continue // belongs to a test that has failed, perhaps before the client knew
		}
		if err != nil {
			return err
		}
		if m.Hello != nil { // the client resynchronizes
			if err := s.send(message{Hello: &s.o.Identity}); err != nil {
				return err
			}
			continue
		}
		if m.Prepare == nil {
			return s.refuse(s.errUnexpected())
		}
		test := m.Prepare.Test
		s.report(Event{Client: s.from, Test: &test})
		err = s.test(ctx, m.Prepare)
		s.report(Event{Client: s.from, Test: &test, Done: true, Err: err})
		switch {
		case err == nil, isPeerError(err): // the client knows its own failure
		case errors.Is(err, peererr.ErrClosed):
			return nil // reported above
		case errors.Is(err, errMessage), errors.Is(err, peererr.ErrTimeout):
			_ = s.refuse(err) // reported above
			return nil
		default:
			if err := s.send(message{Failure: err.Error()}); err != nil {
				return err
			}
		}
	}
}

// nextTest waits for the next message between tests.
func (s *session) nextTest(ctx context.Context) (message, error) {
	m, err := s.next(ctx, s.o.Idle)
	switch {
	case errors.Is(err, peererr.ErrClosed), ctx.Err() != nil: // the server ends
		err = errDone
	case errors.Is(err, peererr.ErrTimeout):
		err = fmt.Errorf("wait for the next test: no request within %v (idle limit)", s.o.Idle)
	}
	return m, err
}

// refuse sends an error to the client and returns it.
func (s *session) refuse(err error) error {
	_ = s.send(message{Failure: err.Error()}) // the client may be gone
	return err
}

// drainTime is the time that a test by time may take beyond its warm-up and duration.
const drainTime = time.Second

// check compares a request with the limits of the server.
func (s *session) check(r *request) error {
	t := r.Test
	if err := t.Check(); err != nil {
		return err
	}
	if err := checkGIDs(slices.Concat(r.GIDs, r.InfiniBandGIDs)); err != nil {
		return err
	}
	memory := (role{t, false}).memory()
	switch {
	case t.QueuePairs > s.o.MaxQueuePairs:
		return fmt.Errorf("the test needs %d queue pairs, the server's max-qps is %d", t.QueuePairs, s.o.MaxQueuePairs)
	case memory > s.o.MaxMemory:
		return fmt.Errorf("the test needs %d bytes of memory, the server's max-memory is %d", memory, s.o.MaxMemory)
	case t.Duration > 0 && t.Duration+warmupTime+drainTime > s.o.MaxTime:
		return fmt.Errorf("the test takes %v with warm-up and drain, the server's max-time is %v", t.Duration+warmupTime+drainTime, s.o.MaxTime)
	}
	return nil
}

// test serves a test.
func (s *session) test(ctx context.Context, r *request) (err error) {
	if err := s.check(r); err != nil {
		return err
	}
	ports, err := port.Open(s.o.Device, s.o.Port)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, port.CloseAll(ports)) }()
	t := &endpointTest{role: role{r.Test, false}, requestedGID: s.o.GIDIndex, memory: s.o.Memory}
	if t.choice, err = port.SelectorFor(s.conn, s.o.GIDIndex).Choose(ports, port.Remote{GIDs: r.GIDs, InfiniBand: r.InfiniBandGIDs}); err != nil {
		return err
	}
	if r.ReduceDepth {
		t.Test = t.reduced(t.choice.Port.Limits)
	}
	if err := t.createEndpoint(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	loops := 0
	if t.sends() || t.receives() {
		loops = t.Threads
	}
	var others []int
	if s.client.BootID == s.o.Identity.BootID {
		others = r.CPUs
	}
	t.cpus, t.crowded, t.release = s.o.CPUs.Reserve(t.choice.Port.Device, loops, others)
	p := &prepared{
		Port: t.choice.Info(t.memory), Imm: true, ClientGID: t.choice.Remote, MaxDestRdAtomic: t.maxDestRdAtomic(), QueuePairs: t.endpoint.Addresses(),
		CPUs: t.cpus, Yield: crowded(s.o.Identity, s.client, loops+t.Threads), AliveEvery: min(keepaliveInterval, s.o.Idle/4),
	}
	if t.Multicast.IsValid() {
		if err := t.join(ctx, s.conn); err != nil {
			return err
		}
	}
	var a *acceptance
	if t.CM {
		if a, err = t.listen(ctx, s.conn); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.close()) }()
		p.Manager = a.managed
	}
	if err := s.send(message{Prepared: p}); err != nil {
		return err
	}
	defer s.keepalive(keepaliveInterval, max(s.o.Idle, 4*minKeepaliveInterval))()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := s.connect(ctx, t, a, p.Yield); err != nil {
		return err
	}
	limit := time.AfterFunc(s.o.MaxTime, func() { cancel(fmt.Errorf("the test exceeds the server's max-time of %v", s.o.MaxTime)) })
	defer limit.Stop()
	return s.serve(ctx, t)
}

// connect connects the local queue pairs to the client's and starts the loops.
func (s *session) connect(ctx context.Context, t *endpointTest, a *acceptance, yield bool) error {
	m, err := s.next(ctx, s.o.Idle)
	if err != nil {
		return a.orError(err)
	}
	r := m.Connect
	if r == nil || r.GID != t.choice.Remote { // it must be the GID that the server chose
		return s.errUnexpected()
	}
	if t.mtu = ib.MTUOf(r.MTU); t.mtu == 0 || t.mtu > t.choice.Port.Attr.ActiveMTU {
		return fmt.Errorf("%w: MTU %d", errMessage, r.MTU)
	}
	if err := t.checkDatagram(); err != nil {
		return err
	}
	link := t.link(r.GID.Addr, r.LID, r.MaxDestRdAtomic)
	switch {
	case a != nil:
		err = s.accept(ctx, t, a, link, r.QueuePairs)
	case t.group != nil:
		err = t.endpoint.SetDestination(t.endpoint.Path(link)) // of answers
	default:
		err = t.connect(link, r.QueuePairs)
	}
	if err != nil {
		return err
	}
	if t.runner, err = newRunner(t.role, t.endpoint, r.QueuePairs); err != nil {
		return err
	}
	t.start(ctx, s.o.CPUs, nil, yield)
	return s.send(message{Started: &struct{}{}})
}

// accept waits for the connections of the queue pairs, which the client has requested.
func (s *session) accept(ctx context.Context, t *endpointTest, a *acceptance, link endpoint.Link, peers []endpoint.Address) (err error) {
	if len(peers) != t.QueuePairs {
		return fmt.Errorf("connect %d queue pairs: the peer has %d", t.QueuePairs, len(peers))
	}
	ctx, stop := context.WithTimeoutCause(ctx, s.o.Idle, os.ErrDeadlineExceeded)
	defer stop()
	if t.links, err = a.wait(ctx); err != nil {
		return err
	}
	if t.Transport == UD {
		if err := t.endpoint.SetDestination(t.endpoint.Path(link)); err != nil {
			return err
		}
	}
	return t.adoptPath()
}

// serve waits for the end of the test and sends the result.
func (s *session) serve(ctx context.Context, t *endpointTest) error {
	for ended := t.runner.done; ; ended = nil {
		select {
		case <-ended:
			if err := t.runner.err; err != nil {
				return err
			}
		case m, ok := <-s.inbox:
			if m.Finish == nil {
				return s.endedEarly(t, m, ok)
			}
			return s.finish(ctx, t, m.Finish)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// endedEarly returns the reason why a test ended before finish was received.
func (s *session) endedEarly(t *endpointTest, m message, ok bool) error {
	_, err := s.take(m, ok)
	switch {
	case err == nil:
		return s.errUnexpected()
	case isPeerError(err):
		return s.ownCause(t, err)
	}
	return err
}

// ownErrorTime is the time that the loops of the server have to see an error that the
// client has seen already. It is less than peerErrorTime.
const ownErrorTime = 100 * time.Millisecond

// ownCause returns the error of the server's loops if a test failed at the client
// because of it, and the client's error otherwise.
func (s *session) ownCause(t *endpointTest, theirs error) error {
	select {
	case <-t.runner.done:
	case <-time.After(ownErrorTime):
	}
	t.stop()
	if err := t.runner.err; err != nil && !flushed(err) {
		return err
	}
	return theirs
}

// finish ends the test and sends the result.
func (s *session) finish(ctx context.Context, t *endpointTest, f *finish) error {
	select { // until the server's own sends are complete
	case <-t.runner.sent:
	case <-t.runner.done:
	case m, ok := <-s.inbox:
		return s.endedEarly(t, m, ok)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if t.Transport.lossy() && t.receives() {
		select {
		case <-time.After(loop.LateWindow):
		case <-ctx.Done():
		}
	}
	t.stop()
	if err := t.runner.err; err != nil {
		return err
	}
	if err := t.runner.verify(f.Sent); err != nil {
		return err
	}
	if err := s.send(message{Result: &t.own}); err != nil || t.links == nil || !t.choice.Port.Context.IWARP() {
		return err
	}
	// Complete sends of iWARP may still be on the way, and would be lost with the connection.
	ctx, stop := context.WithTimeout(ctx, clientEndTime)
	defer stop()
	_ = t.links.AwaitEnd(ctx) // the client has the result
	return nil
}

// clientEndTime is the time that a client has to end its connections after a test.
const clientEndTime = 5 * time.Second
