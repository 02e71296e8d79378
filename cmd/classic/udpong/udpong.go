// Package udpong implements udpong from librdmacm over UDP sockets.
package udpong

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/internal/tool/cm/udpong"
)

// command is a udpong call.
type command struct {
	rdmacmutils.Program
	server, source, port string
	buffer               int
	custom               bool
	test                 udpong.Test
	sockets              bool
}

// New returns udpong.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Program: rdmacmutils.Program{Env: env}, port: "7174", test: udpong.Test{Size: 1000, Count: 1000}}
	return c.Tool("udpong", "measure round trips and rates of datagrams over sockets", map[byte]string{
		'T': "[-T test_option]\n\t    s|sockets - use standard tcp/ip sockets\n\t    a|async - asynchronous operation (use poll)\n" +
			"\t    b|blocking - use blocking calls\n\t    n|nonblocking - use nonblocking calls\n\t    e|echo - server echoes all messages",
	}, []getopt.Option{
		{Short: 's', Arg: "server_address", Help: "send to a server (default: be the server)", Set: getopt.Text(&c.server)},
		{Short: 'b', Arg: "bind_address", Help: "local address (server)", Set: getopt.Text(&c.source)},
		{Short: 'B', Arg: "buffer_size", Help: "buffers of the socket in bytes (default 524288)", Set: rdmacmutils.Atoi(&c.buffer)},
		{Short: 'C', Arg: "transfer_count", Help: "run one test with so many messages", Set: c.setCustom(&c.test.Count)},
		{Short: 'S', Arg: "transfer_size", Help: "run one test with messages of so many bytes", Set: c.setSize},
		{Short: 'p', Arg: "port_number", Help: "port (default 7174)", Set: getopt.Text(&c.port)},
		{Short: 'T', Arg: "test_option", Help: "s: UDP sockets (required), e: round trips, a, b, n: no effect", Set: c.setOption},
	}, c.run)
}

// setCustom stores a single test's parameter.
func (c *command) setCustom(to *int) func(string) error {
	return func(value string) error {
		c.custom = true
		return rdmacmutils.Atoi(to)(value)
	}
}

func (c *command) setSize(value string) error {
	if err := c.setCustom(&c.test.Size)(value); err != nil {
		return err
	}
	if c.test.Size < udpong.MinSize {
		c.Printf("size must be at least %d bytes\n", udpong.MinSize)
		return rdmacmutils.Exit(1)
	}
	return nil
}

// setOption sets an option by its letter, or by a name that the value begins with. How
// the program waits has no effect: Go's runtime always polls.
func (c *command) setOption(value string) error {
	for name, set := range map[string]func(){
		"socket": func() { c.sockets = true }, "echo": func() { c.test.Echo = true },
		"async": func() {}, "block": func() {}, "nonblock": func() {},
	} {
		if value == name[:1] || len(value) > 1 && strings.HasPrefix(strings.ToLower(value), name) {
			set()
			return nil
		}
	}
	return getopt.ErrUsage
}

// errSockets is the error for tests over rsockets.
var errSockets = cmdutil.WithHint(errors.New("use rsockets: not supported"), "-T s uses UDP sockets; udaddy sends datagrams over RDMA")

func (c *command) run(ctx context.Context) error {
	if !c.sockets {
		return errSockets
	}
	if c.server != "" {
		return rdmacmutils.Exit(c.connect(ctx))
	}
	return rdmacmutils.Exit(c.serve(ctx))
}

// resolve returns a host's address, by default a local address.
func (c *command) resolve(ctx context.Context, host string) (netip.AddrPort, error) {
	port, err := rdmacmutils.LookupPort(ctx, c.port)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if host == "" {
		return netip.AddrPortFrom(netip.IPv6Loopback(), port), nil
	}
	ip, err := rdmacmutils.LookupHost(ctx, host, false)
	return netip.AddrPortFrom(ip, port), err
}

// failed prints an error and returns the program's result.
func (c *command) failed(err error) (result int) {
	if e, ok := errors.AsType[*udpong.SocketError](err); ok {
		c.Perror(e.Op, e.Err)
	} else {
		cmdutil.PrintError(c.Env, "udpong", err)
	}
	return -1
}

func (c *command) serve(ctx context.Context) (result int) {
	local, err := c.resolve(ctx, c.source)
	if err != nil {
		return c.LookupFailed("getaddrinfo", err)
	}
	if err := udpong.Serve(ctx, local, c.buffer, func(client netip.Addr) { c.Printf("client login from %v\n", client) }); err != nil {
		return c.failed(err)
	}
	return 0
}

func (c *command) connect(ctx context.Context) (result int) {
	c.Printf("%-10s%-8s%-8s%-8s%8s %10s%13s\n", "name", "bytes", "xfers", "total", "time", "Gb/sec", "usec/xfer")
	server, err := c.resolve(ctx, c.server)
	if err != nil {
		return c.LookupFailed("getaddrinfo", err)
	}
	client, err := udpong.Dial(server, c.buffer)
	if err != nil {
		return c.failed(err)
	}
	defer client.Close()
	if c.custom {
		c.measure(client, "custom", c.test)
		return 0
	}
	for _, size := range sizes {
		c.measure(client, sizeText(size)+"_lat", udpong.Test{Size: size, Count: count(size) / 10, Echo: true})
	}
	for _, size := range sizes {
		c.measure(client, sizeText(size)+"_bw", udpong.Test{Size: size, Count: count(size)})
	}
	return 0
}

// sizes are the message sizes in tests without -C and -S.
var sizes = []int{64, 128, 192, 256, 384, 512, 768, 1024, 1536}

// count returns the message count in a rate test.
func count(size int) int {
	if size >= 1024 {
		return 10000
	}
	return 100000
}

// measure runs a test and prints its line. A failed test does not end the program.
func (c *command) measure(client *udpong.Client, name string, t udpong.Test) {
	r, err := client.Run(t)
	if err != nil {
		c.failed(err)
		return
	}
	micro := float64(r.Elapsed.Nanoseconds()) / 1000
	bytes := r.Transfers * t.Size
	c.Printf("%-10s%-8s%-8s%-8s%8.2fs%10.2f%11.2f\n", name, sizeText(t.Size), countText(r.Transfers), sizeText(bytes),
		micro/1e6, float64(bytes*8)/(1000*micro), micro/float64(r.Transfers))
}

// sizeText returns a byte count as librdmacm programs print it.
func sizeText(n int) string {
	base, unit := 1, ""
	switch {
	case n >= 1<<30:
		base, unit = 1<<30, "g"
	case n >= 1<<20:
		base, unit = 1<<20, "m"
	case n >= 1<<10:
		base, unit = 1<<10, "k"
	}
	if tenths := n % base * 10 / base; n/base < 10 && tenths > 0 {
		return fmt.Sprintf("%d.%d%s", n/base, tenths, unit)
	}
	return fmt.Sprintf("%d%s", n/base, unit)
}

// countText returns a message count as librdmacm programs print it.
func countText(n int) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%db", n/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%dm", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%dk", n/1e3)
	}
	return fmt.Sprint(n)
}
