package perf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/perftest"
	"github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
)

// Options are what a client wants.
type Options struct {
	Server   string // host, or host:port
	Tests    []Test
	Identity Identity

	Device   string // "": whichever reaches the server
	Port     uint8  // 0: the first active one
	GIDIndex int    // negative: the best
	CPUs     CPUs

	// Done, unless nil, is told each measurement when it is over.
	Done func(*Measurement)
}

// address returns where a server listens.
func address(server string, port int) string {
	if _, _, err := net.SplitHostPort(server); err == nil {
		return server
	}
	return net.JoinHostPort(server, strconv.Itoa(port))
}

// dial connects to a server: this program, or another of that name.
func dial(ctx context.Context, server string, port int, program string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: answerTime}
	conn, err := dialer.DialContext(ctx, "tcp", address(server, port))
	if err != nil {
		return nil, &ConnectError{server, program, err}
	}
	return conn, nil
}

// A ConnectError is a server that cannot be reached.
type ConnectError struct {
	Server  string
	Program string // such as "ib_send_lat", "": it is to be this one
	Err     error
}

func (e *ConnectError) Error() string { return fmt.Sprintf("connect to %s: %v", e.Server, e.Err) }

// Unwrap returns Err.
func (e *ConnectError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *ConnectError) Hint() string {
	switch {
	case errors.As(e.Err, new(*net.DNSError)):
		return "the name is not known here: give the server's IP address"
	case e.Program != "":
		return fmt.Sprintf("start %s there first: it listens at TCP port %d, or that of its -p, until the first client comes", e.Program, perftest.Port)
	case errors.Is(e.Err, syscall.ECONNREFUSED):
		return "nothing listens there: start the server first, by ibkit perf --serve"
	}
	return fmt.Sprintf("a firewall may be in the way: the server listens at TCP port %d, and RoCE v2 is UDP port 4791", Port)
}

// A client is the client's side of a connection.
type client struct {
	*talk
	options Options
	server  Identity
}

