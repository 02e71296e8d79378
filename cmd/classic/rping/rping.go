// Package rping implements rping from librdmacm.
package rping

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/nosim"
	"github.com/ibkit/ibkit/internal/tool/cm/rping"
	"github.com/ibkit/ibkit/rdmacm"
)

// exitInvalid is the exit code for invalid options, EINVAL.
const exitInvalid = 22

// command is an rping call.
type command struct {
	env  *cmdutil.Env
	lock sync.Mutex // protects the outputs

	role            role
	address, source string
	port            uint16
	persistent      bool
	verbose, debug  int
	options         rping.Options
	invalid         int // exit code for an invalid value
	sim             bool
}

// role is the connection end.
type role string

const (
	client role = "client"
	server role = "server"
)

// New returns rping.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{env: env, address: "0.0.0.0", port: rping.DefaultPort, options: rping.Options{Size: rping.DefaultSize}}
	as := func(r role) func(string) error {
		return func(string) error {
			c.role = r
			return nil
		}
	}
	return &getopt.Tool{
		Name: "rping", About: "RDMA ping/pong over the connection manager",
		Family: &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: exitInvalid, FailureCode: getopt.ExitFailure},
		Options: append([]getopt.Option{
			{Short: 'c', Help: "client side", Set: as(client)},
			{Short: 'I', Arg: "addr", Help: "Source address to bind to for client.", Set: getopt.Text(&c.source)},
			{Short: 's', Help: "server side.  To bind to any address with IPv6 use -a ::0", Set: as(server)},
			{Short: 'v', Help: "display ping data to stdout", Set: getopt.Count(&c.verbose)},
			{Short: 'V', Help: "validate ping data", Set: getopt.True(&c.options.Validate)},
			{Short: 'd', Help: "debug printfs", Set: getopt.Count(&c.debug)},
			{Short: 'S', Arg: "size", Help: "ping data size", Set: c.setSize},
			{Short: 'C', Arg: "count", Help: "ping count times", Set: c.setCount},
			{Short: 'a', Arg: "addr", Help: "address", Set: getopt.Text(&c.address)},
			{Short: 'p', Arg: "port", Help: "port", Set: c.setPort},
			{Short: 'P', Help: "persistent server mode allowing multiple connections", Set: getopt.True(&c.persistent)},
			{Short: 'q', Help: "use self-created, self-modified QP", Set: getopt.Ignore},
		}, nosim.Options(&c.sim)...),
		Run: c.run,
	}
}

// usage returns rping.c's usage text.
func usage(t *getopt.Tool) string {
	text := "rping -s [-vVd] [-S size] [-C count] [-a addr] [-p port]\n" +
		"rping -c [-vVd] [-S size] [-C count] [-I addr] -a addr [-p port]\n"
	for _, o := range t.Options {
		switch {
		case o.Extension:
		case o.Arg == "size":
			text += fmt.Sprintf("\t-%c %s \t%s\n", o.Short, o.Arg, o.Help)
		case o.Arg == "count":
			text += fmt.Sprintf("\t-%c %s\t%s\n", o.Short, o.Arg, o.Help)
		case o.Arg == "addr" && o.Short == 'a' || o.Arg == "port":
			text += fmt.Sprintf("\t-%c %s\t\t%s\n", o.Short, o.Arg, o.Help)
		default:
			text += fmt.Sprintf("\t-%c\t\t%s\n", o.Short, o.Help)
		}
	}
	return text
}

func (c *command) setSize(value string) error {
	c.options.Size = getopt.Strtol(value)
	if c.options.Size < rping.MinSize || c.options.Size >= rping.MaxSize {
		fmt.Fprintf(c.env.ErrOut, "Invalid size %d (valid range is %d to %d)\n", c.options.Size, rping.MinSize, rping.MaxSize)
		c.invalid = exitInvalid
	}
	return nil
}

func (c *command) setCount(value string) error {
	c.options.Count = getopt.Strtol(value)
	if c.options.Count < 0 || c.options.Count > math.MaxInt32 {
		fmt.Fprintf(c.env.ErrOut, "Invalid count %d\n", c.options.Count)
		c.invalid = exitInvalid
	}
	return nil
}

func (c *command) setPort(value string) error {
	c.port = uint16(getopt.Strtol(value))
	return nil
}

func (c *command) run(ctx context.Context, _ []string) error {
	switch {
	case c.sim:
		return nosim.Err
	case c.invalid != 0:
		return &cmdutil.ExitError{Code: c.invalid}
	case c.role == "":
		return getopt.ErrUsage
	}
	c.options.Debug = func(format string, args ...any) {
		if c.debug > 0 {
			c.print(format, args...)
		}
	}
	c.options.Ended = func() { c.report("%s DISCONNECT EVENT...", c.role) }
	if c.verbose > 0 {
		prefix := ""
		if c.role == server {
			prefix = "server "
		}
		c.options.Data = func(text []byte) { c.print("%sping data: %s\n", prefix, text) }
	}
	address, err := c.resolve(ctx, c.address, c.port)
	if err != nil {
		return err
	}
	if c.role == server {
		return c.serve(ctx, address)
	}
	return c.ping(ctx, address)
}

