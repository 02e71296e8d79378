// Package cmtime implements cmtime from librdmacm, with three protocols: that of release 44,
// with -m, -n or -q that of releases 52 to 58, in which server and client synchronize over TCP,
// and with -C that of release 65, in which any number of peers does.
package cmtime

import (
	"context"
	"errors"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/internal/tool/cm/timing"
	"github.com/ibkit/ibkit/rdmacm"
)

// command is a cmtime call.
type command struct {
	rdmacmutils.Program
	server, source, port          string
	connections, retries, timeout int

	group group // with -C
}

// New returns cmtime.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Program: rdmacmutils.Program{Env: env}, port: "7471", connections: 100, retries: 2, timeout: 2000}
	c.group = group{threads: 1, peers: 2, baseQPN: 1000}
	g := &c.group
	return c.Tool("cmtime", "measure the steps of many connections", usageLines, []getopt.Option{
		{Short: 'B', Arg: "bind_interface", Help: "local network device, with -C", Set: c.setInterface},
		{Short: 'b', Arg: "bind_address", Help: "local address", Set: c.setSource},
		{Short: 'C', Arg: "controller_address", Help: "address of the peer that synchronizes all peers", Set: getopt.Text(&g.controller)},
		{Short: 'c', Arg: "connections", Help: "number of connections, with -C for each listener (default 100)", Set: rdmacmutils.Atoi(&c.connections)},
		{Short: 'L', Help: "listen, with -C (default: connect to all listeners)", Set: getopt.True(&g.listens)},
		{Short: 'm', Arg: "mimic_qp_delay_us", Help: "simulate queue pairs by a delay of each call", Set: g.setDelay},
		{Short: 'n', Arg: "num_threads", Help: "number of threads (default 1)", Set: g.number(&g.threads)},
		{Short: 'P', Arg: "num_peers", Help: "number of all peers, with -C (default 2)", Set: g.setPeers},
		{Short: 'p', Arg: "port_number", Help: "port, with -C of the controller (default 7471)", Set: getopt.Text(&c.port)},
		{Short: 'q', Arg: "base_qpn", Help: "first number of simulated queue pairs (default 1000)", Set: g.number(&g.baseQPN)},
		{Short: 'r', Arg: "retries", Help: "retries of a step, without -C also of the queue pairs (default 2)", Set: rdmacmutils.Atoi(&c.retries)},
		{Short: 'S', Arg: "any", Help: "socket test: not supported", Set: getopt.Text(&g.sockets)},
		{Short: 't', Arg: "timeout_ms", Help: "timeout of address and route (default 2000)", Set: rdmacmutils.Atoi(&c.timeout)},
		{Short: 's', Arg: "server_address", Help: "connect to a server, without -C (default: be the server)", Set: getopt.Text(&c.server), Unlisted: true},
	}, c.run)
}

// setSource sets the local address, which can be given once with -C.
func (c *command) setSource(value string) error {
	c.group.sources++
	c.source = value
	return nil
}

func (c *command) run(ctx context.Context) error {
	switch g := &c.group; {
	case g.sockets != "":
		return errors.New("-S: a test of TCP sockets is not supported")
	case g.controller != "":
		return c.runGroup(ctx)
	case g.listens, g.device != "", g.several:
		return getopt.ErrUsage
	case g.pair:
		return c.runPair(ctx)
	case c.server == "":
		return c.serve(ctx)
	}
	o := timing.Options{
		Connections: max(c.connections, 0), Timeout: time.Duration(c.timeout) * time.Millisecond, Retries: c.retries,
		Begin: func(text string) { c.Printf("%s\n", text) }, Warn: c.Warn,
	}
	client, err := timing.New(o)
	if err != nil {
		return c.NoChannel(err)
	}
	result := c.measure(ctx, client)
	times, err := client.Close()
	c.show(times)
	if err != nil {
		return err
	}
	return rdmacmutils.Exit(result)
}

// measure connects to the server. It returns the program's result.
func (c *command) measure(ctx context.Context, client *timing.Client) (result int) {
	var err error
	client.Local, client.Peer, err = rdmacmutils.Lookup{Space: rdmacm.PortSpaceTCP}.Client(ctx, c.source, c.server, c.port)
	if err != nil {
		return c.LookupFailed("getaddrinfo error", err)
	}
	return client.Run(ctx)
}

// noTime is the minimum time for a step that no connection has completed, in
// microseconds.
const noTime float32 = 999999999

// show prints the times.
func (c *command) show(times []timing.Times) {
	micro := func(d time.Duration) float32 { return float32(d.Nanoseconds()) / 1000 }
	c.Printf("step              total ms     max ms     min us  us / conn\n")
	for _, t := range times {
		if t.Step == timing.StepBind && c.source == "" {
			continue
		}
		least := noTime
		if t.Min >= 0 {
			least = micro(t.Min)
		}
		c.Printf("%-13v: %11.2f%11.2f%11.2f%11.2f\n", t.Step, micro(t.Total)/1000, micro(t.Max)/1000, least, micro(t.Total)/float32(c.connections))
	}
}

func (c *command) serve(ctx context.Context) error {
	s, err := timing.NewServer(c.Warn)
	if err != nil {
		return c.NoChannel(err)
	}
	defer s.Close()
	local, err := rdmacmutils.Lookup{Space: rdmacm.PortSpaceTCP}.Server(ctx, c.source, c.port)
	if err != nil {
		return rdmacmutils.Exit(c.LookupFailed("getrdmaaddr error", err))
	}
	return rdmacmutils.Exit(c.Failed(s.Serve(ctx, local)))
}
