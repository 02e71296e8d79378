package perf

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/port"
)

// served is one client of a server.
type served struct {
	*server
	*talk
	from   netip.AddrPort
	client Identity
}

// errLeft means that the client has no more to ask.
var errLeft = errors.New("the client is done")

func (c *served) serve(ctx context.Context) error {
	m, err := c.next(ctx, c.Idle)
	if err != nil {
		return err
	}
	if m.Hello == nil {
		return c.refuse(c.strange())
	}
	c.client = *m.Hello
	if err := c.send(message{Hello: &c.Identity}); err != nil {
		return err
	}
	for {
		m, err := c.nextTest(ctx)
		if errors.Is(err, errLeft) {
			return nil
		}
		if errors.As(err, new(*PeerError)) || m.Connect != nil || m.Finish != nil {
			continue // of a test that failed on either side, which the client may not have known
		}
		if err != nil {
			return err
		}
		if m.Hello != nil { // it wants to know where this side is
			if err := c.send(message{Hello: &c.Identity}); err != nil {
				return err
			}
			continue
		}
		if m.Prepare == nil {
			return c.refuse(c.strange())
		}
		test := m.Prepare.Test
		c.tell(Event{Client: c.from, Test: &test})
		err = c.test(ctx, m.Prepare)
		c.tell(Event{Client: c.from, Test: &test, Done: true, Err: err})
		switch {
		case err == nil, errors.As(err, new(*PeerError)): // its own failure is not sent back
		case errors.Is(err, errGone):
			return nil // why was told
		case errors.Is(err, errMessage), errors.Is(err, errSilent):
			_ = c.refuse(err) // why was told
			return nil
		default:
			if err := c.send(message{Failure: err.Error()}); err != nil {
				return err
			}
		}
	}
}

// nextTest waits for what the client wants next.
func (c *served) nextTest(ctx context.Context) (message, error) {
	m, err := c.next(ctx, c.Idle)
	switch {
	case errors.Is(err, errGone), ctx.Err() != nil: // the server ends
		err = errLeft
	case errors.Is(err, errSilent):
		err = fmt.Errorf("wait for the next test: the client asked for none in %v (--idle)", c.Idle)
	}
	return m, err
}

// refuse tells the client why this is the end, and returns it.
func (c *served) refuse(err error) error {
	_ = c.send(message{Failure: err.Error()}) // it may be gone
	return err
}

// check holds a test against what the server allows.
func (c *served) check(r *request) error {
	t := r.Test
	if err := t.Check(); err != nil {
		return err
	}
	if err := checkGIDs(r.GIDs); err != nil {
		return err
	}
	memory := (shape{t, false}).memory()
	switch {
	case t.QueuePairs > c.MaxQueuePairs:
		return fmt.Errorf("%d queue pairs are more than this server makes for a test: %d (--max-qps)", t.QueuePairs, c.MaxQueuePairs)
	case memory > c.MaxMemory:
		return fmt.Errorf("the test needs %d bytes of memory, this server gives %d (--max-memory)", memory, c.MaxMemory)
	case t.Duration > c.MaxTime:
		return fmt.Errorf("a test of %v is longer than this server's longest: %v (--max-time)", t.Duration, c.MaxTime)
	}
	return nil
}

// test serves one test.
func (c *served) test(ctx context.Context, r *request) (err error) {
	if err := c.check(r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.MaxTime, fmt.Errorf("the test took longer than this server allows: %v (--max-time)", c.MaxTime))
	defer cancel()
	ports, err := port.OpenAll(c.Device, c.Port)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, port.CloseAll(ports)) }()
	s := &side{shape: shape{r.Test, false}}
	if err := c.choose(s, ports, r); err != nil {
		return err
	}
	if err := s.makeEndpoint(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	loops := 0
	if s.sends() || s.receives() {
		loops = s.Threads
	}
	var others []int
	if c.client.BootID == c.Identity.BootID {
		others = r.CPUs
	}
	s.cpus, s.crowded, s.release = c.CPUs.reserve(s.choice.Port.Device, loops, others)
	p := &prepared{
		Port: ends(s.choice), ClientGID: s.choice.Remote, ReadsIn: s.readsIn(), QueuePairs: s.endpoint.Addresses(), CPUs: s.cpus,
		Yield: crowded(c.Identity, c.client, loops+s.Threads), AliveEvery: min(aliveEvery, c.Idle/4),
	}
	if err := c.send(message{Prepared: p}); err != nil {
		return err
	}
	defer c.alive(aliveEvery, max(c.Idle, 4*aliveLeast))()
	if err := c.connect(ctx, s, p.Yield); err != nil {
		return err
	}
	return c.run(ctx, s)
}

