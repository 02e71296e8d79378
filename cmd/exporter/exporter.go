// Package exporter is the command that exports metrics for Prometheus.
package exporter

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/limits"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/exporter"
	"github.com/ibkit/ibkit/internal/tool/page"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/umad"
)

// defaultListen is the port of treydock's exporter, on loopback.
const defaultListen = "127.0.0.1:9315"

// command is one call of exporter.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	listen    []string
	webConfig string
	textfile  string
	once      bool
	noPage    bool
	plan      string

	names     exporter.Names
	local     bool
	all       bool
	phy       bool
	pings     []string
	pingHosts string
	vendorKey string
	details   []string
	interval  time.Duration
	limit     time.Duration
	maxAge    time.Duration
	limits    limits.Flags
	selection fabricflag.Selection

	// Derived from the flags.
	options  exporter.Options
	exporter *exporter.Exporter
	page     *page.Page // nil: not served

	// The last reports, which are not repeated.
	mu        sync.Mutex // guards missing: an abandoned sweep may end during another
	missing   string
	unwritten string
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "exporter [flags]",
		Short: "Export metrics of a fabric for Prometheus, and serve pages of it",
		Long: strings.TrimSpace(`
exporter sweeps the fabric on its own schedule: it scans the nodes, reads all
counters, and compares them with those of the sweep before. Scrapes return the
metrics of the last sweep and its age; they send no packets. A node that does
not respond costs its own timeouts; its failures are metrics, too.

It also serves pages of the fabric at /: problems, links with rates, nodes,
events and paths, and JSON documents below /api/. --no-page switches them off.

By default, metrics and labels have the names of treydock's and SckyzO's
infiniband_exporter, so their dashboards and rules work. Metrics that start with
ibkit_ have findings, rates of links compared with the best that both support,
forward error correction, and the sweep itself. With --phy, metrics that start
with mlxlink_ have modules, light and bit error rates, as mlxlink_exporter.

Without other flags it listens on 127.0.0.1:9315. TLS and authentication are
configured by a file as for other exporters of Prometheus (--web-config).

--pings exports the results of ibkit ping --mesh on this host, --ping-hosts
judges the results of all hosts in a file, as ibkit mesh analyze does.

SIGHUP makes it read its files again: names, thresholds, configuration, keys
and the plan.

With --local it exports the counters that the kernel reports of the ports of
this host, with the names of node_exporter, and sends no packets.`),
		Example: strings.Trim(`
  # serve http://127.0.0.1:9315/metrics, and pages at http://127.0.0.1:9315/
  ibkit exporter

  # on all addresses, with TLS and authentication
  ibkit exporter --listen :9315 --web-config /etc/ibkit/web.yml

  # for the textfile collector of node_exporter, every minute
  ibkit exporter --textfile /var/lib/prometheus/node-exporter/ibkit.prom

  # show the metrics of one sweep
  ibkit exporter --once

  # the counters of this host, without access to the fabric
  ibkit exporter --local --once`, "\n"),
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	return cmd
}

// detailSets are the values of --detail-counters.
var detailSets = map[string]counters.DetailSet{
	"errors":   counters.RcvErrorDetails,
	"discards": counters.XmitDiscardDetails,
	"fec":      counters.FECDetails,
	"none":     0,
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&c.listen, "listen", nil, "serve metrics at `ADDRESS`: HOST:PORT (default "+defaultListen+")")
	flags.StringVar(&c.webConfig, "web-config", "", "read TLS and authentication from `FILE`")
	flags.BoolVar(&c.noPage, "no-page", false, "serve the metrics alone, without web pages")
	flags.StringVar(&c.plan, "plan", "", "show differences to the cabling plan in `FILE` on the pages")
	flags.StringVar(&c.textfile, "textfile", "", "write the metrics of each sweep to `FILE`")
	flags.BoolVar(&c.once, "once", false, "sweep once and print the metrics, or write them (--textfile)")
	cmdutil.EnumFlag(cmd, &c.names, "names", exporter.Treydock, exporter.AllNames, "`NAMES` of metrics")
	flags.BoolVar(&c.all, "all-metrics", false, "also export metrics that no published dashboard uses")
	flags.BoolVar(&c.phy, "phy", false, "also read modules, light, bit error rates and fans, as ibkit phy")
	flags.StringSliceVar(&c.pings, "pings", nil, "export standing probes: `PATTERN` of files of ibkit ping --mesh")
	flags.StringVar(&c.pingHosts, "ping-hosts", "", "judge standing probes of the exporters in `FILE`: HOST:PORT or a URL")
	flags.StringVar(&c.vendorKey, "vs-key", "", "vendor key of requests: a `KEY`, @FILE or - (prompt)")
	flags.BoolVar(&c.local, "local", false, "export the kernel's counters of this host (implies --names node)")
	cmdutil.EnumListFlag(cmd, &c.details, "detail-counters", []string{"fec", "errors", "discards", "none"}, "read a `LIST` of details of every port (default fec)")
	flags.DurationVar(&c.interval, "interval", exporter.DefaultInterval, "begin a sweep after each `TIME`")
	flags.DurationVar(&c.limit, "sweep-timeout", exporter.DefaultTimeout, "abandon a sweep after `TIME`")
	flags.DurationVar(&c.maxAge, "max-age", 0, "stop exporting a sweep after `TIME` (default: 5 intervals and a timeout)")
	c.limits.Define(flags)
	c.selection.Define(c.env, cmd, "export")
	c.fabric.Define(c.env, cmd)
}

