// Package perf is the command that measures latency and bandwidth between hosts.
package perf

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
)

// command is one call of perf.
type command struct {
	env   *cmdutil.Env
	flags testFlags
	serve serverFlags
	peer  peerFlags
	self  selfTestFlags
	view  view
}

// testFlags are the flags that describe tests.
type testFlags struct {
	tests      []string
	transport  perf.Transport
	sizes, mtu string
	iterations uint64
	duration   time.Duration
	warmup     uint64
	rate       string
	device     string
	port       uint8
	gidIndex   int
	cpus       string
	multicast  string
	memory     string
	test       perf.Test // fields whose flags need no conversion
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "perf [flags] SERVER\n  ibkit perf --self-test [flags] [DEVICE]",
		Short: "Measure latency and bandwidth of RDMA between two hosts",
		Long: strings.TrimSpace(`
perf moves data between this host and SERVER, which runs ibkit perf --serve, and
prints the latency and the bandwidth. The client selects the tests; a server
runs any test and serves many clients.

The address of SERVER selects the device, the port and the GID on both sides. If
it is not an RDMA port's address, each side selects its best GID with a route to
the peer. The output shows both GIDs.

Latencies of sends and writes are one-way: half of a round trip. Those of reads
and atomics are round trips. Warm-up messages are not counted.

Several tests run in order. Options that do not apply to a test are ignored for
it. If a failure concerns one test only, for example a limit of the device, perf
continues with the next test and ends with exit code 4.

With --self-test, perf needs no peer: it runs every operation, many sizes and
every error over loopback on one device, verifies payloads and completions, and
prints a report to attach to an issue. The first active port is tested unless
DEVICE, --device or --ib-port select another one. Exit code 3 means that a case
failed, 4 that the test was interrupted. Unsupported cases are not failures.`),
		Example: strings.Trim(`
  # on one host
  ibkit perf --serve

  # on the other: latency and bandwidth of sends
  ibkit perf host1

  # bandwidth of writes by size, in both directions, with four queue pairs
  ibkit perf host1 --test write-bw --size sweep -b --qps 4

  # ten seconds of reads with verified payloads
  ibkit perf host1 --test read-bw -D 10s --verify

  # connect as storage and MPI do, by the connection manager
  ibkit perf host1 --cm --test read-lat

  # with ib_write_bw -a, started on host1
  ibkit perf host1 --peer perftest --test write-bw --size sweep

  # as the server of ibv_rc_pingpong -g 1, to be started on another host
  ibkit perf --serve --peer pingpong --test send-lat

  # a test of this adapter, with a report for an issue
  ibkit perf --self-test mlx5_0

  # a health check: exit code 3 below 80 Gb/s or above 5 µs
  ibkit perf host1 --test write-bw,write-lat -s 64K --min-bw 80 --max-p99 5us`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.execute(cmd.Context(), cmd.Flags(), args)
		},
	}
	c.define(cmd)
	return cmd
}