// measure does one test.
func (c *client) measure(ctx context.Context, m *Measurement) (err error) {
	ports, err := port.OpenAll(c.options.Device, c.options.Port)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, port.CloseAll(ports)) }()
	ask := request{Test: m.Test, GIDs: c.gids(ports), CPUs: c.options.CPUs.List}
	if ib := port.InfiniBand(ports); ib != nil {
		ask.LID = uint16(ib.Attr.LID)
	}
	if len(ask.GIDs) == 0 && ask.LID == 0 {
		if c.options.GIDIndex >= 0 {
			return fmt.Errorf("use GID %d: no active port has one of that index", c.options.GIDIndex)
		}
		return fmt.Errorf("choose a GID: %w", port.ErrNoGID)
	}
	if err := c.send(message{Prepare: &ask}); err != nil {
		return err
	}
	answer, err := c.next(ctx, answerTime)
	if err != nil {
		return err
	}
	if answer.Prepared == nil {
		return c.strange()
	}
	defer c.alive(min(max(answer.Prepared.AliveEvery, aliveLeast), aliveEvery), answerTime)()
	m.Server = answer.Prepared.Port
	s := &side{shape: shape{m.Test, true}, measurement: m}
	if err := s.open(ports, answer.Prepared, c.options); err != nil {
		return c.fail(err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := c.connect(ctx, s, answer.Prepared); err != nil {
		return err
	}
	return c.run(ctx, s, answer.Prepared)
}

// gids are those that the server may choose from.
func (c *client) gids(ports []*port.Port) []port.GID {
	var all []port.GID
	for _, p := range ports {
		if !p.Ethernet() {
			continue
		}
		for _, e := range p.GIDs {
			if c.options.GIDIndex < 0 || int(e.Index) == c.options.GIDIndex {
				all = append(all, port.GID{Addr: e.GID, Type: e.Type})
			}
		}
	}
	return all
}

// fail tells the server that there will be no test, and why.
func (c *client) fail(err error) error {
	return errors.Join(err, c.send(message{Failure: err.Error()}))
}

// connect brings the queue pairs up and has the server do so.
func (c *client) connect(ctx context.Context, s *side, p *prepared) error {
	link := s.link(p.Port.GID, p.Port.LID, p.ReadsIn)
	if err := s.endpoint.Begin(link); err != nil {
		return c.fail(err)
	}
	if err := s.endpoint.Connect(link, p.QueuePairs); err != nil {
		return c.fail(err)
	}
	var err error
	if s.running, err = prepare(s.shape, s.endpoint, p.QueuePairs); err != nil {
		return c.fail(err)
	}
	err = c.send(message{Connect: &connect{
		GID: s.choice.Local, LID: uint16(s.choice.Port.Attr.LID), MTU: s.mtu.Bytes(), ReadsIn: s.readsIn(), QueuePairs: s.endpoint.Addresses(),
	}})
	if err != nil {
		return err
	}
	m, err := c.next(ctx, answerTime)
	if err == nil && m.Started == nil {
		err = c.strange()
	}
	return err
}

// run moves the data, and has the server say what became of it.
func (c *client) run(ctx context.Context, s *side, p *prepared) error {
	var others []int
	if c.server.BootID == c.options.Identity.BootID {
		others = p.CPUs
	}
	s.start(ctx, c.options.CPUs, others, p.Yield)
	defer s.stop()
	if err := c.await(ctx, s); err != nil {
		return err
	}
	// What comes from the server may go on, and is its loops' to count.
	if err := c.send(message{Finish: &finish{Sent: s.running.counts((*loop.Lane).Posted)}}); err != nil {
		return err
	}
	m, err := c.next(ctx, s.slack())
	if err == nil && m.Result == nil {
		err = c.strange()
	}
	s.stop()
	if err := errors.Join(err, s.running.err); err != nil {
		return err
	}
	s.measurement.ServerSide = *m.Result
	s.measurement.Received, s.measurement.Reverse = m.Result.In, m.Result.Out
	if err := s.running.verify(m.Result.Sent); err != nil {
		return err
	}
	if one := s.measurement; one.Sent != nil && one.Sent.Messages == 0 || one.Latency != nil && one.Latency.Count == 0 {
		return errNothing // as while a link is down, for less time than the queue pairs wait
	}
	return nil
}

var errNothing = errors.New("nothing was completed in the time that counts: was the link down, or is that time too short (--duration)?")

// await waits until this side has sent all.
func (c *client) await(ctx context.Context, s *side) error {
	over := s.running.sent
	if s.Kind == Latency {
		over = s.running.done
	}
	select {
	case <-over:
	case <-s.running.done: // too early
	case m, ok := <-c.inbox:
		if _, err := c.take(m, ok); err != nil {
			return err
		}
		return c.strange()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return c.fail(context.Cause(ctx))
	}
	select {
	case <-s.running.done:
		if err := s.running.err; err != nil {
			return c.blame(ctx, err) // it may be the server's story
		}
	default:
	}
	return nil
}

// blameTime is how long the server may take to say that it failed, too.
const blameTime = 500 * time.Millisecond

// blame joins the error of this side's loop with what the server says, if it says
// something soon.
func (c *client) blame(ctx context.Context, err error) error {
	failed := c.send(message{Failure: err.Error()})
	if failed != nil {
		return errors.Join(err, failed)
	}
	_, told := c.next(ctx, blameTime)
	var peer *PeerError
	switch {
	case errors.Is(told, errGone):
		return errors.Join(err, told)
	case !errors.As(told, &peer) || peer.Text == err.Error():
		return err
	case flushed(err):
		return peer
	}
	return errors.Join(err, peer)
}

// flushed tells whether an error is but that of a queue pair that has come to its
// end: the reason is elsewhere.
func flushed(err error) bool {
	var failed *verbs.CompletionError
	return errors.As(err, &failed) && failed.Status == verbs.StatusFlushed
}

// validGID tells an address that can be a GID.
func validGID(a netip.Addr) bool { return a.Is6() && a.Zone() == "" }
