package cmd

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/umad"
)

// pingCommand is one call of ping.
type pingCommand struct {
	env      *environment
	fabric   fabricFlags
	via      string
	oui      uint32
	count    int
	interval time.Duration
	flood    bool
	byGUID   bool
	quiet    bool
	maxLoss  float64
	maxP99   time.Duration
	serve    pingServe

	options ping.Options
	names   *fabric.NameMap
	smLID   uint16
}

func newPing(env *environment, _ dialect) *cobra.Command {
	c := &pingCommand{env: env}
	cmd := &cobra.Command{
		Use:   "ping [flags] TARGET...",
		Short: "Ask ports for a sign of life and measure how long it takes",
		Long: strings.TrimSpace(`
ping sends probes to ports, all at once, and shows what became of them. A TARGET
is a LID, a range of LIDs such as 4-9, or with -G the GUID of a port.

Every port answers by its management agents; a ping server has to be started on
the host. A probe is sent once: what is not answered in time is lost.`),
		Example: strings.Trim(`
  # five probes to one port
  ibkit ping 7

  # a range of LIDs, as a check: exit code 3 if more than 1 % is lost
  ibkit ping -c 100 -i 10ms --max-loss 1 1-64

  # ports that run ibping -S, without a pause
  ibkit ping --via vendor -f -c 10000 -q 7

  # answer the pings of others, and show who sent some
  ibkit ping --serve`, "\n"),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.serve.on {
				return c.serve.run(cmd.Context(), cmd.Flags(), args)
			}
			targets, err := c.resolve(cmd.Context(), cmd.Flags(), args)
			if err != nil {
				return err
			}
			return c.run(cmd.Context(), targets)
		},
	}
	c.define(cmd.Flags())
	return cmd
}

func (c *pingCommand) define(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&c.via, "via", "sma", "which `AGENT` answers: sma (subnet management), pma (performance management) or vendor (a ping server)")
	flags.Uint32Var(&c.oui, "oui", ping.OUI, "with --via vendor: `OUI` of the ping server")
	flags.IntVarP(&c.count, "count", "c", 5, "send `N` probes to each target; 0: until interrupted")
	flags.DurationVarP(&c.interval, "interval", "i", time.Second, "`TIME` from one probe to a target to the next")
	flags.BoolVarP(&c.flood, "flood", "f", false, "send the next probe as soon as the reply is in")
	flags.BoolVarP(&c.byGUID, "Guid", "G", false, "targets are GUIDs of ports, which subnet administration is asked about")
	flags.BoolVarP(&c.quiet, "quiet", "q", false, "show no probes, but what became of them")
	flags.Float64Var(&c.maxLoss, "max-loss", 0, "exit with 3 if a target loses more than `PERCENT` of its probes")
	flags.DurationVar(&c.maxP99, "max-p99", 0, "exit with 3 if more than 1 % of a target's replies take longer than `TIME`")
	c.serve = pingServe{env: c.env, fabric: &c.fabric, oui: &c.oui}
	c.serve.define(flags)
	c.fabric.define(flags)
	abbreviate(flags)
}

var pingRules = flagRules{
	clashes: []clash{{[]string{"flood"}, []string{"interval"}}},
	needs:   []need{{[]string{"rate", "debug", "json"}, []string{"serve"}}},
}

