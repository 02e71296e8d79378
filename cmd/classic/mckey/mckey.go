// Package mckey implements mckey from librdmacm.
package mckey

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/cm/exchange"
	"github.com/ibkit/ibkit/rdmacm"
)

// command is an mckey call.
type command struct {
	rdmacmutils.Program
	options         exchange.Options
	group, source   string
	native          bool // the group is a GID
	sender          bool
	sendOnly, block bool
	session         *exchange.Session
}

// New returns mckey.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{
		Program: rdmacmutils.Program{Env: env, Prefix: "mckey: "},
		options: exchange.Options{Client: true, Space: rdmacm.PortSpaceUDP, Datagrams: true, Connections: 1, Count: exchange.DefaultCount, Size: exchange.DefaultSize},
	}
	o := &c.options
	return c.Tool("mckey", "send datagrams to a multicast group, or receive them", map[byte]string{
		'm': "-m multicast_address", 'M': "[-M unmapped_multicast_address]\n\t replaces -m and requires -b", 's': "[-s(ender)]",
		'p': rdmacmutils.SpaceLine, 'o': "[-o join as a send-only full-member]", 'l': "[-l join without multicast loopback]",
	}, []getopt.Option{
		{Short: 'm', Arg: "multicast_address", Help: "IP address of the group", Set: getopt.Text(&c.group)},
		{Short: 'M', Arg: "unmapped_multicast_address", Help: "GID of the group (with -b)", Set: func(value string) error {
			c.group, c.native = value, true
			return nil
		}},
		{Short: 's', Help: "send to the group (default: receive)", Set: getopt.True(&c.sender)},
		{Short: 'b', Arg: "bind_address", Help: "local address", Set: getopt.Text(&c.source)},
		{Short: 'c', Arg: "connections", Help: "number of queue pairs (default 1)", Set: rdmacmutils.Atoi(&o.Connections)},
		{Short: 'C', Arg: "message_count", Help: "messages per queue pair (default 10)", Set: rdmacmutils.Atoi(&o.Count)},
		{Short: 'S', Arg: "message_size", Help: "bytes of a message (default 100)", Set: rdmacmutils.Atoi(&o.Size)},
		{Short: 'p', Arg: "port_space", Help: "port space as a number: 0x111 for UDP, 0x2 for IPoIB", Set: rdmacmutils.Space(&o.Space)},
		{Short: 'o', Help: "join as a member that only sends", Set: getopt.True(&c.sendOnly)},
		{Short: 'l', Help: "do not receive own messages", Set: getopt.True(&c.block)},
	}, c.run)
}

func (c *command) run(ctx context.Context) error {
	switch {
	case c.native && c.source == "":
		c.Printf("unmapped multicast address requires binding to source address\n")
		return rdmacmutils.Exit(1)
	case c.options.Connections < 0:
		c.Printf("mckey: unable to allocate memory for test nodes\n")
		return rdmacmutils.Exit(1)
	}
	var err error
	if c.session, err = c.NewSession(c.options); err != nil {
		return err
	}
	defer c.session.Close()
	return c.Finish(c.join(ctx))
}

// resolve returns a host's address without a port.
func (c *command) resolve(ctx context.Context, host string) (rdmacm.Addr, int) {
	ip, err := rdmacmutils.LookupHost(ctx, host, false)
	if err != nil {
		c.Printf("getaddrinfo failed (%v) - invalid hostname or IP address\n", err)
		e, _ := errors.AsType[*rdmacmutils.LookupError](err)
		return nil, e.Code
	}
	return rdmacm.IPAddr{AddrPort: netip.AddrPortFrom(ip, 0)}, 0
}

// membership returns the group's parameters.
func (c *command) membership(ctx context.Context) (m exchange.Membership, result int) {
	if c.source != "" {
		if m.Local, result = c.resolve(ctx, c.source); result != 0 {
			return m, result
		}
	}
	if c.native {
		gid, _ := ib.ParseGID(c.group) // as the original, the zero GID if it is invalid
		m.Group = rdmacm.IBAddr{GID: gid}
	} else if m.Group, result = c.resolve(ctx, c.group); result != 0 {
		return m, result
	}
	if c.sendOnly {
		m.Mode = rdmacm.JoinSendOnly
	}
	m.Send, m.BlockLoopback, m.Joined = c.sender, c.block, func(d *rdmacm.Datagram) {
		c.Printf("mckey: joined dgid: %v mlid 0x%x sl %d\n", ib.GIDFrom(d.Path.DGID), uint16(d.Path.DLID), d.Path.SL)
	}
	m.Changed = func(e rdmacm.Event) { c.Printf("mckey: event: %v, status: %d\n", e.Type, e.Status) }
	return m, 0
}

// pause is the time for the subnet manager to configure the switches.
const pause = 3 * time.Second

func (c *command) join(ctx context.Context) (result int) {
	role := "server"
	if c.sender {
		role = "client"
	}
	c.Printf("mckey: starting %s\n", role)
	m, result := c.membership(ctx)
	if result != 0 {
		return result
	}
	c.Printf("mckey: joining\n")
	leave, err := c.session.Join(ctx, m)
	result = c.Failed(err)
	if !leave {
		return result
	}
	if result == 0 {
		c.transfer(ctx)
	}
	// The last step determines the result.
	return c.Failed(c.session.Leave())
}

// transfer sends or receives the messages.
func (c *command) transfer(ctx context.Context) {
	time.Sleep(pause)
	s := c.session
	if s.Count == 0 {
		return
	}
	var err error
	if c.sender {
		c.Printf("initiating data transfers\n")
		if err = s.Send(); err == nil {
			err = s.AwaitSends(ctx)
		}
	} else {
		c.Printf("receiving data transfers\n")
		err = s.AwaitReceives(ctx)
	}
	if err != nil {
		c.Failed(err)
		return
	}
	c.Printf("data transfers complete\n")
}
