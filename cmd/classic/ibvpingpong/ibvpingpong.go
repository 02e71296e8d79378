// Package ibvpingpong implements ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong,
// ibv_srq_pingpong and ibv_xsrq_pingpong, the example programs from libibverbs.
package ibvpingpong

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/libibverbs"
	"github.com/ibkit/ibkit/cmd/internal/shared/nosim"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/pingpong"
	"github.com/ibkit/ibkit/verbs"
)

// family is the programs' family. Invalid options print the usage text on
// the standard output.
var family = &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: cmdutil.ExitFailed, FailureCode: cmdutil.ExitFailed}

// command is a program call.
type command struct {
	env    *cmdutil.Env
	kind   kind
	name   string
	server string // "": this side is the server

	device   string
	port     int
	gidIndex int
	tcp      int
	sim      bool
	options  map[byte]bool // options without a value

	size, rxDepth, iterations, queuePairs, clients, sl int

	mtu ib.MTU
}

// A kind is a pingpong program.
type kind uint8

const (
	rc kind = iota
	uc
	ud
	srq
	xsrq
)

// NewRC returns ibv_rc_pingpong.
func NewRC(env *cmdutil.Env) *getopt.Tool { return newTool(env, rc, "ibv_rc_pingpong") }

// NewUC returns ibv_uc_pingpong.
func NewUC(env *cmdutil.Env) *getopt.Tool { return newTool(env, uc, "ibv_uc_pingpong") }

// NewUD returns ibv_ud_pingpong.
func NewUD(env *cmdutil.Env) *getopt.Tool { return newTool(env, ud, "ibv_ud_pingpong") }

// NewSRQ returns ibv_srq_pingpong.
func NewSRQ(env *cmdutil.Env) *getopt.Tool { return newTool(env, srq, "ibv_srq_pingpong") }

// NewXSRQ returns ibv_xsrq_pingpong.
func NewXSRQ(env *cmdutil.Env) *getopt.Tool { return newTool(env, xsrq, "ibv_xsrq_pingpong") }

func newTool(env *cmdutil.Env, k kind, name string) *getopt.Tool {
	c := &command{
		env: env, kind: k, name: name, port: 1, gidIndex: -1, tcp: 18515, options: map[byte]bool{},
		size: 4096, rxDepth: 500, iterations: 1000, queuePairs: 1, clients: 1, mtu: ib.MTU1024,
	}
	switch k {
	case ud:
		c.size = 1024 // the program's usage text has 2048
	case srq:
		c.queuePairs = 16
	case xsrq:
		c.iterations = 5
	}
	return &getopt.Tool{
		Name: name, Family: family, About: "measure round trips with another host",
		Options: append(c.table(), nosim.Options(&c.sim)...), Run: c.execute,
	}
}

// execute runs the program: a server without an operand, else a client.
func (c *command) execute(ctx context.Context, operands []string) error {
	switch len(operands) {
	case 0:
	case 1:
		c.server, c.clients = operands[0], 1
	default:
		return getopt.ErrUsage
	}
	switch {
	case c.sim:
		return nosim.Err
	case c.kind == srq && uint32(c.queuePairs) > uint32(c.rxDepth): // unsigned as in the program
		return c.fail("rx_depth %d is too small for %d QPs -- must have at least one receive per QP.", c.rxDepth, c.queuePairs)
	case c.kind == srq && c.queuePairs > pingpong.MaxShared:
		return c.fail("num_qp %d must be less than %d", c.queuePairs, pingpong.MaxShared)
	case c.options['O']:
		return errors.New("--iodp: implicit on-demand paging is not supported: --odp registers the buffer on demand")
	case c.options['o'] && c.options['j']:
		return c.fail("DM memory region can't be on demand")
	case c.options['U'] && c.options['o']:
		return c.fail("CoCo unprotected memory cannot be used with ODP")
	case c.options['U'] && c.options['j']:
		return c.fail("CoCo unprotected memory cannot be used with device memory")
	case c.options['U']:
		return errors.New("--allow-cc-unprotected: unprotected memory of confidential guests is not supported")
	case c.options['P'] && !c.options['o']:
		return c.fail("prefetch is valid only with on-demand memory region")
	case c.options['P']:
		return errors.New("--prefetch: prefetching of memory regions is not supported")
	case c.options['t']:
		return errors.New("--ts: timestamps of completions are not supported: ibkit perf measures round trips with the clock of the host")
	case c.options['j']:
		return errors.New("--dm: device memory is not supported")
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	place, err := c.open()
	if err != nil {
		return err
	}
	if c.kind == xsrq {
		err = c.runXRC(ctx, place)
	} else {
		err = c.run(ctx, place)
	}
	err = errors.Join(err, place.Context.Close())
	if e, ok := errors.AsType[*verbs.CompletionError](err); ok {
		return c.failedStatus(e)
	}
	return err
}

// fail ends the program with a message.
func (c *command) fail(format string, args ...any) error {
	fmt.Fprintf(c.env.ErrOut, format+"\n", args...)
	return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
}

// failedStatus prints a failed work request's status.
func (c *command) failedStatus(e *verbs.CompletionError) error {
	if c.kind == xsrq {
		return c.fail("Work completion error %d", e.Status)
	}
	return c.fail("Failed status %s (%d) for wr_id %d", statusText(e.Status), e.Status, e.ID)
}

// open opens the device, by default the first device.
func (c *command) open() (pingpong.Place, error) {
	if err := libibverbs.Check(c.env, &fabricflag.Settings{}, cmdutil.ExitFailed); err != nil {
		return pingpong.Place{}, err
	}
	devices, err := verbs.Host{Sysfs: c.env.Sysfs()}.Devices()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return pingpong.Place{}, err
	}
	i := slices.IndexFunc(devices, func(d verbs.Device) bool { return c.device == "" || d.Name == c.device })
	switch {
	case i >= 0:
	case c.device == "" && c.kind != xsrq:
		return pingpong.Place{}, c.fail("No IB devices found")
	default:
		return pingpong.Place{}, c.fail("IB device %s not found", c.device)
	}
	device, err := devices[i].Open()
	if err != nil {
		fmt.Fprintf(c.env.ErrOut, "Couldn't get context for %s\n", devices[i].Name)
		return pingpong.Place{}, &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
	}
	return pingpong.Place{Context: device, Port: uint8(c.port), GIDIndex: c.gidIndex}, nil
}

