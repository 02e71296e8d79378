package rdmacmutils

import (
	"context"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/internal/tool/cm/exchange"
	"github.com/ibkit/ibkit/rdmacm"
)

// An Exchange is one call of ucmatose or udaddy.
type Exchange struct {
	Program
	Options        exchange.Options
	Lookup         Lookup
	Server, Source string // addresses
	Session        *exchange.Session
}

// NewExchange returns a call with the default options. prefix is in front of the lines that
// the program prints, space is the default port space.
func NewExchange(env *cmdutil.Env, prefix string, space rdmacm.PortSpace) *Exchange {
	return &Exchange{
		Program: Program{Env: env, Prefix: prefix}, Lookup: Lookup{Space: space},
		Options: exchange.Options{Connections: 1, Count: exchange.DefaultCount, Size: exchange.DefaultSize},
	}
}

// ExchangeTexts are the texts of the options in which the programs differ.
type ExchangeTexts struct {
	Action      string // of a client with the server: "connect to"
	Connections string // "connections"
	Space       string // name of the default port space
	OtherSpace  string
	OtherNumber rdmacm.PortSpace
}

// Common returns the options of both programs.
func (x *Exchange) Common(texts ExchangeTexts) []getopt.Option {
	o := &x.Options
	one := texts.Connections[:len(texts.Connections)-1]
	return []getopt.Option{
		{Short: 's', Arg: "server_address", Help: texts.Action + " a server (default: be the server)", Set: getopt.Text(&x.Server)},
		{Short: 'b', Arg: "bind_address", Help: "local address", Set: getopt.Text(&x.Source)},
		{Short: 'f', Arg: "address_format", Help: "format of addresses: name, ip, ipv6 or gid", Set: x.Lookup.SetFormat(&x.Program)},
		{
			Short: 'P', Arg: "port_space", Help: "port space: " + texts.Space + " or " + texts.OtherSpace,
			Set: x.Lookup.SetSpace(&x.Program, texts.Space, texts.OtherSpace, texts.OtherNumber),
		},
		{Short: 'c', Arg: "connections", Help: "number of " + texts.Connections + " (default 1)", Set: Atoi(&o.Connections)},
		{Short: 'C', Arg: "message_count", Help: "messages per " + one + " and direction (default 10)", Set: Atoi(&o.Count)},
		{Short: 'S', Arg: "message_size", Help: "bytes of a message (default 100)", Set: Atoi(&o.Size)},
		{Short: 't', Arg: "type_of_service", Help: "type of service (client)", Set: Byte(&o.TOS)},
	}
}

// Run opens the session and calls connect if there is a server, otherwise serve.
func (x *Exchange) Run(ctx context.Context, connect, serve func(context.Context) (result int)) error {
	if x.Options.Connections < 0 {
		x.Printf("%sunable to allocate memory for test nodes\n", x.Prefix)
		return Exit(1)
	}
	x.Options.Space, x.Options.Client = x.Lookup.Space, x.Server != ""
	var err error
	if x.Session, err = x.NewSession(x.Options); err != nil {
		return err
	}
	defer x.Session.Close()
	if x.Server != "" {
		return x.Finish(connect(ctx))
	}
	return x.Finish(serve(ctx))
}
