// Package perftest implements the eight programs of perftest that ibkit replaces.
package perftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/perfhint"
	"github.com/ibkit/ibkit/cmd/internal/shared/perftestview"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/perf"
	"github.com/ibkit/ibkit/perf/perftest"
	"github.com/ibkit/ibkit/verbs"
)

// New returns a constructor for the program of perftest with the given name; nil if
// ibkit has no such program.
func New(name string) func(*cmdutil.Env) *getopt.Tool {
	for _, order := range orders() {
		if order.Program() == name {
			return func(env *cmdutil.Env) *getopt.Tool {
				c := newCommand(env, name, order)
				return &getopt.Tool{Name: name, Family: family, Operands: "[<host>]", Options: c.options(), Run: c.execute}
			}
		}
	}
	return nil
}

// orders returns the tests of all programs.
func orders() []perftest.Order {
	var all []perftest.Order
	for _, verb := range []perftest.Verb{perftest.Send, perftest.Write, perftest.Read, perftest.Atomic} {
		all = append(all, perftest.Order{Verb: verb}, perftest.Order{Verb: verb, Bandwidth: true})
	}
	return all
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
	server   string // "": this side is the server

	marginGiven      bool
	noPeak           bool
	output           string // --output; "": all figures
	minRate, minMsgs float64
	belowLimit       bool
	tabled           bool // the heading of the figures is printed
	out              *render.Output
}

// peerTimeout is the time after which a silent peer counts as gone.
const peerTimeout = 60 * time.Second

// newCommand returns a program with its defaults (perftest_parameters.h).
func newCommand(env *cmdutil.Env, name string, order perftest.Order) *command {
	c := &command{env: env, name: name, gidIndex: -1, tcp: perftest.Port, out: render.NewOutput(env.Out)}
	c.test = perftest.Test{
		Order: order, Type: verbs.QPTypeRC, QueuePairs: 1, Iterations: 1000, TxDepth: 128, RxDepth: 512,
		Moderation: 100, List: 1, Timeout: 14, RetryCount: 7,
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
	if err := c.complete(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := perfhint.With(c.run(ctx), perfhint.Classic)
	if c.tabled {
		fmt.Fprint(c.out, perftestview.Rule)
	}
	if flushed := c.out.Flush(); err == nil {
		err = flushed
	}
	if err == nil && c.belowLimit {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return err
}

// complete sets the settings that depend on others.
func (c *command) complete() error {
	t := &c.test
	if t.All {
		t.Sizes = perftest.AllSizes(ib.MTU4096.Bytes(), t.Type)
	}
	if t.Timed && !c.marginGiven {
		t.Margin = perftest.DefaultMargin(t.Duration)
	}
	t.TxDepth = max(t.TxDepth, t.List)
	if t.List > 1 {
		t.Moderation = t.List
	}
	t.Moderation = min(t.Moderation, t.TxDepth)
	if !t.Timed {
		t.RxDepth = max(1, min(t.RxDepth, t.Iterations))
		// Without acknowledgements a message without a receive is lost.
		if t.Type != verbs.QPTypeRC && t.Bandwidth {
			t.RxDepth = max(t.RxDepth, min(t.Iterations, maxLossyReceives))
		}
	}
	return t.Check()
}

// maxLossyReceives is the number of receives for transports that may lose messages.
const maxLossyReceives = 16000

// run runs the test.
func (c *command) run(ctx context.Context) error {
	return perftest.Run(ctx, perftest.Options{
		Test: c.test, Device: c.device, Port: c.port, GIDIndex: c.gidIndex, Connect: c.connect, Client: c.server != "",
		PeerTimeout: peerTimeout, Begin: c.header, Connected: c.table, Done: c.row,
		Warn: func(text string) { _, _ = io.WriteString(c.env.ErrOut, text) },
	})
}

// connect connects to the server, or waits for a client.
func (c *command) connect(ctx context.Context) (net.Conn, error) {
	if c.server != "" {
		dialer := net.Dialer{Timeout: peerTimeout}
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(c.server, strconv.Itoa(int(c.tcp))))
		if err != nil {
			err = &perf.ConnectError{Server: c.server, Program: c.name, Err: err}
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
