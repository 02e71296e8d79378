// Package perftest is the eight programs of perftest that ibkit replaces.
package perftest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/perftestview"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/perftest"
	perfport "github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
)

// New returns a constructor for the program of perftest with the given name; nil if
// ibkit has no such program.
func New(name string) func(*cmdutil.Env) *getopt.Tool {
	for _, verb := range []perftest.Verb{perftest.Send, perftest.Write, perftest.Read, perftest.Atomic} {
		for _, order := range []perftest.Order{{Verb: verb}, {Verb: verb, Bandwidth: true}} {
			if order.Program() == name {
				return func(env *cmdutil.Env) *getopt.Tool {
					c := newCommand(env, name, order)
					return &getopt.Tool{Name: name, Family: family, Operands: "[<host>]", Options: c.options(), Run: c.execute}
				}
			}
		}
	}
	return nil
}

// command is one call of a program of perftest.
type command struct {
	env  *cmdutil.Env
	name string
	test perftest.Test

	device   string
	port     uint8
	gidIndex int
	tcp      uint16
	server   string

	noPeak             bool
	output             string // --output, "": all
	minRate, minMsgs   float64
	answered, finished bool
	failed             bool // a limit was not reached
	choice             perfport.Choice
	session            *perftest.Session
	out                *render.Output
}

// What a wait for the other side may take.
const silence = 60 * time.Second

// newCommand has the defaults of a program (perftest_parameters.h).
func newCommand(env *cmdutil.Env, name string, order perftest.Order) *command {
	c := &command{env: env, name: name, port: 0, gidIndex: -1, tcp: perftest.Port, out: render.NewOutput(env.Out)}
	c.test = perftest.Test{
		Order: order, Type: verbs.QPTypeRC, QueuePairs: 1, Iterations: 1000, Margin: perftestview.Margin, TxDepth: 128, RxDepth: 512,
		Moderation: 100, List: 1, Timeout: 14, RetryCount: 7, CPU: loop.NoCPU, Silence: silence,
	}
	size := 65536
	if !order.Bandwidth {
		size, c.test.TxDepth, c.test.Moderation = 2, 1, 1
	}
	if order.Verb == perftest.Atomic {
		size = perftest.AtomicSize
	}
	if order.Verb == perftest.Write && order.Bandwidth {
		c.test.Iterations = perftestview.WriteIterations
	}
	c.test.Sizes = []int{size}
	return c
}

// execute runs the program: a server without an operand, or the client of one.
func (c *command) execute(ctx context.Context, operands []string) error {
	switch {
	case len(operands) > 1:
		return fmt.Errorf("unexpected operand %q", operands[1])
	case len(operands) == 1 && operands[0] == "": // such as an unset variable
		return errors.New("the host's name is empty")
	case len(operands) == 1:
		c.server = operands[0]
	}
	if err := c.settle(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := c.run(ctx)
	if c.finished {
		fmt.Fprint(c.out, perftestview.Rule)
	}
	if flushed := c.out.Flush(); err == nil {
		err = flushed
	}
	if err == nil && c.failed {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return err
}

// settle looks at what the options come to.
func (c *command) settle() error {
	t := &c.test
	if t.All {
		t.Sizes = perftest.AllSizes(ib.MTU4096.Bytes(), t.Type)
	}
	t.TxDepth = max(t.TxDepth, t.List)
	if t.List > 1 {
		t.Moderation = t.List
	}
	t.Moderation = min(t.Moderation, t.TxDepth)
	if !t.Timed {
		t.RxDepth = max(1, min(t.RxDepth, t.Iterations))
		// What is not acknowledged is lost where there is no room for it.
		if t.Type != verbs.QPTypeRC && t.Bandwidth {
			t.RxDepth = max(t.RxDepth, min(t.Iterations, maxLossyReceives))
		}
	}
	return t.Check()
}

// maxLossyReceives is how many receives are posted where messages would get lost.
const maxLossyReceives = 16000

// run does the test.
func (c *command) run(ctx context.Context) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	ports, err := perfport.OpenAll(c.device, c.port)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	place, err := c.choose(ports, conn)
	if err == nil {
		ports = slices.DeleteFunc(ports, func(p *perfport.Port) bool { return p == place.Port })
	}
	if err = errors.Join(err, perfport.CloseAll(ports)); err != nil {
		return errors.Join(err, conn.Close())
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	device := perfport.Watch{Port: place.Port}
	c.session, err = perftest.Start(ctx, perftest.NewConn(conn, c.server != "", c.test.Silence), place, c.test)
	if err != nil {
		return err
	}
	c.header()
	device.Begin(ctx, cancel)
	err = device.Explain(c.session.Run(c.row))
	return errors.Join(err, c.session.Close())
}

// connect reaches the server, or waits for a client.
func (c *command) connect(ctx context.Context) (net.Conn, error) {
	if c.server != "" {
		dialer := net.Dialer{Timeout: c.test.Silence}
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(c.server, strconv.Itoa(int(c.tcp))))
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("couldn't connect to %s:%d: %s has to be started there first, without an operand", c.server, c.tcp, c.name)
		}
		return conn, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf(":%d", c.tcp))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if c.output == "" {
		const stars = "************************************\n"
		fmt.Fprint(c.out, "\n"+stars+"* Waiting for client to connect... *\n"+stars)
		if err := c.out.Flush(); err != nil {
			return nil, err
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() }) // Accept returns
	defer stop()
	conn, err := l.Accept()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return conn, err
}

// choose picks the port and the GID by the way to the other side.
func (c *command) choose(ports []*perfport.Port, conn net.Conn) (perftest.Place, error) {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return perftest.Place{}, err
	}
	c.choice, err = perfport.ChooseFor(ports, peer.Addr().Unmap(), c.gidIndex, perfport.Routes)
	ib := perfport.InfiniBand(ports)
	switch {
	case err == nil:
		return perftest.PlaceAt(c.choice.Port, int(c.choice.Index))
	case ib != nil:
		return perftest.PlaceAt(ib, c.gidIndex)
	}
	return perftest.Place{}, err
}