// rules are the relations between the flags.
var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"once"}, Others: []string{"listen", "web-config", "interval", "max-age", "no-page", "plan"}},
		{Flags: []string{"no-page"}, Others: []string{"plan"}},
	},
	Needs: []cmdutil.Need{{Flags: []string{"vs-key"}, Others: []string{"phy"}}},
}

// fabricOnly are the flags without an effect on the ports of this host.
var fabricOnly = []string{
	"all-metrics", "phy", "vs-key", "detail-counters", "threshold-file", "max-wait", "node", "switches", "cas", "routers",
	"sim", "sim-model", "sim-events", "timeout", "sm-port", "m-key", "outstanding-smps", "errors", "node-name-map",
	"no-page", "plan",
}

// complete checks the flags and derives the options.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if c.local && flags.Changed("names") && c.names != exporter.Node {
		return cmdutil.UsageErrorf("--local has the names of node_exporter, and excludes --names %s", c.names)
	}
	if c.local {
		c.names = exporter.Node
	}
	c.local = c.names == exporter.Node
	if other := cmdutil.Given(flags, fabricOnly); c.local && other != "" {
		return cmdutil.UsageErrorf("the ports of this host (--local, --names node) and %s are mutually exclusive", other)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"interval", c.interval}, {"sweep-timeout", c.limit}, {"max-age", c.maxAge}} {
		if flags.Changed(d.name) && d.value <= 0 {
			return cmdutil.UsageErrorf("invalid --%s %v: want a time above 0", d.name, d.value)
		}
	}
	if c.listen == nil && c.textfile == "" {
		c.listen = []string{defaultListen}
	}
	if c.plan != "" && len(c.listen) == 0 {
		return cmdutil.UsageErrorf("--plan has no effect without --listen")
	}
	if c.webConfig != "" && len(c.listen) == 0 {
		return cmdutil.UsageErrorf("--web-config has no effect without --listen")
	}
	for _, a := range c.listen {
		if _, _, err := net.SplitHostPort(a); err != nil {
			return cmdutil.UsageErrorf("invalid --listen %q: want HOST:PORT, for example 127.0.0.1:9315", a)
		}
	}
	if err := exporter.CheckPings(c.pings, c.pingHosts); err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	if err := exporter.CheckWebConfig(c.webConfig); err != nil {
		return cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, "the form of Prometheus exporters, with tls_server_config and basic_auth_users")
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return err
	}
	if c.options.VendorKey, err = fabricflag.OptionalKey(ctx, c.env, "vendor key", c.vendorKey); err != nil {
		return err
	}
	return c.completeOptions()
}

// completeOptions derives the options of the exporter.
func (c *command) completeOptions() (err error) {
	o := &c.options
	o.Names, o.Interval, o.Timeout, o.MaxAge = c.names, c.interval, c.limit, c.maxAge
	o.Version, o.Commit = buildinfo.Version(), buildinfo.Commit()
	o.Log = slog.New(slog.NewTextHandler(c.env.ErrOut, &slog.HandlerOptions{Level: slog.LevelWarn}))
	o.PHY, o.Pings, o.PingHosts = c.phy, c.pings, c.pingHosts
	o.Swept, o.AllMetrics, o.Textfile = c.swept, c.all, c.textfile != ""
	o.TextOnly = c.once || len(c.listen) == 0
	if !o.TextOnly && !c.local && !c.noPage {
		c.page = page.New(page.Options{Interval: c.interval, Version: o.Version, NextStep: c.env.NextStep, Visit: c.visit})
		o.Observe, o.Pages, o.Streams = c.page.Swept, c.page, page.MaxStreams
	}
	if c.local {
		o.Local = exporter.LocalOptions{Sysfs: c.env.Sysfs(), Device: c.fabric.Device, Port: int(c.fabric.Port)}
		return nil
	}
	if c.details == nil {
		c.details = []string{"fec"}
	}
	if len(c.details) > 1 && slices.Contains(c.details, "none") {
		return cmdutil.UsageErrorf("invalid --detail-counters: none and other details are mutually exclusive")
	}
	for _, d := range c.details {
		o.Fabric.DetailsOf |= detailSets[d]
	}
	return c.readFiles(&c.fabric.Settings, o)
}

