package perf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
)

// serverFlags are the flags of perf --serve.
type serverFlags struct {
	env           *cmdutil.Env
	on            bool
	listen        string
	allow         []string
	maxClients    int
	maxQueuePairs int
	maxMemory     string
	maxTime       time.Duration
	idle          time.Duration
}

func (s *serverFlags) define(flags *pflag.FlagSet) {
	defaults := perf.DefaultServeOptions()
	flags.BoolVar(&s.on, "serve", false, "serve the tests of clients until interrupted")
	flags.StringVar(&s.listen, "bind", ":"+strconv.Itoa(perf.Port), "with --serve: `ADDRESS` and TCP port to listen on")
	flags.StringSliceVar(&s.allow, "allow", nil, "with --serve: serve only `NETWORKS` such as 10.0.0.0/8,fe80::/10")
	flags.IntVar(&s.maxClients, "max-clients", defaults.MaxClients, "with --serve: maximum `NUMBER` of clients at the same time")
	flags.IntVar(&s.maxQueuePairs, "max-qps", defaults.MaxQueuePairs, "with --serve: maximum `NUMBER` of queue pairs per test")
	flags.StringVar(&s.maxMemory, "max-memory", "1G", "with --serve: maximum `BYTES` of memory per test, with queues")
	flags.DurationVar(&s.maxTime, "max-time", defaults.MaxTime, "with --serve: maximum `TIME` of a test, with warm-up")
	flags.DurationVar(&s.idle, "idle", defaults.Idle, "with --serve: maximum `TIME` of inactivity of a client")
}

// serverFlagNames are the flags that --serve accepts. All others are those of a client.
var serverFlagNames = map[string]bool{
	"serve": true, "bind": true, "allow": true, "max-clients": true, "max-qps": true, "max-memory": true, "max-time": true,
	"idle": true, "device": true, "ib-port": true, "gid-index": true, "cpu": true, "memory": true, "help": true,
}

// options converts the command line.
func (s *serverFlags) options(c *command, flags *pflag.FlagSet, args []string) (perf.ServeOptions, error) {
	if err := cmdutil.CutLocalPort(flags, "device", "ib-port", &c.flags.device, &c.flags.port); err != nil {
		return perf.ServeOptions{}, err
	}
	o := perf.ServeOptions{
		Identity: host.NewIdentity("ibkit " + buildinfo.Version()), Device: c.flags.device, Port: c.flags.port, GIDIndex: c.flags.gidIndex,
		MaxClients: s.maxClients, MaxQueuePairs: s.maxQueuePairs, MaxTime: s.maxTime, Idle: s.idle, Report: s.report,
	}
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		if !serverFlagNames[f.Name] && wrong == nil {
			wrong = cmdutil.UsageErrorf("%s has no effect with --serve: it is an option of the client", cmdutil.FlagName(flags, f.Name))
		}
	})
	switch {
	case wrong != nil:
		return o, wrong
	case len(args) > 0:
		return o, cmdutil.UsageErrorf("unexpected argument %q: --serve and a SERVER are mutually exclusive", args[0])
	case s.maxClients < 1:
		return o, cmdutil.UsageErrorf("invalid --max-clients %d: want at least 1", s.maxClients)
	case s.maxQueuePairs < 1:
		return o, cmdutil.UsageErrorf("invalid --max-qps %d: want at least 1", s.maxQueuePairs)
	case s.maxTime <= 0:
		return o, cmdutil.UsageErrorf("invalid --max-time %v: want a time above 0", s.maxTime)
	case s.idle <= 0:
		return o, cmdutil.UsageErrorf("invalid --idle %v: want a time above 0", s.idle)
	case flags.Changed("allow") && len(s.allow) == 0: // such as an unset variable
		return o, cmdutil.UsageErrorf("invalid --allow: the list is empty and would refuse all clients")
	}
	if err := errors.Join(c.flags.checkPort(flags), checkListen(s.listen)); err != nil {
		return o, err
	}
	var ok bool
	if o.MaxMemory, ok = cmdutil.ParseBytes(s.maxMemory, math.MaxInt); !ok {
		return o, cmdutil.UsageErrorf("invalid --max-memory %q: want a number of bytes such as 512M or 4G", s.maxMemory)
	}
	var err error
	if o.CPUs, err = parseCPUs(c.flags.cpus); err != nil {
		return o, &cmdutil.UsageError{Err: err}
	}
	if o.Memory, err = parseMemory(c.flags.memory); err != nil {
		return o, err
	}
	for _, text := range s.allow {
		p, err := parseNetwork(text)
		if err != nil {
			return o, &cmdutil.UsageError{Err: err}
		}
		o.Allow = append(o.Allow, p)
	}
	return o, nil
}

// parseNetwork parses a network or an address.
func parseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("invalid --allow %q: want an address or a network such as 10.0.0.0/8", text)
	}
	return p, nil
}

// run serves until ctx ends.
func (s *serverFlags) run(ctx context.Context, c *command, flags *pflag.FlagSet, args []string) error {
	o, err := s.options(c, flags, args)
	if err != nil {
		return err
	}
	server, err := perf.NewServer(o)
	if err != nil {
		return withHint(err)
	}
	l, err := listenAt(ctx, s.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.env.ErrOut, "serving tests at %v\n", l.Addr())
	if err := cmdutil.NotifyReady(s.env.Getenv); err != nil {
		cmdutil.PrintError(s.env, "ibkit perf", err)
	}
	return server.Serve(ctx, l)
}

// listenAt listens at an address of --bind.
func listenAt(ctx context.Context, at string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: another server may be running; --bind selects another port", err)
	}
	return l, err
}

// report prints an event. A line names the client once, by its address.
func (s *serverFlags) report(e perf.Event) {
	from := "ibkit perf"
	if e.Client.IsValid() {
		from = e.Client.String()
	}
	if e.Test != nil {
		from += ": " + strings.TrimSpace(e.Test.String())
	}
	var reported *perf.PeerError
	switch {
	case errors.As(e.Err, &reported):
		fmt.Fprintf(s.env.ErrOut, "%s: failed there: %s\n", from, reported.Text)
	case e.Err != nil:
		cmdutil.PrintError(s.env, from, withHint(e.Err))
	case e.Test != nil && e.Done:
		fmt.Fprintf(s.env.ErrOut, "%s: done\n", from)
	}
}
