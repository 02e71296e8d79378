// Package perftest implements the eight perftest programs that ibkit replaces.
package perftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/nosim"
	"github.com/ibkit/ibkit/cmd/internal/shared/perfhint"
	"github.com/ibkit/ibkit/cmd/internal/shared/perftestview"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
	"github.com/ibkit/ibkit/verbs"
)

// New returns a constructor for the perftest program with the given name; nil if ibkit
// has no such program.
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

// family is the perftest programs' family: they exit with 1 in all cases, after
// the usage text, too.
var family = &getopt.Family{
	Usage: usage, UsageToOut: true, NoUsageForInvalid: true, UsageCode: cmdutil.ExitFailed, FailureCode: cmdutil.ExitFailed,
}

func usage(t *getopt.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s            start a server and wait for a client\n  %s <host>     be the client of a server\n\nOptions:\n", t.Name, t.Name)
	for _, o := range t.Options {
		if o.Unlisted {
			continue
		}
		name := "    --" + o.Long
		if o.Short != 0 {
			name = fmt.Sprintf("-%c, --%s", o.Short, o.Long)
		}
		if o.Arg != "" {
			name += "=" + o.Arg
		}
		fmt.Fprintf(&b, "  %-27s  %s\n", name, o.Help)
	}
	return b.String()
}

// orders returns all programs' tests.
func orders() []perftest.Order {
	var all []perftest.Order
	for _, verb := range []perftest.Verb{perftest.Send, perftest.Write, perftest.Read, perftest.Atomic} {
		all = append(all, perftest.Order{Verb: verb}, perftest.Order{Verb: verb, Bandwidth: true})
	}
	return all
}

// command is a perftest program call.
type command struct {
	env  *cmdutil.Env
	name string
	test perftest.Test

	device    string
	port      uint8
	gidIndex  int
	ipv6      bool
	link      string // required link layer; "": any
	cpus      host.CPUs
	memory    memory.Source
	dmaBuf    bool // --use_cuda_dmabuf
	tcp       uint16
	tcp6      bool
	source    string // local TCP address; "": any
	server    string // "": this side is the server
	limiter   limiter
	group     netip.Addr // -M
	multicast bool
	overCM    bool          // messages over the connection manager
	cm        perftest.CM   // used with overCM or QueuePairs
	wait      time.Duration // before all objects are released
	sim       bool

	durationGiven, marginGiven, vectorGiven, rxDepthGiven bool

	cycles           bool // times in cycles
	sorted, unsorted bool // print all times
	bothResults      bool
	json             bool
	jsonFile         string
	counters         []counter
	output           string // --output; "": all figures
	minRate, minMsgs float64

	localDevice string
	localPort   uint8
	header      perftestview.Header
	last        perftest.Result
	belowLimit  bool
	tabled      bool  // the figures' heading is printed
	err         error // output error
	out         *render.Output
}

// peerTimeout is the time after which a silent peer counts as gone.
const peerTimeout = 60 * time.Second

