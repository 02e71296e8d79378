// Package udaddy implements udaddy of librdmacm.
package udaddy

import (
	"context"

	"github.com/ibkit/ibkit/cm/exchange"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/rdmacm"
)

// command is one call of udaddy.
type command struct {
	rdmacmutils.Program
	options        exchange.Options
	lookup         rdmacmutils.Lookup
	server, source string
	session        *exchange.Session
}

// port is the port of udaddy, which has no option for it.
const port = "7174"

// New returns udaddy.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{
		Program: rdmacmutils.Program{Env: env, Prefix: "udaddy: "}, lookup: rdmacmutils.Lookup{Space: rdmacm.PortSpaceUDP},
		options: exchange.Options{Datagrams: true, Connections: 1, Count: exchange.DefaultCount, Size: exchange.DefaultSize},
	}
	o := &c.options
	return c.Tool("udaddy", "exchange datagrams with a server", map[byte]string{
		'f': "[-f address_format]\n\t    name, ip, ipv6, or gid", 'P': "[-P port_space]\n\t    udp or ipoib", 'p': rdmacmutils.SpaceLine,
	}, []getopt.Option{
		{Short: 's', Arg: "server_address", Help: "send to a server (default: be the server)", Set: getopt.Text(&c.server)},
		{Short: 'b', Arg: "bind_address", Help: "local address", Set: getopt.Text(&c.source)},
		{Short: 'f', Arg: "address_format", Help: "format of addresses: name, ip, ipv6 or gid", Set: c.lookup.SetFormat(&c.Program)},
		{Short: 'P', Arg: "port_space", Help: "port space: udp or ipoib", Set: c.lookup.SetSpace(&c.Program, "udp", "ipoib", rdmacm.PortSpaceIPoIB)},
		{Short: 'c', Arg: "connections", Help: "number of queue pairs (default 1)", Set: rdmacmutils.Atoi(&o.Connections)},
		{Short: 'C', Arg: "message_count", Help: "messages per queue pair and direction (default 10)", Set: rdmacmutils.Atoi(&o.Count)},
		{Short: 'S', Arg: "message_size", Help: "bytes of a message (default 100)", Set: rdmacmutils.Atoi(&o.Size)},
		{Short: 't', Arg: "type_of_service", Help: "type of service (client)", Set: rdmacmutils.Byte(&o.TOS)},
		{Short: 'p', Arg: "port_space", Help: "port space as a number: 0x111 for UDP, 0x2 for IPoIB", Set: rdmacmutils.Space(&c.lookup.Space)},
	}, c.run)
}

func (c *command) run(ctx context.Context) error {
	if c.options.Connections < 0 {
		c.Printf("udaddy: unable to allocate memory for test nodes\n")
		return rdmacmutils.Exit(1)
	}
	c.options.Space, c.options.Client = c.lookup.Space, c.server != ""
	var err error
	if c.session, err = c.NewSession(c.options); err != nil {
		return err
	}
	defer c.session.Close()
	if c.server != "" {
		return c.Finish(c.connect(ctx))
	}
	return c.Finish(c.serve(ctx))
}

func (c *command) serve(ctx context.Context) (result int) {
	c.Printf("udaddy: starting server\n")
	local, err := c.lookup.Server(ctx, c.source, port)
	if err != nil {
		return c.LookupFailed("getrdmaaddr error", err)
	}
	s := c.session
	if err := s.Listen(local); err != nil {
		return c.Failed(err)
	}
	// The original continues with the connections that exist.
	c.Failed(s.Accept(ctx))
	if s.Count == 0 {
		return 0
	}
	c.Printf("receiving data transfers\n")
	if err := s.AwaitReceives(ctx); err != nil {
		return c.Failed(err)
	}
	c.Printf("sending replies\n")
	if err := s.Send(); err != nil {
		return c.Failed(err)
	}
	if err := s.AwaitSends(ctx); err != nil {
		return c.Failed(err)
	}
	c.Printf("data transfers complete\n")
	return 0
}

func (c *command) connect(ctx context.Context) (result int) {
	c.Printf("udaddy: starting client\n")
	local, peer, err := c.lookup.Client(ctx, c.source, c.server, port)
	if err != nil {
		return c.LookupFailed("getaddrinfo error", err)
	}
	c.Printf("udaddy: connecting\n")
	s := c.session
	if err := s.Connect(ctx, local, peer); err != nil {
		return c.Failed(err)
	}
	if s.Count == 0 {
		return 0
	}
	c.Printf("initiating data transfers\n")
	if err := s.Send(); err != nil {
		return c.Failed(err)
	}
	c.Printf("receiving data transfers\n")
	if err := s.AwaitReceives(ctx); err != nil {
		return c.Failed(err)
	}
	c.Printf("data transfers complete\n")
	return 0
}
