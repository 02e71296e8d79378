// Package perf is the command that measures latency and bandwidth between hosts.
package perf

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/perf"
)

// command is one call of perf.
type command struct {
	env   *cmdutil.Env
	flags testFlags
	serve server
	peer  peerFlags
	view  view
}

// testFlags are what a test is made of, as the user says it.
type testFlags struct {
	tests, transport, sizes string
	iterations              uint64
	duration                time.Duration
	warmup                  uint64
	rate                    float64
	device                  string
	port                    uint8
	gidIndex                int
	cpus                    string
	test                    perf.Test // what needs no reading
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "perf [flags] SERVER",
		Short: "Measure latency and bandwidth of RDMA between two hosts",
		Long: strings.TrimSpace(`
perf moves data between this host and SERVER, where ibkit perf --serve runs, and
shows how long that takes. The client decides about everything: the server serves
any test, and many clients.

The GID on either side is the best that reaches the other one, and is said. Times
of sends and writes are those of one way, half of a round trip; those of reads and
atomics are of the whole. Not all that begins a test counts: see --warmup.

An option that has to do with some of several tests only is left out of the others.
A test that fails for a reason of its own, such as one that the device does not do,
does not keep the rest from being done; the exit code is 4 then.`),
		Example: strings.Trim(`
  # on one host
  ibkit perf --serve

  # on the other: latency and bandwidth of sends
  ibkit perf host1

  # bandwidth of writes by size, both ways, with four queue pairs
  ibkit perf host1 --test write-bw --size sweep -b -q 4

  # ten seconds of reads, each payload looked at
  ibkit perf host1 --test read-bw -D 10s --verify

  # with ib_write_bw -a, which was started on host1
  ibkit perf host1 --peer perftest --test write-bw --size sweep

  # serve ibv_rc_pingpong -g 1, which is to be started elsewhere
  ibkit perf --serve --peer pingpong --test send-lat

  # a check: exit code 3 below 80 Gb/s or above 5 µs
  ibkit perf host1 --test write-bw,write-lat --size 64K --min-bw 80 --max-p99 5us`, "\n"),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := rules.Check(cmd.Flags()); err != nil {
				return err
			}
			if cmd.Flags().Changed("peer") {
				return c.peer.run(cmd.Context(), c, cmd.Flags(), args)
			}
			if c.serve.on {
				return c.serve.run(cmd.Context(), c, cmd.Flags(), args)
			}
			o, err := c.options(cmd.Flags(), args)
			if err != nil {
				return err
			}
			return c.run(cmd.Context(), o)
		},
	}
	c.define(cmd)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	f := &c.flags
	f.test = perf.NewTest(perf.Send, perf.Bandwidth, perf.RC, 1)
	flags.SortFlags = false
	flags.StringVarP(&f.tests, "test", "t", "send-lat,send-bw", "`TESTS` to do: send, write, read, fetch-add, compare-swap, each with -lat or -bw;\nlat, bw, all")
	cmdutil.EnumFlag(cmd, &f.transport, "transport", "", "rc", []string{string(perf.RC), string(perf.UC), string(perf.UD)}, "`TYPE` of queue pairs")
	flags.StringVarP(&f.sizes, "size", "s", "", "`SIZES` of messages: 64, 4K, 1M, lists, ranges of powers of two such as 64-1M, or sweep, which is\n2-8M (default: 2 for latency, 64K for bandwidth)")
	flags.Uint64VarP(&f.iterations, "iterations", "n", f.test.Iterations, "move `N` messages by each queue pair")
	flags.DurationVarP(&f.duration, "duration", "D", 0, "measure for a `TIME`, not a number of messages")
	flags.Uint64Var(&f.warmup, "warmup", f.test.Warmup, "move `N` messages first that do not count, unless given a tenth of --iterations at most; with -D it is 200 ms")
	flags.IntVarP(&f.test.QueuePairs, "qps", "q", 1, "`NUMBER` of queue pairs, of bandwidth")
	flags.IntVar(&f.test.Threads, "threads", 1, "`NUMBER` of threads on either side, of bandwidth")
	flags.BoolVarP(&f.test.Bidirectional, "bidirectional", "b", false, "both sides send at a time, of bandwidth")
	flags.IntVar(&f.test.Depth, "tx-depth", f.test.Depth, "`NUMBER` of messages under way on a queue pair; unless it is given, fewer than that of\nlarge messages")
	flags.IntVar(&f.test.RecvDepth, "rx-depth", f.test.RecvDepth, "`NUMBER` of receives posted to a queue pair, of sends")
	flags.IntVar(&f.test.Moderation, "cq-moderation", f.test.Moderation, "ask for a completion of every `N`th message, of bandwidth; unless it is given,\nmore often of messages that take long")
	flags.IntVar(&f.test.List, "post-list", 1, "post `N` messages at a time")
	flags.BoolVar(&f.test.Inline, "inline", false, "have the data of sends and writes in the work request")
	flags.BoolVarP(&f.test.Events, "events", "e", false, "wait for completion events, do not poll; not of write-lat")
	flags.BoolVar(&f.test.Verify, "verify", false, "fill each message anew and look at what arrives; this takes time that is measured")
	flags.Float64Var(&f.rate, "rate", 0, "move at most `N` messages per second, of bandwidth")
	flags.StringVarP(&f.device, "device", "d", "", "`DEVICE` of this side (default: whichever reaches the other)")
	flags.Uint8VarP(&f.port, "ib-port", "i", 0, "`PORT` of the device (default: the first active one)")
	flags.IntVarP(&f.gidIndex, "gid-index", "x", -1, "`INDEX` of this side's GID (default: the best that reaches the other)")
	flags.IntVarP(&f.test.MTU, "mtu", "m", 0, "`BYTES` of a packet (default: as many as both ports do)")
	flags.Uint8VarP(&f.test.SL, "sl", "S", 0, "service `LEVEL`, 0 to 15")
	flags.Uint8Var(&f.test.TrafficClass, "tclass", 0, "traffic `CLASS`: of RoCE v2, DSCP and ECN")
	flags.Uint32Var(&f.test.FlowLabel, "flow-label", 0, "flow `LABEL`, 20 bits; adapters may make a UDP port of it, Soft-RoCE sends none")
	flags.Uint8Var(&f.test.HopLimit, "hop-limit", f.test.HopLimit, "`NUMBER` of routers between the hosts at most; of RoCE Linux takes that of the route")
	flags.Uint16Var(&f.test.PKeyIndex, "pkey-index", 0, "`INDEX` of the P_Key on both sides")
	flags.Uint8Var(&f.test.Timeout, "qp-timeout", f.test.Timeout, "`EXPONENT` n of the time until a packet is sent again: 4.096 µs times 2^n; 0: never; over rc")
	flags.Uint8Var(&f.test.RetryCount, "retry", f.test.RetryCount, "send a packet again `N` times, 0 to 7, over rc; 7 is for ever to Soft-RoCE")
	flags.Uint8Var(&f.test.RNRRetry, "rnr-retry", f.test.RNRRetry, "try again `N` times where the other side is not ready, over rc; 7: for ever")
	flags.StringVar(&f.cpus, "cpu", "auto", "`CPUS` that loops run on: auto (near the device), off, or a list such as 2,4-5, which\nthey share if they are more")
	flags.BoolVar(&f.test.Huge, "huge", false, "take memory of huge pages on both sides, of those set aside (vm.nr_hugepages)")
	c.view = view{env: c.env}
	c.view.define(c.env, cmd)
	c.serve = server{env: c.env}
	c.serve.define(flags)
	c.peer.define(c.env, cmd)
	for name, values := range map[string]cmdutil.Values{
		"size":    cmdutil.Constant("sweep"),
		"device":  cmdutil.DeviceNames,
		"ib-port": cmdutil.PortNumbers,
		"mtu":     cmdutil.Constant("256", "512", "1024", "2048", "4096"),
		"cpu":     cmdutil.Constant("auto", "off"),
	} {
		cmdutil.CompleteFlag(c.env, cmd, name, values)
	}
	cmdutil.CompleteList(c.env, cmd, "test", cmdutil.Constant(slices.Sorted(maps.Keys(testNames()))...))
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"iterations", "warmup"}, Others: []string{"duration"}},
		{Flags: []string{"classic"}, Others: []string{"json"}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"margin"}, Others: []string{"duration"}},
		{Flags: []string{"margin", "srq"}, Others: []string{"peer"}},
		{Flags: []string{"listen", "allow", "max-clients", "max-qps", "max-memory", "max-time", "idle"}, Others: []string{"serve"}},
	},
}

