package cmtime

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/internal/tool/cm/peers"
	"github.com/ibkit/ibkit/rdmacm"
)

// group has the options of release 65, and of releases 52 to 58, which have some of them.
type group struct {
	controller, device, sockets string
	sources                     int // how often a local address is given
	listens, simulated          bool
	threads, peers, baseQPN     int
	delay                       int // microseconds

	several bool // -P is given
	pair    bool // an option is given that selects releases 52 to 58 without -C
}

// number sets a number that releases 52 to 58 have, too.
func (g *group) number(to *int) func(string) error {
	return func(value string) error {
		g.pair = true
		return rdmacmutils.Atoi(to)(value)
	}
}

// usageLines are the usage lines of release 65.
var usageLines = map[byte]string{
	'B': "-B bind_interface (only one of -B or -b accepted)",
	'b': "-b bind_address (only one of -B or -b accepted)",
	'C': "-C controller_address",
	'c': "[-c num_conns] connections per listener",
	'L': "[-L] run as listening server",
	'm': "[-m mimic_qp_delay_us]",
	'n': "[-n num_threads]",
	'P': "[-P num_peers] total number of peers",
	'p': "[-p oob_port]",
	'q': "[-q base_qpn]",
	'S': "[-S] run socket baseline test, 2 peers only",
}

func (c *command) setInterface(name string) error {
	c.group.sources++
	c.group.device = name
	return nil
}

func (g *group) setDelay(value string) error {
	g.simulated = true
	return g.number(&g.delay)(value)
}

func (g *group) setPeers(value string) error {
	g.several = true
	if g.peers = int(uint32(getopt.Atoi(value))); g.peers < 2 {
		return getopt.ErrUsage
	}
	return nil
}

// maxPeers and maxConnections limit the memory of a test.
const (
	maxPeers       = 1 << 16
	maxConnections = 1 << 20
)

// runGroup runs a peer's side of a test.
func (c *command) runGroup(ctx context.Context) error {
	g := &c.group
	switch {
	case g.sources != 1:
		return getopt.ErrUsage
	case c.server != "":
		return errors.New("-s and -C are the options of different releases")
	}
	local, err := c.local(ctx)
	if err != nil {
		return err
	}
	host, err := rdmacmutils.LookupHost(ctx, g.controller, false)
	if err != nil {
		return rdmacmutils.Exit(c.LookupFailed("getaddrinfo error", err))
	}
	return c.runPeer(ctx, peers.Options{
		Local: local, Controller: net.JoinHostPort(host.String(), c.port), Peers: g.peers, Listens: g.listens, Show: c.showRound("conn"),
	})
}

// runPair runs a side of a test with the protocol of releases 52 to 58.
func (c *command) runPair(ctx context.Context) (err error) {
	o := peers.Options{Peers: 2, Listens: c.server == "", Show: c.showRound("iter")}
	lookup := rdmacmutils.Lookup{Space: rdmacm.PortSpaceTCP}
	var server rdmacm.Addr
	if o.Listens {
		server, err = lookup.Server(ctx, c.source, c.port)
		o.Local = server
	} else {
		o.Local, server, err = lookup.Client(ctx, c.source, c.server, c.port)
	}
	if err != nil {
		return rdmacmutils.Exit(c.LookupFailed("rdma_getaddrinfo error", err))
	}
	o.Server = server.(rdmacm.IPAddr).AddrPort // not a native address
	return c.runPeer(ctx, o)
}

// runPeer runs a peer with the options that all these releases have.
func (c *command) runPeer(ctx context.Context, o peers.Options) error {
	g := &c.group
	if g.peers > maxPeers || c.connections < 1 || c.connections > maxConnections || g.threads < 1 {
		return fmt.Errorf("%d peers, %d connections, %d threads: not supported", g.peers, c.connections, g.threads)
	}
	o.Count, o.Threads, o.Timeout, o.Retries = c.connections, g.threads, time.Duration(c.timeout)*time.Millisecond, c.retries
	o.Simulated, o.Delay, o.BaseQPN = g.simulated, time.Duration(g.delay)*time.Microsecond, uint32(g.baseQPN)
	o.Print = c.Printf
	return rdmacmutils.Exit(c.Failed(peers.Run(ctx, o)))
}

// local returns the local address: that of -b, or the first of the network device of -B.
func (c *command) local(ctx context.Context) (rdmacm.Addr, error) {
	if c.group.device == "" {
		local, err := rdmacmutils.Lookup{Space: rdmacm.PortSpaceTCP}.Server(ctx, c.source, "0")
		if err != nil {
			return nil, rdmacmutils.Exit(c.LookupFailed("rdma_getaddrinfo", err))
		}
		return local, nil
	}
	ip, err := firstAddress(c.group.device)
	if err != nil {
		fmt.Fprintf(c.Env.ErrOut, "Failed to find IP address for interface: %s\n", c.group.device)
		return nil, rdmacmutils.Exit(1)
	}
	c.Printf("Picking source address %s for interface %s\n", ip.WithZone(""), c.group.device)
	return rdmacm.IPAddr{AddrPort: netip.AddrPortFrom(ip, 0)}, nil
}

// firstAddress returns the first address of a network device, an IPv4 address if it has any.
func firstAddress(device string) (netip.Addr, error) {
	i, err := net.InterfaceByName(device)
	if err != nil {
		return netip.Addr{}, err
	}
	all, err := i.Addrs()
	if err != nil {
		return netip.Addr{}, err
	}
	var found netip.Addr
	for _, a := range all {
		p, err := netip.ParsePrefix(a.String())
		switch {
		case err != nil:
		case p.Addr().Is4():
			return p.Addr(), nil
		case !found.IsValid():
			if found = p.Addr(); found.IsLinkLocalUnicast() {
				found = found.WithZone(device)
			}
		}
	}
	if !found.IsValid() {
		return found, errors.New("no address")
	}
	return found, nil
}

// showRound returns a function that prints the times of a round (show_perf in cmtime.c), with
// the name of the first column.
func (c *command) showRound(per string) func(peers.Round) {
	return func(r peers.Round) {
		kind := "cm_conn"
		if r.QueuePairs {
			kind = "qp_conn"
		}
		c.Printf("%s        %10d\nthreads        %10d\n", kind, r.Count, r.Threads)
		c.Printf("step             avg/%s  total(us)    us/conn    sum(us)    max(us)    min(us)\n", per)
		n := int64(r.Count)
		for _, t := range r.Times {
			c.Printf("%-13v  %10d %10d %10d %10d %10d %10d\n", t.Step, t.Total/n, t.Total, t.Sum/n, t.Sum, t.Max, t.Min)
		}
	}
}
