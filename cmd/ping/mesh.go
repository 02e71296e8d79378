package ping

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/standing"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/report"
)

// fromSweep is the source of the fabric without a file.
const fromSweep = "sweep"

// Defaults of a standing probe.
const (
	defaultMeshRate   = 10 // probes per second
	defaultMeshWindow = time.Minute
	defaultMeshPairs  = 2
	maxMeshPairs      = 64
	maxMeshPaths      = 64
)

// meshProbe is one call of ping --mesh.
type meshProbe struct {
	*command

	on      bool
	from    string
	hosts   string
	results string
	pairs   int
	paths   int
	window  time.Duration

	plan      *mesh.Probes
	self      meshHost
	peers     []mesh.ProbedPort
	byTarget  map[*ping.Target]int
	recorder  *standing.Recorder
	last      *standing.Document
	unwritten string // last error of the results file, which is not repeated
}

func (p *meshProbe) define(flags *pflag.FlagSet) {
	flags.BoolVar(&p.on, "mesh", false, "ping a few hosts all the time, which cover all leaf pairs and links")
	flags.StringVar(&p.from, "from", fromSweep, "`SOURCE` of the fabric of --mesh: sweep (a scan), a file with tables")
	flags.StringVar(&p.hosts, "hosts-file", "", "hosts of --mesh in `FILE`: ADDRESS, or ADDRESS and its leaf switch")
	flags.StringVar(&p.results, "results", "", "write each window of --mesh to `FILE`, for ibkit exporter --pings")
	flags.IntVar(&p.pairs, "pairs", defaultMeshPairs, "let `N` pairs of --mesh cover each leaf pair and link")
	flags.IntVar(&p.paths, "paths", 1, "use `N` flow labels per host of --hosts-file, for ECMP paths")
	flags.DurationVar(&p.window, "window", defaultMeshWindow, "`TIME` of the figures of --mesh")
}

// meshFlags are the flags that apply to --mesh.
var meshFlags = map[string]bool{
	"mesh": true, "from": true, "hosts-file": true, "results": true, "pairs": true, "paths": true, "window": true,
	"rate": true, "deadline": true, "via": true, "oui": true, "json-lines": true, "quiet": true, "help": true,
	"sim": true, "sim-model": true, "sim-events": true, "config": true, "node-name-map": true, "Ca": true, "Port": true, "timeout": true,
	"m-key": true, "outstanding-smps": true, "verbose": true,
}

// check validates the flags of a call with --mesh.
func (p *meshProbe) check(ctx context.Context, flags *pflag.FlagSet, args []string) error {
	if err := cmdutil.CheckMode(flags, "mesh", meshFlags); err != nil {
		return err
	}
	switch {
	case len(args) > 0:
		return cmdutil.UsageErrorf("unexpected argument %q: --mesh selects the hosts", args[0])
	case p.window <= 0:
		return cmdutil.UsageErrorf("invalid --window %v: want a time above 0", p.window)
	case p.pairs < 1 || p.pairs > maxMeshPairs:
		return cmdutil.UsageErrorf("invalid --pairs %d: want 1 to %d", p.pairs, maxMeshPairs)
	case p.paths < 1 || p.paths > maxMeshPaths:
		return cmdutil.UsageErrorf("invalid --paths %d: want 1 to %d", p.paths, maxMeshPaths)
	case flags.Changed("from") && p.hosts != "":
		return cmdutil.UsageErrorf("--from and --hosts-file are mutually exclusive")
	case p.from == "" || p.from == "sa":
		return cmdutil.UsageErrorf("invalid --from %q: want sweep or a file with forwarding tables", p.from)
	case p.paths > 1 && p.hosts == "":
		return cmdutil.UsageErrorf("--paths requires --hosts-file: an InfiniBand path follows from the LID")
	case p.via == "auto" && p.hosts == "":
		p.via = ping.AgentPMA.String() // in each port, so that all replies take as long
	case p.via == "auto":
		p.via = ping.AgentServer.String()
	}
	if !flags.Changed("rate") {
		p.rate = defaultMeshRate
	}
	return p.completeOptions(ctx, flags)
}

