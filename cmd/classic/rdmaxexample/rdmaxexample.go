// Package rdmaxexample implements rdma_xclient and rdma_xserver from librdmacm: a client
// sends a message over a reliable or an extended reliable connection (XRC).
package rdmaxexample

import (
	"context"
	"errors"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/internal/tool/cm/oneway"
)

// command is a program call.
type command struct {
	rdmacmutils.Program
	host, port string
	xrc        bool
}

// usageLines are the usage text lines that do not describe an option.
var usageLines = map[byte]string{
	's': "[-s server]",
	'c': "[-c communication type]\n\t    r - RC: reliable-connected (default)\n\t    x - XRC: extended-reliable-connected",
}

// maxPort is the length to which rdma_xclient cuts the port.
const maxPort = 5

// NewClient returns rdma_xclient.
func NewClient(env *cmdutil.Env) *getopt.Tool {
	c := &command{host: "127.0.0.1"}
	return c.tool(env, "rdma_xclient", "send a message to a server, with RC or XRC", []getopt.Option{
		{Short: 's', Arg: "server_address", Help: "address of the server (default 127.0.0.1)", Set: getopt.Text(&c.host)},
		{Short: 'p', Arg: "port_number", Help: "port (default 7471)", Set: func(value string) error {
			c.port = value[:min(len(value), maxPort)]
			return nil
		}},
	}, func(ctx context.Context) error {
		_, peer, err := rdmacmutils.Lookup{}.Client(ctx, "", c.host, c.port)
		if err != nil {
			return err
		}
		return oneway.Send(ctx, peer, c.xrc)
	})
}

// NewServer returns rdma_xserver.
func NewServer(env *cmdutil.Env) *getopt.Tool {
	c := &command{}
	return c.tool(env, "rdma_xserver", "receive a message of a client, with RC or XRC", []getopt.Option{
		{Short: 'p', Arg: "port_number", Help: "port (default 7471)", Set: getopt.Text(&c.port)},
	}, func(ctx context.Context) error {
		local, err := rdmacmutils.Lookup{}.Server(ctx, "", c.port)
		if err != nil {
			return err
		}
		return oneway.Receive(ctx, local, c.xrc)
	})
}

func (c *command) tool(env *cmdutil.Env, name, about string, options []getopt.Option, run func(context.Context) error) *getopt.Tool {
	c.Env, c.port = env, "7471"
	options = append(options, getopt.Option{Short: 'c', Arg: "comm_type", Help: "type of the connection: r is RC (default), x is XRC", Set: c.setType})
	return c.Tool(name, about, usageLines, options, func(ctx context.Context) error {
		c.Printf("%s: start\n", name)
		result := c.result(run(ctx))
		c.Printf("%s: end %d\n", name, result)
		return rdmacmutils.Exit(result)
	})
}

// setType sets the connection type by its name's first letter.
func (c *command) setType(value string) error {
	switch {
	case strings.HasPrefix(strings.ToLower(value), "x"):
		c.xrc = true
	case !strings.HasPrefix(strings.ToLower(value), "r"):
		return getopt.ErrUsage
	}
	return nil
}

// result prints an error and returns the program's result.
func (c *command) result(err error) int {
	if err == nil {
		return 0
	}
	if lookup, ok := errors.AsType[*rdmacmutils.LookupError](err); ok {
		return c.LookupFailed("rdma_getaddrinfo", lookup)
	}
	function := ""
	if e, ok := errors.AsType[*oneway.Error](err); ok {
		function, err = e.Function, e.Err
	}
	if errno := oneway.Errno(err); errno != 0 {
		err = errno
	}
	c.Perror(function, err)
	return -1
}