func (c *command) print(format string, args ...any) {
	c.lock.Lock()
	defer c.lock.Unlock()
	fmt.Fprintf(c.env.Out, format, args...)
}

// report prints a line on standard error.
func (c *command) report(format string, args ...any) {
	c.lock.Lock()
	defer c.lock.Unlock()
	fmt.Fprintf(c.env.ErrOut, format+"\n", args...)
}

// resolve resolves a host name. The exit code for an unknown host is EAI_NONAME, as from
// getaddrinfo.
func (c *command) resolve(ctx context.Context, host string, port uint16) (rdmacm.IPAddr, error) {
	a, err := rdmacm.ResolveAddr(ctx, net.JoinHostPort(host, strconv.Itoa(int(port))))
	if err != nil {
		c.print("getaddrinfo failed (Name or service not known) - invalid hostname or IP address\n")
		return a, &cmdutil.ExitError{Code: 254, Err: err}
	}
	return a, nil
}

// failed ends the tool with exit code 255.
var failed = &cmdutil.ExitError{Code: getopt.ExitFailure}

// serve serves a single connection, or all connections with -P.
func (c *command) serve(ctx context.Context, address rdmacm.IPAddr) error {
	l, err := rdmacm.ListenConfig{Backlog: 3, Timeout: forever}.ListenAddr(address)
	if err != nil {
		return err
	}
	defer l.Close()
	c.options.Debug("rdma_bind_addr successful\nrdma_listen\n")
	var served sync.WaitGroup
	defer served.Wait()
	for {
		r, err := l.Accept(ctx)
		if err != nil {
			return err
		}
		if !c.persistent {
			return c.end(rping.Serve(ctx, r, c.options))
		}
		served.Go(func() {
			// A failed client must not end the server.
			_ = c.end(rping.Serve(ctx, r, c.options))
		})
	}
}

// forever is the time limit for steps that rping does not limit itself.
// The kernel ends them.
const forever = time.Hour

// resolveTimeout is the time limit for the address and for the route.
const resolveTimeout = 2 * time.Second

func (c *command) ping(ctx context.Context, address rdmacm.IPAddr) error {
	d := rdmacm.Dialer{Timeouts: rdmacm.Timeouts{
		Address: resolveTimeout, Route: resolveTimeout, Connect: forever, Establish: forever, Disconnect: forever,
	}}
	if c.source != "" {
		local, err := c.resolve(ctx, c.source, 0)
		if err != nil {
			return err
		}
		d.Local = local
	}
	err := rping.Ping(ctx, d, address, c.options)
	if step, ok := errors.AsType[*rdmacm.StepError](err); ok && step.Step < rdmacm.StepDisconnect {
		return c.notConnected(step)
	}
	return c.end(err)
}

// rping.c states in its messages.
const (
	stateDisconnected = 10
	stateError        = 11
)

// end prints how the pings ended, as rping does. A disconnect by the peer is success.
func (c *command) end(err error) error {
	if err == nil {
		return nil
	}
	if completion, ok := errors.AsType[*rping.CompletionError](err); ok {
		c.report("cq completion failed status %d", completion.Completion.Status)
	}
	if length, ok := errors.AsType[*rping.LengthError](err); ok {
		c.report("Received bogus data, size %d", length.Length)
	}
	state := stateError
	disconnected := errors.Is(err, rping.ErrDisconnected)
	if disconnected {
		state = stateDisconnected
	}
	wait, waited := errors.AsType[*rping.WaitError](err)
	if waited {
		c.report("wait for %s state %d", wait.Step, state)
	}
	if disconnected {
		return nil
	}
	if errors.Is(err, rping.ErrMismatch) {
		c.report("data mismatch!")
	}
	c.report("rping %s failed: -1", c.role)
	if waited {
		return failed
	}
	return &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
}

// notConnected prints a step's error, as rping does.
func (c *command) notConnected(e *rdmacm.StepError) error {
	if event, ok := e.Event(); ok {
		c.report("cma event %v, error %d", event.Type, event.Status)
	} else if errno, ok := errors.AsType[unix.Errno](e); ok {
		names := map[rdmacm.Step]string{rdmacm.StepAddress: "rdma_resolve_addr", rdmacm.StepRoute: "rdma_resolve_route", rdmacm.StepConnect: "rdma_connect"}
		if name := names[e.Step]; name != "" {
			c.report("%s: %s", name, getopt.Strerror(errno))
			return failed
		}
	}
	if e.Step <= rdmacm.StepRoute {
		c.report("waiting for addr/route resolution state 1")
		return failed
	}
	c.report("wait for CONNECTED state 4")
	c.report("connect error -1")
	return &cmdutil.ExitError{Code: getopt.ExitFailure, Err: e}
}