// execute runs a self-test, a server, a test with another program, or tests with a server.
func (c *command) execute(ctx context.Context, flags *pflag.FlagSet, args []string) error {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if c.self.on {
		return c.self.run(ctx, c, flags, args)
	}
	if flags.Changed("peer") {
		return c.peer.run(ctx, c, flags, args)
	}
	if c.serve.on {
		return c.serve.run(ctx, c, flags, args)
	}
	o, err := c.options(flags, args)
	if err != nil {
		return err
	}
	return c.run(ctx, o)
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	f := &c.flags
	f.test = perf.NewTest(perf.Send, perf.Bandwidth, perf.RC, 1)
	f.tests = []string{"send-lat", "send-bw"}
	cmdutil.DescribedListFlag(cmd, &f.tests, "test", describedTests(), "list of `TESTS`: send-lat, write-bw, ..., or groups: send, lat, bw, all")
	cmdutil.EnumFlag(cmd, &f.transport, "transport", perf.RC, perf.Transports, "`TYPE` of queue pairs")
	flags.StringVarP(&f.sizes, "size", "s", "", "message `SIZES`: 64, 4K, a list, a range 64-1M, or sweep (2 to 8M)\n(default: 2 for latency, 64K for bandwidth)")
	flags.Uint64VarP(&f.iterations, "iterations", "n", f.test.Iterations, "`NUMBER` of messages per queue pair")
	flags.DurationVarP(&f.duration, "duration", "D", 0, "`TIME` to measure, instead of --iterations")
	flags.Uint64Var(&f.warmup, "warmup", f.test.Warmup, "`NUMBER` of uncounted messages per queue pair at the start\n(at most 10 % of --iterations by default; 200 ms with -D)")
	flags.IntVar(&f.test.QueuePairs, "qps", 1, "`NUMBER` of queue pairs (bandwidth)")
	flags.IntVar(&f.test.Threads, "threads", 1, "`NUMBER` of threads on each side (bandwidth)")
	flags.BoolVarP(&f.test.Bidirectional, "bidirectional", "b", false, "send in both directions (bandwidth)")
	flags.IntVar(&f.test.Depth, "tx-depth", f.test.Depth, "`NUMBER` of messages in flight per queue pair\n(fewer by default for large messages and many queue pairs)")
	flags.IntVar(&f.test.RecvDepth, "rx-depth", f.test.RecvDepth, "`NUMBER` of receives posted per queue pair (send, --imm)")
	flags.BoolVar(&f.test.SharedReceives, "shared-receives", false, "share --rx-depth receives between the queue pairs (send, --imm)")
	flags.IntVar(&f.test.Moderation, "cq-moderation", f.test.Moderation, "`NUMBER` of messages per completion (bandwidth)\n(fewer by default for large or slow messages)")
	flags.IntVar(&f.test.List, "post-list", 1, "`NUMBER` of messages posted at a time (bandwidth)")
	flags.BoolVar(&f.test.Imm, "imm", false, "write with immediate data, which consumes a receive (write)")
	flags.BoolVar(&f.test.Inline, "inline", false, "put the data into the work requests (send, write)")
	flags.BoolVar(&f.test.Events, "events", false, "wait for completion events instead of polling (not write-lat)")
	flags.BoolVar(&f.test.Verify, "verify", false, "fill and verify each payload (its time is included)")
	flags.StringVar(&f.rate, "rate-limit", "", "maximum `RATE`: messages per second, or 10gbit, 500mib (bandwidth)")
	flags.IntVar(&f.test.Burst, "burst", 0, "`N` messages sent without a pause, with --rate-limit (default: 1)")
	flags.StringVarP(&f.device, "device", "d", "", "local `DEVICE` (default: from the route to SERVER)")
	flags.Uint8Var(&f.port, "ib-port", 0, "`PORT` of the device (default: the first active port)")
	flags.IntVarP(&f.gidIndex, "gid-index", "x", -1, "`INDEX` of the local GID (default: from the route to SERVER)")
	flags.Lookup("gid-index").DefValue = "0" // the text has the default
	cmdutil.EnumFlag(cmd, &f.mtu, "mtu", "", []string{"256", "512", "1024", "2048", "4096"}, "`BYTES` of a packet (default: the smaller MTU of both ports)")
	flags.Uint8VarP(&f.test.SL, "sl", "S", 0, "service `LEVEL`, 0 to 15")
	flags.Uint8Var(&f.test.TrafficClass, "tclass", 0, "traffic `CLASS`; DSCP and ECN for RoCE v2")
	flags.Uint32Var(&f.test.FlowLabel, "flow-label", 0, "flow `LABEL` of 20 bits (ignored by Soft-RoCE)")
	flags.Uint8Var(&f.test.HopLimit, "hop-limit", f.test.HopLimit, "hop `LIMIT` (RoCE uses that of the route)")
	flags.Uint16Var(&f.test.PKeyIndex, "pkey-index", 0, "`INDEX` of the P_Key on both sides")
	flags.Uint8Var(&f.test.Timeout, "qp-timeout", f.test.Timeout, "retransmission timeout 4.096 µs · 2^`N`, 0: none (rc)")
	flags.Uint8Var(&f.test.RetryCount, "retry", f.test.RetryCount, "`NUMBER` of retransmissions, 0 to 7 (rc; Soft-RoCE: 7 is unlimited)")
	flags.Uint8Var(&f.test.RNRRetry, "rnr-retry", f.test.RNRRetry, "`NUMBER` of retries if no receive is posted, 7: unlimited (rc)")
	flags.StringVar(&f.cpus, "cpu", "auto", "`CPUS` of the loops: auto (close to the device), off, or a list 2,4-5")
	flags.BoolVar(&f.test.CM, "cm", false, "connect the queue pairs by the connection manager of the kernel")
	flags.Uint8Var(&f.test.TOS, "tos", 0, "type of `SERVICE` of the connections, with --cm (default: the host's)")
	flags.StringVar(&f.multicast, "group", "", "send to a multicast `GROUP` such as 239.1.2.3 (send over ud)")
	flags.StringVar(&f.memory, "memory", "host", "local `MEMORY`: host, cuda:N (number or PCI address), dmabuf:PATH")
	flags.BoolVar(&f.test.Huge, "huge", false, "use huge pages on both sides (vm.nr_hugepages)")
	flags.BoolVar(&f.test.Relaxed, "relaxed-ordering", false, "let devices reorder their accesses to memory (bandwidth)")
	c.view = view{env: c.env}
	c.view.define(cmd)
	c.serve = serverFlags{env: c.env}
	c.serve.define(flags)
	c.peer.define(cmd)
	c.self.define(cmd)
	for name, values := range map[string]cmdutil.Values{
		"size":    cmdutil.Constant("sweep"),
		"device":  cmdutil.DeviceNames,
		"ib-port": cmdutil.PortNumbers,
		"cpu":     cmdutil.Constant("auto", "off"),
		"memory":  cmdutil.Constant("host", "cuda:0", "dmabuf:/dev/udmabuf"),
	} {
		cmdutil.CompleteFlag(c.env, cmd, name, values)
	}
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"iterations", "warmup"}, Others: []string{"duration"}},
		{Flags: []string{"classic"}, Others: []string{"json"}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"margin"}, Others: []string{"duration"}},
		{Flags: []string{"burst"}, Others: []string{"rate-limit"}},
		{Flags: []string{"tos"}, Others: []string{"cm"}},
		{Flags: []string{"margin", "srq"}, Others: []string{"peer"}},
		{Flags: []string{"bind", "allow", "max-clients", "max-qps", "max-memory", "max-time", "idle"}, Others: []string{"serve"}},
	},
}

