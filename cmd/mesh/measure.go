package mesh

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/tool/mesh/probe"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
)

// testFlags are the flags of measurements.
type testFlags struct {
	op             perf.Op
	transport      perf.Transport
	size           string
	duration       time.Duration
	iterations     uint64
	metric         string
	depth          int
	timeout        uint8
	events, verify bool
}

// The measured figures.
const (
	metricBoth      = "both"
	metricBandwidth = "bandwidth"
	metricLatency   = "latency"
)

// Defaults of a measurement.
const (
	defaultDuration   = 100 * time.Millisecond
	latencyIterations = 1000
	latencySize       = 8
	datagramSize      = 1024
	maxDuration       = time.Minute
)

func (t *testFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	ops := []perf.Op{perf.Send, perf.Write, perf.Read}
	cmdutil.EnumFlag(cmd, &t.op, "op", perf.Send, ops, "`OPERATION` of the messages")
	cmdutil.EnumFlag(cmd, &t.transport, "transport", perf.RC, perf.Transports, "queue pair `TYPE`")
	flags.StringVar(&t.size, "message-size", "64K", "message `BYTES` of bandwidths (ud, and sends over srd: 1K)")
	t.defineTime(cmd)
	flags.Uint64Var(&t.iterations, "iterations", 0, "`NUMBER` of messages of each measurement instead of a time")
	flags.IntVar(&t.depth, "tx-depth", perf.NewTest(t.op, perf.Bandwidth, perf.RC, 1).Depth, "`NUMBER` of messages in flight\n(fewer by default for large messages)")
	flags.Uint8Var(&t.timeout, "qp-timeout", perf.NewTest(perf.Send, perf.Latency, perf.RC, 1).Timeout, "queue pair timeout `N`: 4.096 µs · 2^N")
	flags.BoolVar(&t.events, "events", false, "wait for completion events instead of polling")
	flags.BoolVar(&t.verify, "verify", false, "verify payloads")
}

// defineTime declares the flags that determine the time of a round.
func (t *testFlags) defineTime(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&t.duration, "duration", defaultDuration, "`TIME` of a bandwidth measurement, after a warm-up of 0.2 s")
	cmdutil.EnumFlag(cmd, &t.metric, "metric", metricBoth, []string{metricBoth, metricBandwidth, metricLatency}, "measured `FIGURE`")
}

// Times of a measurement: TCP and queue pair connections, messages of a latency at 5 µs, which
// is slow, and the warm-up of a bandwidth.
const (
	connectTime   = 50 * time.Millisecond
	latencyTime   = latencyIterations * 2 * 5 * time.Microsecond
	bandwidthTime = 200 * time.Millisecond
)

// takes estimates the time of the measurements of a flow.
func (t *testFlags) takes() (all time.Duration) {
	if t.metric != metricBandwidth {
		all += connectTime + latencyTime
	}
	if t.metric != metricLatency {
		all += connectTime + bandwidthTime + t.duration
	}
	return all
}

func (t *testFlags) checkDuration() error {
	if t.duration <= 0 || t.duration > maxDuration {
		return cmdutil.UsageErrorf("invalid --duration %v: want a time above 0, at most %v", t.duration, maxDuration)
	}
	return nil
}

// testFlagNames are the flags without effect on a simulation.
var testFlagNames = []string{"op", "transport", "message-size", "duration", "iterations", "events", "verify", "metric", "tx-depth", "qp-timeout", "device"}

// loadTime is the time that congestors send longer than a bandwidth measurement: the victims
// begin later, and measure their latency first.
const loadTime = time.Second

