// Package ibping implements ibping from infiniband-diags.
package ibping

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/umad"
)

// command is an ibping call.
type command struct {
	*getopt.Diag
	count  uint32
	flood  bool
	oui    uint32
	server bool

	to   umad.Target
	host string // name in the first reply
}

// New returns ibping.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibping"), count: math.MaxUint32, oui: ping.OUI}
	return &getopt.Tool{
		Name: "ibping", Family: getopt.InfinibandDiags, Operands: "<dest lid|guid>",
		Options: append([]getopt.Option{
			{Long: "count", Short: 'c', Arg: "<num>", Help: "stop after count packets", Set: func(value string) error {
				c.count = uint32(getopt.Strtol(value))
				return nil
			}},
			{Long: "flood", Short: 'f', Help: "flood destination", Set: getopt.True(&c.flood)},
			{Long: "oui", Short: 'o', Arg: "<val>", Help: "use specified OUI number", Set: func(value string) error {
				c.oui = uint32(getopt.Strtol(value)) & (1<<24 - 1)
				return nil
			}},
			{Long: "Server", Short: 'S', Help: "start in server mode", Set: getopt.True(&c.server)},
		}, c.Options("DKy")...),
		Run: c.run,
	}
}

func (c *command) run(ctx context.Context, operands []string) error {
	if len(operands) == 0 && !c.server {
		return getopt.ErrUsage
	}
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	if c.server {
		return c.serve(ctx)
	}
	return c.ping(ctx, operands[0])
}

// classicAttempts is libibmad's attempt count for a request without a reply.
const classicAttempts = 3

// ping pings a port until the count is reached or a signal arrives, and prints the
// C tool's summary. Lost pings are not a failure.
func (c *command) ping(ctx context.Context, operand string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	port, err := c.OpenPort(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	client := umad.NewClient(port, c.Client(c.Env))
	if c.to, err = c.Destination(ctx, client, operand); err != nil {
		return err
	}
	requests := c.Client(c.Env)
	o := ping.Options{
		OUI: c.oui, Count: int(c.count), Interval: time.Second,
		Timeout: requests.Timeout, Attempts: classicAttempts, Trace: requests.Trace, Done: c.show,
	}
	if c.flood {
		o.Interval = 0
	}
	r, err := ping.Run(ctx, port, []*ping.Target{{To: c.to, PKeyIndex: c.PKeyIndex}}, o)
	c.report(r)
	return err
}

// show prints a single ping.
func (c *command) show(probe *ping.Probe) {
	switch probe.Outcome {
	case ping.Late, ping.Duplicated:
		return // the C tool does not see them
	case ping.Received:
	default:
		fmt.Fprintf(c.Env.ErrOut, "ibping: %s\n", probe.Reason())
		return
	}
	host := render.Printable(probe.Host)
	if c.host == "" {
		c.host = host
	}
	if !c.flood {
		fmt.Fprintf(c.Env.Out, "Pong from %s (%v): time %s ms\n", host, c.to, milliseconds(probe.RTT))
	}
}

// report prints the summary.
func (c *command) report(r *ping.Result) {
	s := &r.Total
	lost := s.Bad()
	percent := 0
	if lost > 0 {
		percent = lost * 100 / s.Sent
	}
	fmt.Fprintf(c.Env.Out, "\n--- %s (%v) ibping statistics ---\n", c.host, c.to)
	fmt.Fprintf(c.Env.Out, "%d packets transmitted, %d received, %d%% packet loss, time %d ms\n",
		s.Sent, s.Received, percent, r.Duration.Milliseconds())
	fmt.Fprintf(c.Env.Out, "rtt min/avg/max = %s/%s/%s ms\n", milliseconds(s.Min), milliseconds(s.Avg()), milliseconds(s.Max))
}

// milliseconds writes a time as ibping does, with three decimals.
func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 3, 64)
}

// serve answers pings until a signal arrives, which ends the C tool. ibkit detaches
// from a simulator before it ends.
func (c *command) serve(ctx context.Context) error {
	ctx, ended := getopt.UntilSignal(ctx)
	o := ping.ServeOptions{OUI: c.oui}
	if c.Debug > 0 {
		o.Log = slog.New(slog.NewTextHandler(c.Env.ErrOut, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	open := c.Open
	if c.Sim == fabricflag.Ibsim {
		open = fabricflag.OpenResponder(c.Env)
	}
	_, err := ping.NewServer(o).ServeAll(ctx, ping.ServePorts{
		List: func() ([]ping.ServePort, error) { return []ping.ServePort{{Open: open}}, nil },
		Notify: func(_ string, _ umad.PortAttr, err error) {
			// Scripts wait for this line.
			if err == nil && c.Debug > 0 {
				fmt.Fprintf(c.Env.Out, "ibdebug: [%d] ibping_serv: starting to serve...\n", os.Getpid())
			}
		},
	})
	return ended(err)
}
