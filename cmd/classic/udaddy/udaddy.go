// Package udaddy implements udaddy from librdmacm.
package udaddy

import (
	"context"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/rdmacm"
)

// command is a udaddy call.
type command struct{ *rdmacmutils.Exchange }

// port is the udaddy port, which has no option.
const port = "7174"

// New returns udaddy.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{rdmacmutils.NewExchange(env, "udaddy: ", rdmacm.PortSpaceUDP)}
	c.Options.Datagrams = true
	options := c.Common(rdmacmutils.ExchangeTexts{
		Action: "send to", Connections: "queue pairs", Space: "udp", OtherSpace: "ipoib", OtherNumber: rdmacm.PortSpaceIPoIB,
	})
	return c.Tool("udaddy", "exchange datagrams with a server", map[byte]string{
		'f': "[-f address_format]\n\t    name, ip, ipv6, or gid", 'P': "[-P port_space]\n\t    udp or ipoib", 'p': rdmacmutils.SpaceLine,
	}, append(options,
		getopt.Option{Short: 'p', Arg: "port_space", Help: "port space as a number: 0x111 for UDP, 0x2 for IPoIB", Set: rdmacmutils.Space(&c.Lookup.Space)},
	), func(ctx context.Context) error { return c.Run(ctx, c.connect, c.serve) })
}

func (c *command) serve(ctx context.Context) (result int) {
	c.Printf("udaddy: starting server\n")
	local, err := c.Lookup.Server(ctx, c.Source, port)
	if err != nil {
		return c.LookupFailed("getrdmaaddr error", err)
	}
	s := c.Session
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
	local, peer, err := c.Lookup.Client(ctx, c.Source, c.Server, port)
	if err != nil {
		return c.LookupFailed("getaddrinfo error", err)
	}
	c.Printf("udaddy: connecting\n")
	s := c.Session
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