// run pings until ctx ends.
func (p *meshProbe) run(ctx context.Context, flags *pflag.FlagSet, args []string) (err error) {
	if err := p.check(ctx, flags, args); err != nil {
		return err
	}
	f := &p.finder
	defer func() {
		if closed := f.close(); err == nil {
			err = closed
		}
	}()
	if p.hosts != "" {
		err = p.findHosts(ctx)
	} else {
		err = p.findFabric(ctx)
	}
	if err != nil {
		return err
	}
	failures := cmdutil.NewFailures(p.env, "ibkit ping", true)
	for _, u := range f.notFound {
		failures.Print(u.err)
	}
	if len(f.found) == 0 {
		if len(f.notFound) == 0 {
			return fmt.Errorf("find targets: %s is the only host", p.self.name)
		}
		return &cmdutil.ExitError{Code: failures.Code()}
	}
	for _, g := range f.groups {
		if err := p.choose(ctx, g); err != nil {
			return err
		}
	}
	return p.ping(ctx)
}

// ping pings the peers at equal intervals, so that all of them together have the rate.
func (p *meshProbe) ping(ctx context.Context) error {
	f, o := &p.finder, p.options
	p.state()
	o.Count, o.Interval, o.Done = -1, time.Duration(float64(len(f.found))/p.rate*float64(time.Second)), p.done
	if p.results != "" {
		if err := fileout.Check(p.results); err != nil {
			return err
		}
	}
	p.recorder = standing.New(standing.Options{
		Source: p.self.name, Leaf: p.self.leaf, Peers: p.peers, Window: p.window, Rate: p.rate, Start: time.Now(),
	})
	if err := cmdutil.NotifyReady(p.env.Getenv); err != nil {
		cmdutil.PrintError(p.env, "ibkit ping", err)
	}
	_, err := ping.RunGroups(ctx, f.pinged(), o)
	p.publish(p.recorder.End(time.Now()))
	if err != nil {
		return err
	}
	return cmdutil.ResultError(len(f.notFound) > 0, p.last.Lost() > 0)
}

// state prints coverage and load.
func (p *meshProbe) state() {
	c, n := p.plan.Coverage, len(p.finder.found)
	text := ""
	if c.LeafPairs > 0 {
		text = fmt.Sprintf(" cover %d of %s of leaf switches and %d of %s that routing uses",
			c.UsedLeafPairs, plural.Count(c.LeafPairs, "pair", "pairs"), c.Used, plural.Count(p.plan.UsedLinks(), "directed link", "directed links"))
	}
	every := time.Duration(float64(n) / p.rate * float64(time.Second))
	fmt.Fprintf(p.env.ErrOut, "%s of %s%s; %s pings %s, each every %v: at most %g packets per second, and as many replies\n",
		plural.Count(p.plan.Flows, "pair", "pairs"), plural.Count(p.plan.Members, "host port", "host ports"), text,
		p.self.name, plural.Count(n, "target", "targets"), every.Round(time.Millisecond), p.rate)
	if most := time.Duration(float64(p.plan.Rounds*p.paths) / p.rate * float64(time.Second)); most > time.Minute {
		fmt.Fprintf(p.env.ErrOut, "warning: at this rate a host needs %v for all its targets, not a minute: --rate %.0f\n", most.Round(time.Second), float64(p.plan.Rounds*p.paths)/60+0.5)
	}
}

// done records a probe.
func (p *meshProbe) done(probe *ping.Probe) {
	p.publish(p.recorder.Add(p.byTarget[probe.Target], probe.Outcome, probe.RTT, time.Now()))
}

// publish prints a window, and writes it to the file.
func (p *meshProbe) publish(d *standing.Document) {
	if d == nil {
		return
	}
	p.last = d
	for _, u := range p.finder.notFound {
		d.Fail(report.Failure{Subject: u.text, Error: u.err.Error()})
	}
	out := render.NewOutput(p.env.Out)
	switch {
	case p.view.jsonLines:
		render.WriteLine(out, d)
	case !p.view.quiet:
		printWindow(out, d)
	}
	err := out.Flush()
	if p.results != "" && err == nil {
		err = fileout.Write(p.results, func(w io.Writer) error {
			_, err := w.Write(append(render.MustMarshal(d), '\n'))
			return err
		})
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != p.unwritten && err != nil {
		cmdutil.PrintError(p.env, "ibkit ping", err)
	}
	p.unwritten = text
}

// printWindow prints a line for a window, and a line for each peer that lost probes.
func printWindow(out *render.Output, d *standing.Document) {
	lost := d.Lost()
	fmt.Fprintf(out, "%s  %.0f s  %s  %d sent  %d lost\n", d.Began.Format(render.TimeFormat), d.Seconds, plural.Count(d.Peers, "peer", "peers"), d.Sent(), lost)
	for _, f := range d.Flows {
		if *f.Lost > 0 {
			fmt.Fprintf(out, "  %s: %d of %d lost\n", f.Destination, *f.Lost, *f.Sent)
		}
	}
}