// choose decides where the test goes through.
func (c *served) choose(s *side, ports []*port.Port, r *request) error {
	if ib := port.InfiniBand(ports); len(r.GIDs) == 0 && ib != nil {
		s.choice.Port = ib
		return nil
	}
	var err error
	s.choice, err = port.Choose(ports, r.GIDs, c.GIDIndex, port.Routes)
	return err
}

// connect brings the queue pairs up when the client has said where its own are, and
// starts the loops.
func (c *served) connect(ctx context.Context, s *side, yield bool) error {
	m, err := c.next(ctx, c.Idle)
	if err != nil {
		return err
	}
	r := m.Connect
	if r == nil || r.GID != s.choice.Remote { // the one that was chosen of those that it has
		return c.strange()
	}
	if s.mtu = mtuOf(r.MTU); s.mtu == 0 || s.mtu > s.choice.Port.Attr.ActiveMTU {
		return fmt.Errorf("%w: an MTU of %d", errMessage, r.MTU)
	}
	if err := s.checkDatagram(); err != nil {
		return err
	}
	link := s.link(r.GID.Addr, r.LID, r.ReadsIn)
	if err := s.endpoint.Begin(link); err != nil {
		return err
	}
	if err := s.endpoint.Connect(link, r.QueuePairs); err != nil {
		return err
	}
	if s.running, err = prepare(s.shape, s.endpoint, r.QueuePairs); err != nil {
		return err
	}
	s.start(ctx, c.CPUs, nil, yield)
	return c.send(message{Started: &struct{}{}})
}

// run waits for the client to be done, and says what came of it.
func (c *served) run(ctx context.Context, s *side) error {
	for over := s.running.done; ; over = nil {
		select {
		case <-over: // by a failure, or all is sent
			if err := s.running.err; err != nil {
				return err
			}
		case m, ok := <-c.inbox:
			if m.Finish == nil {
				return c.early(s, m, ok)
			}
			return c.finish(ctx, s, m.Finish)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// early is why a test ends before it is over: what the client says, or that it is
// gone.
func (c *served) early(s *side, m message, ok bool) error {
	_, err := c.take(m, ok)
	switch {
	case err == nil:
		return c.strange()
	case errors.As(err, new(*PeerError)):
		return c.failed(s, err)
	}
	return err
}

// ownTime is how long this side's loops may take to see what the client has seen
// already, less than blameTime.
const ownTime = 100 * time.Millisecond

// failed is a test that failed at the client: by what this side has done, where
// this side's loops say so.
func (c *served) failed(s *side, theirs error) error {
	select {
	case <-s.running.done:
	case <-time.After(ownTime):
	}
	s.stop()
	if err := s.running.err; err != nil && !flushed(err) {
		return err
	}
	return theirs
}

// finish ends the test.
func (c *served) finish(ctx context.Context, s *side, f *finish) error {
	select { // what this side sends comes to its end
	case <-s.running.sent:
	case <-s.running.done:
	case m, ok := <-c.inbox:
		return c.early(s, m, ok)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s.Transport.lossy() && s.receives() {
		select {
		case <-time.After(loop.StrayTime):
		case <-ctx.Done():
		}
	}
	s.stop()
	if err := s.running.err; err != nil {
		return err
	}
	if err := s.running.verify(f.Sent); err != nil {
		return err
	}
	return c.send(message{Result: &s.own})
}
