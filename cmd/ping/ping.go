// Package ping is the command that pings InfiniBand and RoCE ports.
package ping

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ping"
)

// command is one call of ping.
type command struct {
	env         *cmdutil.Env
	fabric      fabricflag.Flags
	via         string
	oui         uint32
	count       int
	interval    time.Duration
	flood       bool
	deadline    time.Duration
	size        int
	pattern     string
	guids       bool
	routes      bool
	allCAs      bool
	allSwitches bool
	file        string
	expect      string
	rate        float64 // of --serve too
	limits      limits
	view        view
	serve       server
	mesh        meshProbe

	auto    bool
	agent   ping.Agent // unless auto
	options ping.Options
	finder  finder
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "ping [flags] TARGET...",
		Short: "Ping InfiniBand and RoCE ports and measure round-trip times",
		Long: strings.TrimSpace(`
ping sends probes to all targets concurrently, and reports the result of each
probe. A TARGET is

  7, 4-9               a LID, or a range of them
  0x0002c90300fed671   the GUID of a port, or of a node with all its ports
  0,1,3                a directed route, for --via sma
  fe80::2:c903:fed671  a GID
  192.0.2.7            an IP address, over RoCE or over IP over InfiniBand
  node05, 'node05[1]'  a node, or a port of it, by its name in the node name
                       map, its description, or the first word of that
  'leaf*'              all nodes with a matching name

The prefixes lid:, guid:, route:, gid:, ip: and name: select the kind of
address.

Every InfiniBand port has management agents that reply. A ping server (ibkit
ping --serve, or ibping -S) must be started on the target host; over RoCE, only
a ping server replies. Each probe is sent once: a probe without a reply in time
is lost. The exit code is 3 if probes of a target are lost (see --max-loss).

With --mesh, each host pings a few others, at --rate probes per second in all
(10 by default), until interrupted. The hosts calculate their targets from the
same forwarding tables, so that together they cover each pair of leaf switches
and each directed link between switches (ibkit mesh plan --schedule cover).
InfiniBand ports reply by themselves (--via pma). Over RoCE (--hosts-file), each
host also needs ibkit ping --serve. From the results of all hosts, ibkit mesh
analyze and ibkit exporter --ping-hosts find the host or link that explains lost
and slow probes.`),
		Example: strings.Trim(`
  # five probes to one port
  ibkit ping 7

  # a range of LIDs, as a check: exit code 3 if more than 1 % is lost
  ibkit ping -c 100 -i 10ms --max-loss 1 1-64

  # check that every host responds
  ibkit ping --cas --via sma -c 3 -i 100ms -q

  # check that every host of a list responds, and name those that do not
  ibkit ping --cas --expect hosts.txt --via sma -c 3 -i 100ms -q

  # over RoCE, to a host that runs ibkit ping --serve
  ibkit ping -c 1000 -f --histogram 192.0.2.7

  # a port that runs ibping -S, without pauses
  ibkit ping --via vendor -f -c 10000 -q 7

  # targets from a file, each probe as JSON
  ibkit ping --targets-file hosts.txt --json-lines

  # answer pings, and show their sources
  ibkit ping --serve

  # a standing probe, which covers all leaf pairs and links with other hosts
  ibkit ping --mesh --from routes.tables --results /run/ibkit/pings.json`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.serve.on {
				return c.serve.run(cmd.Context(), cmd.Flags(), args)
			}
			if c.mesh.on {
				return c.mesh.run(cmd.Context(), cmd.Flags(), args)
			}
			targets, err := c.complete(cmd.Context(), cmd.Flags(), args)
			if err != nil {
				return err
			}
			return c.run(cmd.Context(), targets)
		},
	}
	c.define(cmd)
	cmdutil.CompleteOperands(env, cmd, fabricflag.NodeNames)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.EnumFlag(cmd, &c.via, "via", "auto", []string{"auto", "vendor", "sma", "pma"}, "`AGENT` that replies: ping server, subnet or performance management")
	flags.IntVarP(&c.count, "count", "c", 5, "send `N` probes to each target (0: until interrupted)")
	flags.DurationVarP(&c.interval, "interval", "i", time.Second, "`TIME` between probes to a target (0: like --flood)")
	flags.Float64Var(&c.rate, "rate", 0, "`N` probes per second and target, or replies per source (--serve)")
	flags.BoolVarP(&c.flood, "flood", "f", false, "send the next probe when the reply arrives")
	flags.DurationVarP(&c.deadline, "deadline", "w", 0, "stop after `TIME`, or earlier after --count probes")
	flags.IntVar(&c.size, "payload-size", 0, fmt.Sprintf("payload of `N` bytes, 0 to %d, verified if ibkit replies", ping.PayloadSize))
	flags.StringVar(&c.pattern, "payload", "", "payload: repeated bytes in `HEX` (default: 00 01 02 ...)")
	flags.BoolVarP(&c.guids, "Guid", "G", false, "parse all targets as port GUIDs")
	flags.BoolVar(&c.routes, "Direct", false, "parse all targets as directed routes")
	flags.StringVar(&c.file, "targets-file", "", "read more targets from `FILE`, one per line (-: standard input)")
	flags.StringVar(&c.expect, "expect", "", "ping the hosts in `FILE` too; exit with 3 if a host does not reply")
	flags.BoolVar(&c.allCAs, "cas", false, "ping all channel adapters of the fabric (by a scan)")
	flags.BoolVar(&c.allSwitches, "switches", false, "ping all switches of the fabric (by a scan)")
	flags.Uint32Var(&c.oui, "oui", ping.OUI, "`OUI` of ping servers")
	flags.Float64Var(&c.limits.loss, "max-loss", 0, "exit with 3 if a target loses more than `PERCENT` of probes (default 0)")
	flags.DurationVar(&c.limits.p99, "max-p99", 0, "exit with 3 if the 99th percentile of a target exceeds `TIME`")
	c.view.define(flags)
	c.serve = server{env: c.env, fabric: &c.fabric, oui: &c.oui, rate: &c.rate, asJSON: &c.view.json}
	c.serve.define(flags)
	c.mesh.command = c
	c.mesh.define(flags)
	c.fabric.SentOnce = true
	c.fabric.Define(c.env, cmd)
}