// errNoServer is the error of a call without a server.
var errNoServer = cmdutil.WithHint(errors.New("no server given"), "start ibkit perf --serve on the other host, and give its name or address")

// options converts the command line.
func (c *command) options(flags *pflag.FlagSet, args []string) (perf.Options, error) {
	f := &c.flags
	if err := cmdutil.CutLocalPort(flags, "device", "ib-port", &f.device, &f.port); err != nil {
		return perf.Options{}, err
	}
	o := perf.Options{
		Identity: host.NewIdentity("ibkit " + buildinfo.Version()), Device: f.device, Port: f.port, GIDIndex: f.gidIndex,
	}
	switch {
	case len(args) == 0 && !c.serve.on && c.peer.program != "":
		return o, cmdutil.WithHint(cmdutil.UsageErrorf("no server given"), "start the program of "+string(c.peer.program)+" on the other host, and give its name or address")
	case len(args) == 0 && !c.serve.on:
		return o, &cmdutil.UsageError{Err: errNoServer}
	case len(args) > 0 && c.serve.on:
		return o, cmdutil.UsageErrorf("unexpected argument %q: --serve and a SERVER are mutually exclusive", args[0])
	case len(args) > 1:
		return o, unexpected(args)
	case flags.Changed("iterations") && f.iterations == 0:
		return o, cmdutil.UsageErrorf("invalid --iterations 0: want at least 1")
	case flags.Changed("duration") && f.duration <= 0:
		return o, cmdutil.UsageErrorf("invalid --duration %v: want a time above 0", f.duration)
	}
	if err := f.checkPort(flags); err != nil {
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
	if o.Memory, err = parseMemory(f.memory); err != nil {
		return o, err
	}
	if err := c.view.check(flags); err != nil {
		return o, err
	}
	if flags.Changed("group") {
		if f.test.Multicast, err = netip.ParseAddr(f.multicast); err != nil {
			return o, cmdutil.UsageErrorf("invalid --group %q: want an address such as 239.1.2.3", f.multicast)
		}
	}
	if o.Tests, err = f.all(flags); err != nil {
		return o, usageError(err)
	}
	o.ReduceDepth = !flags.Changed("tx-depth") && !flags.Changed("rx-depth")
	return o, nil
}

// usageError makes an invalid test a mistake in the command line, named after the flag.
func usageError(err error) error {
	var field *perf.FieldError
	if errors.As(err, &field) {
		if field.Value == "" {
			return cmdutil.UsageErrorf("invalid --%s: %s", field.Field, field.Reason)
		}
		return cmdutil.UsageErrorf("invalid --%s %s: %s", field.Field, field.Value, field.Reason)
	}
	return &cmdutil.UsageError{Err: err}
}

// run measures and prints.
func (c *command) run(ctx context.Context, o perf.Options) error {
	o.Done = c.view.done
	return c.show(o.Tests, func() (*perf.Result, error) { return perf.Run(ctx, o) })
}

// show prints measurements and returns the outcome.
func (c *command) show(tests []perf.Test, measure func() (*perf.Result, error)) error {
	if err := c.view.begin(tests); err != nil {
		return err
	}
	r, err := measure()
	err = withHint(err)
	if shown := c.view.end(r, err); shown != nil {
		return errors.Join(err, shown) // the figures are lost
	}
	if err != nil && c.view.partial(err) {
		return &cmdutil.ExitError{Code: cmdutil.ExitPartial, Err: err}
	}
	if err == nil {
		err = cmdutil.ResultError(c.view.unjudged, c.view.findings)
	}
	if errors.Is(err, perf.ErrTest) {
		return usageError(err)
	}
	return err
}
