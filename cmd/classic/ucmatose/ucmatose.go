// Package ucmatose implements ucmatose of librdmacm.
package ucmatose

import (
	"context"

	"github.com/ibkit/ibkit/cm/exchange"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/rdmacm"
)

// command is one call of ucmatose.
type command struct {
	rdmacmutils.Program
	options              exchange.Options
	lookup               rdmacmutils.Lookup
	server, source, port string
	migrate              bool
	session              *exchange.Session
}

// New returns ucmatose.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{
		Program: rdmacmutils.Program{Env: env, Prefix: "cmatose: "}, port: "7471", lookup: rdmacmutils.Lookup{Space: rdmacm.PortSpaceTCP},
		options: exchange.Options{
			Connections: 1, Count: exchange.DefaultCount, Size: exchange.DefaultSize,
			Param: rdmacm.ConnParam{ResponderResources: 1, InitiatorDepth: 1, RetryCount: 5},
		},
	}
	o := &c.options
	return c.Tool("ucmatose", "connect to a server several times and exchange messages", map[byte]string{
		'f': "[-f address_format]\n\t    name, ip, ipv6, or gid", 'P': "[-P port_space]\n\t    tcp or ib", 'm': "[-m(igrate)]",
	}, []getopt.Option{
		{Short: 's', Arg: "server_address", Help: "connect to a server (default: be the server)", Set: getopt.Text(&c.server)},
		{Short: 'b', Arg: "bind_address", Help: "local address", Set: getopt.Text(&c.source)},
		{Short: 'f', Arg: "address_format", Help: "format of addresses: name, ip, ipv6 or gid", Set: c.lookup.SetFormat(&c.Program)},
		{Short: 'P', Arg: "port_space", Help: "port space: tcp or ib", Set: c.lookup.SetSpace(&c.Program, "tcp", "ib", rdmacm.PortSpaceIB)},
		{Short: 'c', Arg: "connections", Help: "number of connections (default 1)", Set: rdmacmutils.Atoi(&o.Connections)},
		{Short: 'C', Arg: "message_count", Help: "messages per connection and direction (default 10)", Set: rdmacmutils.Atoi(&o.Count)},
		{Short: 'S', Arg: "message_size", Help: "bytes of a message (default 100)", Set: rdmacmutils.Atoi(&o.Size)},
		{Short: 't', Arg: "type_of_service", Help: "type of service (client)", Set: rdmacmutils.Byte(&o.TOS)},
		{Short: 'p', Arg: "port_number", Help: "port (default 7471)", Set: getopt.Text(&c.port)},
		{Short: 'm', Help: "move the connections to a new event channel before the end", Set: getopt.True(&c.migrate)},
		{Short: 'a', Arg: "ack_timeout", Help: "timeout for acknowledgements: 4.096 us * 2^n", Set: rdmacmutils.Byte(&o.ACKTimeout)},
	}, c.run)
}

func (c *command) run(ctx context.Context) error {
	if c.options.Connections < 0 {
		c.Printf("cmatose: unable to allocate memory for test nodes\n")
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
	c.Printf("cmatose: starting server\n")
	local, err := c.lookup.Server(ctx, c.source, c.port)
	if err != nil {
		return c.LookupFailed("getrdmaaddr error", err)
	}
	s := c.session
	if err := s.Listen(local); err != nil {
		return c.Failed(err)
	}
	if err := s.Accept(ctx); err != nil {
		return c.Failed(err)
	}
	if s.Count != 0 {
		c.Printf("initiating data transfers\n")
		if err := s.Send(); err != nil {
			return c.Failed(err)
		}
		c.Printf("completing sends\n")
		if err := s.AwaitSends(ctx); err != nil {
			return c.Failed(err)
		}
		c.Printf("receiving data transfers\n")
		if err := s.AwaitReceives(ctx); err != nil {
			return c.Failed(err)
		}
		c.Printf("data transfers complete\n")
	}
	if err := c.move(); err != nil {
		return c.Failed(err)
	}
	c.Printf("cmatose: disconnecting\n")
	s.Disconnect()
	result = c.Failed(s.AwaitDisconnect(ctx))
	c.Printf("disconnected\n")
	return result
}

// move moves the connections to a new channel with -m.
func (c *command) move() error {
	if !c.migrate {
		return nil
	}
	c.Printf("migrating to new event channel\n")
	return c.session.Migrate()
}

func (c *command) connect(ctx context.Context) (result int) {
	c.Printf("cmatose: starting client\n")
	local, peer, err := c.lookup.Client(ctx, c.source, c.server, c.port)
	if err != nil {
		return c.LookupFailed("getaddrinfo error", err)
	}
	c.Printf("cmatose: connecting\n")
	s := c.session
	if result = c.Failed(s.Connect(ctx, local, peer)); result == 0 {
		result = c.exchange(ctx)
	}
	if result == 0 {
		if err := c.move(); err != nil {
			return c.Failed(err)
		}
	}
	if ended := c.Failed(s.AwaitDisconnect(ctx)); ended != 0 {
		return ended
	}
	return result
}

// exchange exchanges the messages of a client.
func (c *command) exchange(ctx context.Context) (result int) {
	s := c.session
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
	c.Printf("data transfers complete\n")
	return 0
}