// run pings and prints.
func (c *command) run(ctx context.Context, targets []lookup.Address) (err error) {
	requests, stop := requestOnQuit()
	defer stop()
	c.options.StatusRequests = requests
	var isWanted func(*fabric.Node) bool
	if c.allCAs || c.allSwitches {
		isWanted = c.isWanted
	}
	f := &c.finder
	defer func() {
		if closed := f.close(); err == nil {
			err = closed
		}
	}()
	if err := f.open(ctx, targets, isWanted != nil); err != nil {
		return err
	}
	if err := f.find(ctx, targets, isWanted); err != nil {
		return err
	}
	failures := cmdutil.NewFailures(c.env, "ibkit ping", true)
	for _, u := range f.notFound {
		failures.Print(u.err)
	}
	c.fabric.PrintMissed(c.env, f.missed)
	if len(f.found) == 0 && len(f.expected) == 0 {
		return &cmdutil.ExitError{Code: failures.Code(), Err: errNoTargets(len(f.notFound))}
	}
	for _, g := range f.groups {
		if err := c.choose(ctx, g); err != nil {
			return err
		}
	}
	v := &c.view
	v.limits = c.limits
	v.begin(c.env, f, c.auto)
	c.options.Status = v.status
	if v.showsProbes() {
		c.options.Done, c.options.Idle = v.probe, v.idle
	}
	r, err := ping.RunGroups(ctx, f.pinged(), c.options)
	if shown := v.end(r); err == nil {
		err = shown
	}
	if c.fabric.Verbose > 0 {
		fmt.Fprintf(c.env.ErrOut, "ibkit ping: %d unexpected packets received\n", r.Stray)
	}
	c.fabric.PrintStats(c.env)
	if hasNoServer(r) {
		fmt.Fprintln(c.env.ErrOut, "hint: a ping server has to run on the target: ibkit ping --serve")
	}
	switch {
	case err != nil:
		return err
	case len(f.missing()) > 0: // also in a partial result
		return &cmdutil.ExitError{Code: cmdutil.ExitFindings}
	}
	return cmdutil.ResultError(v.isPartial(r), v.hasBad(r))
}

// hasNoServer reports whether all probes to a ping server were lost or refused: without
// one, the kernel refuses them if it can reply.
func hasNoServer(r *ping.Result) bool {
	return slices.ContainsFunc(r.Targets, func(t *ping.Target) bool {
		return t.Agent == ping.AgentServer && t.Stats.Received == 0 && t.Stats.Lost+t.Stats.Refused > 0
	})
}

func errNoTargets(notFound int) error {
	if notFound > 0 {
		return nil // each error is printed
	}
	return fmt.Errorf("find targets: the scan found none")
}

func (c *command) isWanted(n *fabric.Node) bool {
	return c.allCAs && n.IsCA() || c.allSwitches && n.IsSwitch()
}

// choose selects the agent of each target of a port.
func (c *command) choose(ctx context.Context, g *group) (err error) {
	var servers []*ping.Target
	oneWay := false
	for _, t := range g.Targets {
		byRoute := t.GRH == nil && t.To.IsDirected()
		t.Agent = c.agent
		switch {
		case c.auto && byRoute:
			t.Agent = ping.AgentSMA
		case c.auto:
			servers = append(servers, t)
		case t.GRH != nil && c.agent == ping.AgentSMA:
			return cmdutil.UsageErrorf("%s is reached over RoCE, which has no subnet management: use --via vendor", t.Name)
		case t.OneWay && c.agent == ping.AgentPMA:
			return cmdutil.UsageErrorf("%s is reached by IPv4 addresses, for which Linux drops the replies of agents: use --via vendor, or an IPv6 GID", t.Name)
		}
		oneWay = oneWay || t.OneWay
	}
	if oneWay {
		if g.Answer, err = ping.ListenForAnswers(g.Port, c.oui); err != nil {
			return err
		}
	}
	if len(servers) == 0 {
		return nil
	}
	o := c.options
	o.Answer = g.Answer
	return ping.Detect(ctx, g.Port, servers, o)
}

// requestOnQuit returns a channel that receives a value at each SIGQUIT until stop is
// called.
func requestOnQuit() (requests <-chan struct{}, stop func()) {
	signals := make(chan os.Signal, 1)
	requested := make(chan struct{}, 1)
	signal.Notify(signals, syscall.SIGQUIT)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range signals {
			select {
			case requested <- struct{}{}:
			default: // a value is waiting
			}
		}
	}()
	return requested, func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}
