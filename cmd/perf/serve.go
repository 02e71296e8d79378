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
	"github.com/ibkit/ibkit/perf"
)

// server is one call of perf --serve.
type server struct {
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

func (s *server) define(flags *pflag.FlagSet) {
	flags.BoolVar(&s.on, "serve", false, "serve the tests of others, until interrupted")
	flags.StringVar(&s.listen, "listen", ":"+strconv.Itoa(perf.Port), "with --serve: `ADDRESS` and TCP port to listen at")
	flags.StringSliceVar(&s.allow, "allow", nil, "with --serve: serve `NETWORKS` only, such as 10.0.0.0/8,fe80::/10")
	flags.IntVar(&s.maxClients, "max-clients", perf.DefaultMaxClients, "with --serve: serve `N` clients at a time")
	flags.IntVar(&s.maxQueuePairs, "max-qps", perf.DefaultMaxQueuePairs, "with --serve: make `N` queue pairs for a test at most")
	flags.StringVar(&s.maxMemory, "max-memory", "1G", "with --serve: take `BYTES` of memory for a test at most, queues included")
	flags.DurationVar(&s.maxTime, "max-time", perf.DefaultMaxTime, "with --serve: end a test that takes longer than `TIME`")
	flags.DurationVar(&s.idle, "idle", perf.DefaultIdle, "with --serve: hang up on a client that does nothing for a `TIME`")
}

// serveFlagNames mean something with --serve; all others are the client's.
var serveFlagNames = map[string]bool{
	"serve": true, "listen": true, "allow": true, "max-clients": true, "max-qps": true, "max-memory": true, "max-time": true,
	"idle": true, "device": true, "ib-port": true, "gid-index": true, "cpu": true, "help": true,
}

// options reads what the command line says.
func (s *server) options(c *command, flags *pflag.FlagSet, args []string) (perf.ServeOptions, error) {
	o := perf.ServeOptions{
		Identity: perf.NewIdentity("ibkit " + buildinfo.Version()), Device: c.flags.device, Port: c.flags.port, GIDIndex: c.flags.gidIndex,
		MaxClients: s.maxClients, MaxQueuePairs: s.maxQueuePairs, MaxTime: s.maxTime, Idle: s.idle, Tell: s.tell,
	}
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		if !serveFlagNames[f.Name] && wrong == nil {
			wrong = cmdutil.UsageErrorf("%s does nothing with --serve: the client decides", cmdutil.FlagName(flags, f.Name))
		}
	})
	switch {
	case wrong != nil:
		return o, wrong
	case len(args) > 0:
		return o, cmdutil.UsageErrorf("unexpected argument %q: --serve waits for others", args[0])
	case s.maxClients < 1:
		return o, cmdutil.UsageErrorf("invalid --max-clients %d: it has to be above 0", s.maxClients)
	case s.maxQueuePairs < 1:
		return o, cmdutil.UsageErrorf("invalid --max-qps %d: it has to be above 0", s.maxQueuePairs)
	case s.maxTime <= 0:
		return o, cmdutil.UsageErrorf("invalid --max-time %v: it has to be above 0", s.maxTime)
	case s.idle <= 0:
		return o, cmdutil.UsageErrorf("invalid --idle %v: it has to be above 0", s.idle)
	case flags.Changed("allow") && len(s.allow) == 0: // such as of a variable that is not set
		return o, cmdutil.UsageErrorf("invalid --allow: it is empty, and would allow nobody")
	}
	if err := errors.Join(c.flags.checkPlace(flags), checkListen(s.listen)); err != nil {
		return o, err
	}
	var ok bool
	if o.MaxMemory, ok = parseBytes(s.maxMemory, math.MaxInt); !ok {
		return o, cmdutil.UsageErrorf("invalid --max-memory %q: a number of bytes such as 512M or 4G", s.maxMemory)
	}
	var err error
	if o.CPUs, err = parseCPUs(c.flags.cpus); err != nil {
		return o, &cmdutil.UsageError{Err: err}
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

// parseNetwork reads a network, or an address.
func parseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("invalid --allow %q: neither an address nor one with a length such as 10.0.0.0/8", text)
	}
	return p, nil
}

// run serves until ctx ends.
func (s *server) run(ctx context.Context, c *command, flags *pflag.FlagSet, args []string) error {
	o, err := s.options(c, flags, args)
	if err != nil {
		return err
	}
	l, err := listenAt(ctx, s.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.env.ErrOut, "serving tests at %v\n", l.Addr())
	if err := cmdutil.NotifyReady(s.env.Getenv); err != nil {
		cmdutil.PrintError(s.env, "ibkit perf", err)
	}
	return perf.Serve(ctx, l, o)
}

// listenAt listens at an address of --listen.
func listenAt(ctx context.Context, at string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w: does another server run? --listen takes another port", err)
	}
	return l, err
}

// tell says what happens.
func (s *server) tell(e perf.Event) {
	who := "ibkit perf"
	if e.Client.IsValid() {
		who = e.Client.String()
	}
	switch {
	case e.Err != nil && e.Test != nil:
		cmdutil.PrintError(s.env, fmt.Sprintf("%s: %v", who, e.Test), e.Err)
	case e.Err != nil:
		cmdutil.PrintError(s.env, who, e.Err)
	case e.Test != nil && e.Done:
		fmt.Fprintf(s.env.ErrOut, "%s: %v: done\n", who, strings.TrimSpace(e.Test.String()))
	}
}
