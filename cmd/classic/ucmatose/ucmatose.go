// Package ucmatose implements ucmatose from librdmacm.
package ucmatose

import (
	"context"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/rdmacm"
)

// command is a ucmatose call.
type command struct {
	*rdmacmutils.Exchange
	port    string
	migrate bool
}

// New returns ucmatose.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{rdmacmutils.NewExchange(env, "cmatose: ", rdmacm.PortSpaceTCP), "7471", false}
	c.Options.Param = rdmacm.ConnParam{ResponderResources: 1, InitiatorDepth: 1, RetryCount: 5}
	options := c.Common(rdmacmutils.ExchangeTexts{
		Action: "connect to", Connections: "connections", Space: "tcp", OtherSpace: "ib", OtherNumber: rdmacm.PortSpaceIB,
	})
	return c.Tool("ucmatose", "connect to a server several times and exchange messages", map[byte]string{
		'f': "[-f address_format]\n\t    name, ip, ipv6, or gid", 'P': "[-P port_space]\n\t    tcp or ib", 'm': "[-m(igrate)]",
	}, append(options,
		getopt.Option{Short: 'p', Arg: "port_number", Help: "port (default 7471)", Set: getopt.Text(&c.port)},
		getopt.Option{Short: 'm', Help: "move the connections to a new event channel before the end", Set: getopt.True(&c.migrate)},
		getopt.Option{Short: 'a', Arg: "ack_timeout", Help: "timeout for acknowledgements: 4.096 us * 2^n", Set: rdmacmutils.Byte(&c.Options.ACKTimeout)},
	), func(ctx context.Context) error { return c.Run(ctx, c.connect, c.serve) })
}

func (c *command) serve(ctx context.Context) (result int) {
	c.Printf("cmatose: starting server\n")
	local, err := c.Lookup.Server(ctx, c.Source, c.port)
	if err != nil {
		return c.LookupFailed("getrdmaaddr error", err)
	}
	s := c.Session
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
	return c.Session.Migrate()
}

func (c *command) connect(ctx context.Context) (result int) {
	c.Printf("cmatose: starting client\n")
	local, peer, err := c.Lookup.Client(ctx, c.Source, c.Server, c.port)
	if err != nil {
		return c.LookupFailed("getaddrinfo error", err)
	}
	c.Printf("cmatose: connecting\n")
	s := c.Session
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

// exchange exchanges a client's messages.
func (c *command) exchange(ctx context.Context) (result int) {
	s := c.Session
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