// tests returns the measurements of a round, first the latency, while no bandwidth is measured,
// then the bandwidth, and the load of congestors.
func (t *testFlags) tests(flags *pflag.FlagSet) (tests, load []perf.Test, err error) {
	size, ok := cmdutil.ParseBytes(t.size, 1<<30)
	if !ok {
		return nil, nil, cmdutil.UsageErrorf("invalid --message-size %q: want 1 to 1G bytes such as 4K or 1M", t.size)
	}
	if (perf.Test{Op: t.op, Transport: t.transport}).Datagrams() && !flags.Changed("message-size") {
		size = datagramSize
	}
	latency, bandwidth := perf.NewTest(t.op, perf.Latency, t.transport, latencySize), perf.NewTest(t.op, perf.Bandwidth, t.transport, size)
	latency.Iterations, bandwidth.Iterations, bandwidth.Warmup, bandwidth.Duration = latencyIterations, 0, 0, t.duration
	if t.iterations > 0 {
		latency.Iterations, bandwidth.Iterations, bandwidth.Duration = t.iterations, t.iterations, 0
		latency.Warmup = min(latency.Warmup, (t.iterations+9)/10)
		bandwidth.Warmup = latency.Warmup
	}
	if t.events && t.op == perf.Write {
		latency.Op = perf.Send // a write generates no event for the responder
	}
	if bandwidth.Depth = bandwidth.FittingDepth(); flags.Changed("tx-depth") {
		bandwidth.Depth = t.depth
	}
	bandwidth.Moderation = bandwidth.FittingModeration()
	tests = map[string][]perf.Test{metricBoth: {latency, bandwidth}, metricLatency: {latency}, metricBandwidth: {bandwidth}}[t.metric]
	congestor := bandwidth
	congestor.Iterations, congestor.Warmup, congestor.Duration = 0, 0, t.duration+loadTime
	load = []perf.Test{congestor}
	for _, all := range [][]perf.Test{tests, load} {
		for i := range all {
			all[i].Events, all[i].Verify, all[i].Timeout = t.events, t.verify, t.timeout
			if err := all[i].Check(); err != nil {
				return nil, nil, &cmdutil.UsageError{Err: err}
			}
		}
	}
	return tests, load, nil
}

// check checks the flags, whether the figures are simulated or not.
func (t *testFlags) check(flags *pflag.FlagSet, simulated bool) error {
	for _, name := range testFlagNames {
		if f := flags.Lookup(name); simulated && f != nil && f.Changed {
			return cmdutil.UsageErrorf("--%s has no effect on a simulation", name)
		}
	}
	if flags.Changed("duration") && flags.Changed("iterations") {
		return cmdutil.UsageErrorf("--duration and --iterations are mutually exclusive")
	}
	if err := t.checkDuration(); err != nil {
		return err
	}
	_, _, err := t.tests(flags)
	return err
}

// modelFlagNames are the flags of a simulation.
var modelFlagNames = []string{"fault", "plant", "noise", "seed", "alone", "pace"}

// checkMeasured rejects the flags of a simulation.
func checkMeasured(flags *pflag.FlagSet) error {
	for _, name := range modelFlagNames {
		if flags.Changed(name) {
			return cmdutil.UsageErrorf("--%s has no effect without --sim: figures are measured", name)
		}
	}
	return nil
}

// engine opens the ports of this host.
func (c *joinRun) engine() *probe.Probe {
	return probe.Open(host.NewIdentity("ibkit "+buildinfo.Version()), sysfs.Default, c.ports())
}

// deviceArguments returns the flag that selects the ports of remote workers.
func (c *joinRun) deviceArguments() []string {
	if c.device == "" {
		return nil
	}
	return []string{"--device", c.device}
}

// ports returns the ports of --device, by default all.
func (c *joinRun) ports() []string {
	return strings.FieldsFunc(c.device, func(r rune) bool { return r == ',' })
}

var devicePort = lazyregexp.New(`^[A-Za-z0-9_.-]+(/[0-9]{1,3})?$`)

// checkDevice checks --device.
func (c *joinRun) checkDevice() error {
	for _, d := range c.ports() {
		if !devicePort.MatchString(d) {
			return cmdutil.UsageErrorf("invalid --device %q: want DEVICE or DEVICE/PORT", d)
		}
	}
	return nil
}