// resolve checks what the command line says, before anything is sent.
func (c *pingCommand) resolve(ctx context.Context, flags *pflag.FlagSet, args []string) (targets []pingTarget, err error) {
	if err := pingRules.check(flags); err != nil {
		return nil, err
	}
	if err := c.fabric.resolve(ctx, c.env, native); err != nil {
		return nil, err
	}
	c.options = ping.Options{OUI: c.oui, Count: c.count, Interval: c.interval, Done: c.show}
	if c.options.Via, err = ping.ParseVia(c.via); err != nil {
		return nil, &usageError{err}
	}
	switch {
	case flags.Changed("oui") && c.options.Via != ping.ViaVendor:
		return nil, usageErrorf("--oui does nothing without --via vendor")
	case c.oui >= 1<<24:
		return nil, usageErrorf("invalid OUI 0x%x: it has 24 bits", c.oui)
	case c.count < 0:
		return nil, usageErrorf("invalid number of probes: %d", c.count)
	case c.interval <= 0:
		return nil, usageErrorf("invalid interval %v: --flood leaves no time between probes", c.interval)
	case math.IsNaN(c.maxLoss) || c.maxLoss < 0 || c.maxLoss > 100:
		return nil, usageErrorf("invalid loss %v: not from 0 to 100 percent", c.maxLoss)
	case c.maxP99 < 0 || c.maxP99 == 0 && flags.Changed("max-p99"):
		return nil, usageErrorf("invalid round trip: %v", c.maxP99)
	}
	if c.flood {
		c.options.Interval = 0
	}
	if c.count == 0 {
		c.options.Count = -1
	}
	if c.smLID, err = c.fabric.lidOfSM(); err != nil {
		return nil, err
	}
	if c.names, err = c.fabric.names(c.env); err != nil {
		return nil, err
	}
	return parsePingTargets(args, c.byGUID)
}

func (c *pingCommand) run(ctx context.Context, targets []pingTarget) (err error) {
	port, err := c.fabric.open(c.env)(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if closed := port.Close(); err == nil {
			err = closed
		}
	}()
	o := c.fabric.client(c.env)
	finder := umad.NewClient(port, o)
	for i := range targets {
		if err := targets[i].find(ctx, finder, c.smLID); err != nil {
			return err
		}
	}
	o.Attempts = 1
	pinged := make([]*ping.Target, len(targets))
	for i, t := range targets {
		pinged[i] = &ping.Target{To: umad.Target{LID: t.lid}, Name: t.name}
	}
	r, err := ping.Run(ctx, umad.NewClient(port, o), pinged, c.options)
	if code := c.summarize(r); err == nil {
		err = code
	}
	return err
}

// show prints one probe.
func (c *pingCommand) show(p *ping.Probe) {
	if c.quiet {
		return
	}
	if p.Err != nil {
		fmt.Fprintf(c.env.out, "%s: seq=%d %v\n", p.Target.Name, p.Seq, p.Err)
		return
	}
	who := printable(p.Host)
	if p.Node != 0 {
		who = c.names.NameOf(p.Node, mad.NewNodeDescription(fmt.Sprintf("0x%016x", p.Node)))
	}
	if who != "" {
		who = " from " + who
	}
	fmt.Fprintf(c.env.out, "%s: seq=%d time=%v%s\n", p.Target.Name, p.Seq, p.RTT, who)
}

// printable is what a server calls itself, safe for a terminal.
func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, string(b))
}

// summarize prints the account and returns the outcome.
func (c *pingCommand) summarize(r *ping.Result) error {
	bad := false
	for _, t := range r.Targets {
		s := &t.Stats
		c.account(t.Name, s)
		bad = bad || s.Loss()*100 > c.maxLoss || c.maxP99 > 0 && s.Quantile(99) > c.maxP99
	}
	if len(r.Targets) > 1 {
		c.account("total", &r.Total)
	}
	return outcomeOf(false, bad)
}

func (c *pingCommand) account(name string, s *ping.Stats) {
	fmt.Fprintf(c.env.out, "%s: %d sent, %d received, %d lost, %d refused, %d corrupted, %.4g%% loss\n",
		name, s.Sent, s.Received, s.Lost, s.Refused, s.Corrupted, 100*s.Loss())
	if s.Received > 0 {
		fmt.Fprintf(c.env.out, "%s: min %v, avg %v, median %v, p90 %v, p99 %v, p99.9 %v, max %v, stddev %v, jitter %v\n", name,
			s.Min, s.Avg(), s.Quantile(50), s.Quantile(90), s.Quantile(99), s.Quantile(99.9), s.Max, s.StdDev(), s.Jitter())
	}
}