// peerTimeout is the time after which a silent peer counts as gone. The programs wait
// without end.
const peerTimeout = 60 * time.Second

// run runs all programs but ibv_xsrq_pingpong.
func (c *command) run(ctx context.Context, place pingpong.Place) error {
	test := pingpong.Test{
		Type: map[kind]verbs.QPType{rc: verbs.QPTypeRC, uc: verbs.QPTypeUC, ud: verbs.QPTypeUD, srq: verbs.QPTypeRC}[c.kind],
		Size: c.size, Iterations: c.iterations, RxDepth: c.rxDepth, MTU: c.mtu, SL: uint8(c.sl),
		Events: c.options['e'], Chk: c.options['c'], OnDemand: c.options['o'], PeerTimeout: peerTimeout,
		Local:  func(all []pingpong.Address) { c.addresses("local address: ", all) },
		Remote: func(all []pingpong.Address) { c.addresses("remote address:", all) },
	}
	if c.kind == srq {
		test.Shared = c.queuePairs
	}
	connect, done := c.connectors()
	var conn net.Conn
	r, err := pingpong.Run(ctx, func(ctx context.Context) (_ net.Conn, err error) {
		conn, err = connect(ctx)
		return conn, errors.Join(err, done())
	}, c.server != "", place, test)
	if conn != nil {
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		return err
	}
	c.print(r)
	return nil
}

// addresses prints a side's addresses.
func (c *command) addresses(side string, all []pingpong.Address) {
	comma := ","
	if c.kind == ud && strings.HasPrefix(side, "local") {
		comma = ":" // as the program
	}
	for _, a := range all {
		fmt.Fprintf(c.env.Out, "  %s LID 0x%04x, QPN 0x%06x, PSN 0x%06x%s GID %s\n", side, a.LID, a.QPN, a.PSN, comma, gidText(a.GID))
	}
}

// print prints the figures. Like the programs, it counts --iters exchanges.
func (c *command) print(r pingpong.Result) {
	usec, iterations := float64(r.Elapsed.Microseconds()), float64(c.iterations)
	bytes := 2 * int64(c.size) * int64(c.iterations)
	fmt.Fprintf(c.env.Out, "%d bytes in %.2f seconds = %.2f Mbit/sec\n", bytes, usec/1e6, float64(bytes)*8/usec)
	fmt.Fprintf(c.env.Out, "%d iters in %.2f seconds = %.2f usec/iter\n", c.iterations, usec/1e6, usec/iterations)
	for _, page := range r.BadPages {
		fmt.Fprintf(c.env.Out, "invalid data in page %d\n", page)
	}
}

// runXRC runs ibv_xsrq_pingpong.
func (c *command) runXRC(ctx context.Context, place pingpong.Place) error {
	connect, done := c.connectors()
	err := pingpong.RunXRC(ctx, connect, c.server != "", place, pingpong.XRCTest{
		Size: c.size, Messages: c.iterations, Clients: c.clients, MTU: c.mtu, SL: uint8(c.sl),
		Events: c.options['e'], OnDemand: c.options['o'], PeerTimeout: peerTimeout,
		Local:  func(a pingpong.XRCAddress) { c.addressXRC("local", a) },
		Remote: func(a pingpong.XRCAddress) { c.addressXRC("remote", a) },
	})
	if err = errors.Join(err, done()); err == nil {
		fmt.Fprintln(c.env.Out, "success")
	}
	return err
}

// addressXRC prints a side's address.
func (c *command) addressXRC(side string, a pingpong.XRCAddress) {
	fmt.Fprintf(c.env.Out, "%8s: LID %04x, QPN RECV %06x SEND %06x, PSN %06x, SRQN %06x, GID %s\n",
		side, a.LID, a.RecvQPN, a.SendQPN, a.PSN, a.SRQN, gidText(a.GID))
}