// readFiles reads the files of the options of sweeps. settings are those of the fabric.
func (c *command) readFiles(settings *fabricflag.Settings, o *exporter.Options) (err error) {
	names, err := settings.Names(c.env)
	if err != nil {
		return err
	}
	f := &o.Fabric
	f.Source = settings.Source(c.env)
	if f.Limits, err = c.limits.Limits(c.env); err != nil {
		return err
	}
	if err := c.readPlan(); err != nil {
		return err
	}
	o.NodeNames = names
	o.CheckNodes = func(f *fabric.Fabric, nodes []*fabric.Node) error { return c.checkNodes(f, nodes, names) }
	f.Want, f.AfterScan, err = c.selection.Want(names)
	return err
}

// readPlan reads the cabling plan, and prints its damage.
func (c *command) readPlan() error {
	if c.plan == "" || c.page == nil {
		return nil
	}
	plan, err := topology.ReadPlan(c.plan)
	if err != nil {
		return &cmdutil.UsageError{Err: cmdutil.WithFileHint(err, cmdutil.PlanHint)}
	}
	c.fabric.PrintFailed(c.env, plan.Damage)
	c.page.SetPlan(plan)
	return nil
}

// checkNodes returns an error for a pattern or a type that matches no node, with --once.
// Otherwise it prints a warning, once: the node may join the fabric later.
func (c *command) checkNodes(f *fabric.Fabric, nodes []*fabric.Node, names *fabric.NameMap) error {
	err := c.selection.Missing(f, nodes, names)
	if c.once {
		return err
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if text != c.missing && err != nil {
		cmdutil.PrintError(c.env, "warning", err)
	}
	c.missing = text
	return nil
}

// run sweeps until ctx ends, or once.
func (c *command) run(ctx context.Context) error {
	defer c.fabric.PrintStats(c.env)
	c.exporter = exporter.New(c.options)
	if c.textfile != "" {
		if err := fileout.Check(c.textfile); err != nil {
			return err
		}
	}
	if c.once {
		return c.runOnce(ctx)
	}
	listeners, err := exporter.Listen(ctx, c.listen)
	if err != nil {
		return cmdutil.WithHint(err, "select another address: --listen HOST:PORT")
	}
	hangups, release := interrupt.Hangups()
	defer release()
	for _, l := range listeners {
		fmt.Fprintf(c.env.ErrOut, "serving metrics at %v%s\n", l.Addr(), c.more(l.Addr()))
	}
	if err := cmdutil.NotifyReady(c.env.Getenv); err != nil {
		cmdutil.PrintError(c.env, "ibkit exporter", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() {
		if len(listeners) == 0 {
			served <- nil
			return
		}
		defer cancel()
		served <- c.exporter.Serve(ctx, listeners, c.webConfig)
	}()
	go c.reloadOn(ctx, hangups)
	_ = c.exporter.Run(ctx) // the error of ctx
	return <-served
}

// more names the responses of the server besides the metrics.
func (c *command) more(at net.Addr) string {
	switch {
	case c.page == nil:
		return ""
	case c.webConfig == "":
		return fmt.Sprintf(" with pages at http://%v/", at)
	}
	return " with pages at /"
}

// visit queries the fabric between two sweeps.
func (c *command) visit(ctx context.Context, do func(context.Context, *umad.Client) error) error {
	return c.exporter.Visit(ctx, do)
}

// runOnce sweeps once and prints the metrics, or writes them.
func (c *command) runOnce(ctx context.Context) error {
	if err := c.exporter.Sweep(ctx); err != nil {
		return fabricflag.WithHint(err)
	}
	if blind := c.exporter.Blind(); blind != nil {
		cmdutil.PrintError(c.env, "warning", blind)
	}
	if err := c.write(); err != nil {
		return err
	}
	c.fabric.PrintFailed(c.env, c.exporter.Failures())
	return cmdutil.ResultError(c.exporter.Partial(), false)
}

// write writes the metrics to the text file, or prints them.
func (c *command) write() error {
	if c.textfile != "" {
		return fileout.Write(c.textfile, c.exporter.WriteText)
	}
	out := render.NewOutput(c.env.Out)
	if err := c.exporter.WriteText(out); err != nil {
		return err
	}
	return out.Flush()
}

// swept writes the text file after a sweep, or after one that failed: the age and the
// result are metrics, too. It prints an error that differs from the last one, and counts all.
func (c *command) swept(failed error) {
	if c.page != nil {
		c.page.Failed(failed)
	}
	if c.textfile == "" {
		return
	}
	err := c.write()
	text := ""
	if err != nil {
		c.exporter.CountWriteError()
		text = err.Error()
	}
	switch {
	case text == c.unwritten:
	case err != nil:
		cmdutil.PrintError(c.env, "ibkit exporter", err)
	default:
		fmt.Fprintf(c.env.ErrOut, "writing metrics to %s again\n", c.textfile)
	}
	c.unwritten = text
}
