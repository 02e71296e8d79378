// Package rdmaexample implements rdma_client and rdma_server from librdmacm, which
// exchange a 16-byte message in each direction.
package rdmaexample

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/internal/tool/cm/exchange"
	"github.com/ibkit/ibkit/rdmacm"
)

// command is a program call.
type command struct {
	rdmacmutils.Program
	host, port string
	client     bool
	session    *exchange.Session
}

// size is the message size.
const size = 16

// NewClient returns rdma_client.
func NewClient(env *cmdutil.Env) *getopt.Tool {
	return newTool(env, "rdma_client", "exchange a message with a server", &command{host: "127.0.0.1", client: true})
}

// NewServer returns rdma_server.
func NewServer(env *cmdutil.Env) *getopt.Tool {
	return newTool(env, "rdma_server", "exchange a message with a client", &command{host: "0.0.0.0"})
}

func newTool(env *cmdutil.Env, name, about string, c *command) *getopt.Tool {
	c.Env, c.port = env, "7471"
	return c.Tool(name, about, nil, []getopt.Option{
		{Short: 's', Arg: "server_address", Help: "address of the server (default " + c.host + ")", Set: getopt.Text(&c.host)},
		{Short: 'p', Arg: "port_number", Help: "port (default 7471)", Set: getopt.Text(&c.port)},
	}, func(ctx context.Context) (err error) {
		c.Printf("%s: start\n", name)
		result := 0
		if err = c.open(); err == nil {
			err = errors.Join(c.exchange(ctx), c.session.Close())
		}
		if err != nil {
			result = c.failed(err)
		}
		c.Printf("%s: end %d\n", name, result)
		return rdmacmutils.Exit(result)
	})
}

// A stepError is a librdmacm function's error.
type stepError struct {
	function string
	err      error
}

func (e *stepError) Error() string { return e.function + ": " + e.err.Error() }

func (e *stepError) Unwrap() error { return e.err }

// step names the function that failed.
func step(function string, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{function, err}
}

// failed prints an error and returns the program's result.
func (c *command) failed(err error) (result int) {
	if e, ok := errors.AsType[*rdmacmutils.LookupError](err); ok {
		return c.LookupFailed("rdma_getaddrinfo", e)
	}
	c.Perror(c.cause(err))
	return -1
}

// cause returns the function that failed and its error.
func (c *command) cause(err error) (function string, cause error) {
	function = "rdma_create_ep"
	if e, ok := errors.AsType[*stepError](err); ok {
		function = e.function
	}
	f, ok := errors.AsType[*exchange.Error](err)
	if !ok {
		return function, err
	}
	e := f.Event
	switch {
	case e == nil && f.Err == nil:
		return function, unix.ENOMEM
	case e == nil:
		return functions(function, f.Op), f.Err
	case e.Type == rdmacm.EventRejected:
		return function, unix.ECONNREFUSED
	case e.Type == rdmacm.EventAddrError || e.Type == rdmacm.EventRouteError:
		function = "rdma_create_ep"
	}
	return function, unix.Errno(max(e.Status, -e.Status))
}

// functions returns the librdmacm function that fails in a session operation.
func functions(byDefault, op string) string {
	switch op {
	case "failure getting addr", "resolve route failed", "unable to create QP", "bind address failed":
		return "rdma_create_ep"
	case "failure trying to listen":
		return "rdma_listen"
	}
	return byDefault
}

func (c *command) open() (err error) {
	param := rdmacm.DefaultParam
	param.FlowControl = false // as rdma_connect without parameters
	c.session, err = exchange.New(exchange.Options{
		Client: c.client, Space: rdmacm.PortSpaceTCP, Connections: 1, Count: 1, Size: size, Param: param, Warn: c.Warn,
	})
	return err
}

func (c *command) exchange(ctx context.Context) error {
	if c.client {
		return c.connect(ctx)
	}
	return c.serve(ctx)
}

func (c *command) connect(ctx context.Context) error {
	_, peer, err := rdmacmutils.Lookup{}.Client(ctx, "", c.host, c.port)
	if err != nil {
		return err
	}
	s := c.session
	if err := s.Connect(ctx, nil, peer); err != nil {
		return step("rdma_connect", err)
	}
	if err := s.Send(); err != nil {
		return step("rdma_post_send", err)
	}
	if err := s.AwaitSends(ctx); err != nil {
		return step("rdma_get_send_comp", err)
	}
	if err := s.AwaitReceives(ctx); err != nil {
		return step("rdma_get_recv_comp", err)
	}
	return c.disconnect(ctx)
}

func (c *command) serve(ctx context.Context) error {
	local, err := rdmacmutils.Lookup{}.Server(ctx, c.host, c.port)
	if err != nil {
		return err
	}
	s := c.session
	if err := s.Listen(local); err != nil {
		return err
	}
	if err := s.Accept(ctx); err != nil {
		return step("rdma_accept", err)
	}
	if err := s.AwaitReceives(ctx); err != nil {
		return step("rdma_get_recv_comp", err)
	}
	if err := s.Send(); err != nil {
		return step("rdma_post_send", err)
	}
	if err := s.AwaitSends(ctx); err != nil {
		return step("rdma_get_send_comp", err)
	}
	return c.disconnect(ctx)
}

// disconnect ends the connection.
func (c *command) disconnect(ctx context.Context) error {
	c.session.Disconnect()
	// The original discards the error at the end too.
	_ = c.session.AwaitDisconnect(ctx)
	return nil
}