// errPerfServer is a call without a server.
var errPerfServer = errors.New("no server given: start ibkit perf --serve on the other host and give its name or address")

// options reads what the command line says.
func (c *command) options(flags *pflag.FlagSet, args []string) (perf.Options, error) {
	f := &c.flags
	o := perf.Options{
		Identity: perf.NewIdentity("ibkit " + buildinfo.Version()), Device: f.device, Port: f.port, GIDIndex: f.gidIndex,
	}
	switch {
	case len(args) == 0 && !c.serve.on && c.peer.program != "":
		return o, cmdutil.UsageErrorf("no server given: start the program of %s on the other host and give its name or address", c.peer.program)
	case len(args) == 0 && !c.serve.on:
		return o, &cmdutil.UsageError{Err: errPerfServer}
	case len(args) > 0 && c.serve.on:
		return o, cmdutil.UsageErrorf("unexpected argument %q: --serve waits for others", args[0])
	case len(args) > 1:
		return o, cmdutil.UsageErrorf("unexpected argument %q", args[1])
	case flags.Changed("rate") && !(f.rate > 0) || math.IsInf(f.rate, 0):
		return o, cmdutil.UsageErrorf("invalid --rate %v: it has to be a positive number", f.rate)
	case flags.Changed("iterations") && f.iterations == 0:
		return o, cmdutil.UsageErrorf("invalid --iterations 0: it has to be 1 at least")
	case flags.Changed("duration") && f.duration <= 0:
		return o, cmdutil.UsageErrorf("invalid --duration %v: it has to be above 0", f.duration)
	case flags.Changed("mtu") && f.test.MTU == 0:
		return o, cmdutil.UsageErrorf("invalid --mtu 0: it is 256, 512, 1024, 2048 or 4096")
	}
	if err := f.checkPlace(flags); err != nil {
		return o, err
	}
	var err error
	if len(args) == 1 {
		if o.Server, err = parseServer(args[0]); err != nil {
			return o, &cmdutil.UsageError{Err: err}
		}
	}
	if o.CPUs, err = parseCPUs(f.cpus); err != nil {
		return o, &cmdutil.UsageError{Err: err}
	}
	if err := c.view.check(flags); err != nil {
		return o, err
	}
	if o.Tests, err = f.all(flags); err != nil {
		return o, &cmdutil.UsageError{Err: err}
	}
	return o, nil
}

// run measures and shows.
func (c *command) run(ctx context.Context, o perf.Options) error {
	o.Done = c.view.done
	return c.show(o.Tests, func() (*perf.Result, error) { return perf.Run(ctx, o) })
}

// show shows what is measured, and says how it ended.
func (c *command) show(tests []perf.Test, measure func() (*perf.Result, error)) error {
	if err := c.view.begin(tests); err != nil {
		return err
	}
	r, err := measure()
	if shown := c.view.end(r); shown != nil {
		return errors.Join(err, shown) // nobody has the figures
	}
	if err != nil && c.view.partial(err) {
		return &cmdutil.ExitError{Code: cmdutil.ExitPartial, Err: err}
	}
	if err == nil {
		err = cmdutil.ResultError(c.view.unjudged, c.view.findings)
	}
	if errors.Is(err, perf.ErrTest) {
		return &cmdutil.UsageError{Err: err}
	}
	return err
}