// newCommand returns a program with its defaults (perftest_parameters.h).
func newCommand(env *cmdutil.Env, name string, order perftest.Order) *command {
	c := &command{env: env, name: name, gidIndex: -1, tcp: perftest.Port, jsonFile: "perftest_out.json", out: render.NewOutput(env.Out)}
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

// execute runs the program: a server without an operand, else a client.
func (c *command) execute(ctx context.Context, operands []string) error {
	switch {
	case len(operands) > 1:
		return fmt.Errorf("unexpected operand %q", operands[1])
	case len(operands) == 1 && operands[0] == "": // such as an unset variable
		return errors.New("the host's name is empty")
	case len(operands) == 1:
		c.server = operands[0]
	}
	if c.sim {
		return nosim.Err
	}
	if err := c.complete(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := perfhint.With(errors.Join(c.run(ctx), c.err), perfhint.Classic)
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
	rxDepth := t.RxDepth
	switch {
	case c.multicast:
		t.Type, t.Multicast = verbs.QPTypeUD, &perftest.Multicast{Group: c.group}
	case c.group.IsValid():
		return errors.New("-M without -g: only multicast has a group")
	}
	if t.All {
		limit := math.MaxInt
		if t.Type == verbs.QPTypeUD {
			limit = ib.MTU4096.Bytes()
		}
		t.Sizes = perftest.AllSizes(limit)
	}
	if t.Infinite && !c.durationGiven {
		t.Duration = infinitePeriod
	}
	t.Timed = c.durationGiven && !t.Infinite
	if t.Timed && !c.marginGiven {
		t.Margin = perftest.DefaultMargin(t.Duration)
	}
	t.Keep = c.sorted || c.unsorted
	t.TxDepth = max(t.TxDepth, t.List)
	if err := c.completeList(); err != nil {
		return err
	}
	t.Moderation = min(t.Moderation, t.TxDepth)
	if t.Type == verbs.QPTypeSRD { // messages complete in any order
		t.Moderation = 1
	}
	if !c.durationGiven {
		t.RxDepth = max(1, min(t.RxDepth, t.Iterations))
		// Without acknowledgements a message without a receive is lost.
		if (t.Type == verbs.QPTypeUC || t.Type == verbs.QPTypeUD) && t.Bandwidth {
			t.RxDepth = max(t.RxDepth, min(t.Iterations, maxLossyReceives))
		}
	}
	if t.Consumes() && !t.All && !t.Infinite {
		t.RxDepth += t.RxDepth % 2
	}
	switch {
	case c.cycles && perftest.CyclesPerNanosecond() == 0:
		return errors.New("-C: this processor has no cycle counter that programs can read")
	case c.rxDepthGiven && t.Verb == perftest.Write && !t.Imm && rxDepth != 1:
		return fmt.Errorf("-r %d: without --write_with_imm, writes need no receives", rxDepth)
	case c.dmaBuf && c.memory.IsHost():
		return errors.New("--use_cuda_dmabuf without --use_cuda: no GPU is selected")
	case c.vectorGiven && !t.Events:
		return errors.New("-X without -e: completion vectors are used for events")
	case c.cm.TOS != nil && !c.cm.QueuePairs:
		return errors.New("-T without -R: only queue pairs of the connection manager have a type of service")
	case t.Type == verbs.QPTypeSRD && (c.cm.QueuePairs || c.overCM):
		return errors.New("-c SRD with -R or -z: SRD has no connections, and its adapters have no connection manager")
	case t.CPUUtil && !c.durationGiven:
		// perftest prints the same notice and continues.
		fmt.Fprint(c.env.ErrOut, " CPU Utilization works only with Duration mode.\n")
		t.CPUUtil = false
	}
	if err := c.limiter.apply(t, c.env.ErrOut); err != nil {
		return err
	}
	return t.Check()
}

// infinitePeriod is the default time between an endless test's results.
const infinitePeriod = 5 * time.Second

// completeList sets the settings that depend on work request lists. perftest prints the
// same notices.
func (c *command) completeList() error {
	t := &c.test
	for _, list := range []struct {
		option string
		n      int
	}{{"-l", t.List}, {"--recv_post_list", t.RecvList}} {
		if list.n > 1 && !c.durationGiven && t.Iterations%list.n != 0 {
			return fmt.Errorf("%s %d: the number of iterations, %d, is not a multiple of it", list.option, list.n, t.Iterations)
		}
	}
	if large := t.Sizes[0] > 8192 && t.Type != verbs.QPTypeUD && !t.All && !t.Events; large && t.ModerationGiven && t.Moderation > 1 && t.Bandwidth {
		fmt.Fprint(c.out, perftestview.Rule, "Warning: Large message requested and CQ moderation enabled\nWarning: It can lead to inaccurate results\n")
	}
	switch {
	case t.List == 1:
	case !t.ModerationGiven:
		t.Moderation = t.List
		fmt.Fprint(c.out, perftestview.Rule, "Post List requested - CQ moderation will be the size of the post list\n")
	case t.List%t.Moderation != 0:
		return fmt.Errorf("-l %d: not a multiple of -Q %d", t.List, t.Moderation)
	}
	return nil
}

// maxLossyReceives is the receive count for transports that may lose messages.
const maxLossyReceives = 16000

// run runs the test.
func (c *command) run(ctx context.Context) error {
	return perftest.Run(ctx, perftest.Options{
		Test: c.test, Device: c.device, Port: c.port, GIDIndex: c.gidIndex, IPv6: c.ipv6, Link: c.link, CPUs: c.cpus, Memory: c.memory,
		Connect: c.connect, Client: c.server != "", CM: c.manager(),
		PeerTimeout: peerTimeout, Begin: c.begin, Connected: c.connected, Done: c.row, Ended: c.ended,
		Warn: func(text string) { _, _ = io.WriteString(c.env.ErrOut, text) },
	})
}

// managed reports whether the connection manager connects the programs.
func (c *command) managed() bool { return c.overCM || c.cm.QueuePairs }

// manager returns the connection manager settings, nil for TCP.
func (c *command) manager() *perftest.CM {
	if !c.managed() {
		return nil
	}
	cm := c.cm
	cm.Server, cm.Port = c.server, c.tcp
	if c.source != "" {
		cm.Source = netip.MustParseAddr(c.source)
	}
	if !cm.QueuePairs {
		cm.ACKTimeout = nil
	}
	if c.server != "" {
		c.printWaiting()
	}
	cm.Waiting = func() {
		c.printWaiting()
		c.flush()
	}
	return &cm
}

// connect connects to the server, or waits for a client.
func (c *command) connect(ctx context.Context) (net.Conn, error) {
	network := "tcp"
	if c.tcp6 {
		network = "tcp6"
	}
	if c.server != "" {
		c.printWaiting()
		dialer := net.Dialer{Timeout: peerTimeout}
		if c.source != "" {
			dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(c.source)}
		}
		conn, err := dialer.DialContext(ctx, network, net.JoinHostPort(c.server, strconv.Itoa(int(c.tcp))))
		if err != nil {
			err = &perf.ConnectError{Server: c.server, Program: c.name, Err: err}
		}
		return conn, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, network, net.JoinHostPort(c.source, strconv.Itoa(int(c.tcp))))
	if err != nil {
		return nil, err
	}
	defer l.Close()
	c.printWaiting()
	if err := c.out.Flush(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() }) // Accept returns
	defer stop()
	conn, err := l.Accept()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return conn, err
}

// printWaiting prints the passive side's banner.
func (c *command) printWaiting() {
	if c.output == "" && !c.leads() {
		const stars = "************************************\n"
		fmt.Fprint(c.out, "\n"+stars+"* Waiting for client to connect... *\n"+stars)
	}
}

// leads reports whether this is the active side.
func (c *command) leads() bool { return (c.server != "") != c.test.Reversed }
