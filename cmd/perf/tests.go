package perf

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// A testKind is an operation and a measured quantity.
type testKind struct {
	op   perf.Op
	kind perf.Kind
}

// testNames returns the tests by the names that --test accepts, including those of
// groups.
func testNames() map[string][]testKind {
	names := map[string][]testKind{}
	for _, op := range perf.Ops {
		for _, kind := range []perf.Kind{perf.Latency, perf.Bandwidth} {
			t := testKind{op, kind}
			for _, name := range []string{fmt.Sprintf("%s-%s", op, kind), string(op), string(kind), "all"} {
				names[name] = append(names[name], t)
			}
		}
	}
	return names
}

// describedTests returns the names of tests and groups, with descriptions.
func describedTests() []string {
	all := testNames()
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		if tests := all[name]; len(tests) > 1 {
			names[i] += fmt.Sprintf("\t%d tests", len(tests))
		} else {
			names[i] += "\t" + map[perf.Kind]string{perf.Latency: "latency of ", perf.Bandwidth: "bandwidth of "}[tests[0].kind] + string(tests[0].op)
		}
	}
	return names
}

// all returns the requested tests, each with all its sizes. It omits tests of a group
// that the transport does not support.
func (f *testFlags) all(flags *pflag.FlagSet) ([]perf.Test, error) {
	names := testNames()
	var wanted []testKind
	group := false
	for _, name := range f.tests {
		tests := names[name]
		group = group || len(tests) > 1
		for _, t := range tests {
			if !slices.Contains(wanted, t) {
				wanted = append(wanted, t)
			}
		}
	}
	var supported []perf.Test
	for _, t := range wanted {
		if one := (perf.Test{Op: t.op, Kind: t.kind, Transport: f.transport, Imm: f.test.Imm}); one.Supported() {
			supported = append(supported, one)
		}
	}
	if err := checkScopes(flags, supported); err != nil && len(supported) > 0 {
		return nil, err
	}
	var all []perf.Test
	for _, t := range wanted {
		tests, err := f.withSizes(flags, t)
		if err != nil {
			return nil, err
		}
		for _, one := range tests {
			err := one.Check()
			if err != nil && group && !one.Supported() {
				continue
			}
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("invalid --test %s: %s supports none of them", strings.Join(f.tests, ","), f.transport)
	}
	return all, nil
}

// withSizes returns a test with each size.
func (f *testFlags) withSizes(flags *pflag.FlagSet, t testKind) ([]perf.Test, error) {
	one := f.test
	one.Op, one.Kind, one.Transport, one.Rate = t.op, t.kind, f.transport, 0
	one.Iterations, one.Duration, one.Warmup = f.iterations, f.duration, f.warmup
	one.MTU, _ = strconv.Atoi(f.mtu) // 0 without --mtu
	switch {
	case flags.Changed("duration"):
		one.Iterations, one.Warmup = 0, 0
	case !flags.Changed("warmup"):
		one.Warmup = min(f.warmup, (f.iterations+9)/10)
	}
	rate, err := parseRate(f.rate)
	if err != nil {
		return nil, err
	}
	resetOthers(&one)
	sizes, err := f.sizesOf(one)
	if err != nil {
		return nil, err
	}
	var all []perf.Test
	for _, size := range sizes {
		one.Size = size
		if t.kind == perf.Bandwidth {
			one.Rate = rate.messages(size)
		}
		if !flags.Changed("tx-depth") {
			one.Depth = f.test.Depth
			one.Depth = one.FittingDepth()
			if flags.Changed("cq-moderation") {
				one.Depth = max(one.Depth, min(f.test.Depth, one.Moderation))
			}
		}
		if !flags.Changed("cq-moderation") {
			one.Moderation = f.moderation(one)
		}
		all = append(all, one)
	}
	return all, nil
}

// A rate is the argument of --rate-limit.
type rate struct{ perSecond, bytes float64 }

// messages returns messages of a size per second.
func (r rate) messages(size int) float64 {
	if r.bytes > 0 {
		return r.bytes / float64(size)
	}
	return r.perSecond
}

// parseRate parses a number of messages per second, or a bandwidth in the units of
// --unit.
func parseRate(text string) (r rate, err error) {
	if text == "" {
		return rate{}, nil
	}
	to, factor, number := &r.perSecond, 1.0, strings.ToLower(text)
	for _, unit := range []struct {
		name   string
		factor float64
	}{{"gbit", 1e9 / 8}, {"mib", 1 << 20}} {
		if n, ok := strings.CutSuffix(number, unit.name); ok {
			to, factor, number = &r.bytes, unit.factor, n
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return rate{}, fmt.Errorf("invalid --rate-limit %q: want a positive number of messages per second, or a bandwidth such as 10gbit or 500mib", text)
	}
	*to = v * factor
	return r, nil
}

// moderation returns the default number of messages per completion. It is lower for
// messages that take long, so that progress is visible early.
func (f *testFlags) moderation(t perf.Test) int {
	t.Moderation = f.test.Moderation
	n := t.FittingModeration()
	if t.Rate > 0 {
		n = min(n, int(t.Rate/float64(max(1, t.QueuePairs))/completionsPerSecond))
	}
	return max(1, n)
}

// completionsPerSecond is the completion rate of a queue pair in a test with a rate.
const completionsPerSecond = 100

// Default sizes, and sweep sizes.
const (
	latencySize   = 2
	bandwidthSize = 64 << 10
	datagramSize  = 1024
	sweepFrom     = 2
	sweepTo       = 8 << 20
	sweepSRD      = 8 << 10 // of sends: the last power of two below the usual limit of an EFA message
)

// sizesOf returns the sizes of a test in bytes.
func (f *testFlags) sizesOf(t perf.Test) ([]int, error) {
	switch {
	case t.Op.Atomic():
		return []int{8}, nil
	case f.sizes == "sweep" && t.Datagrams() && t.Transport == perf.SRD:
		return powers(sweepFrom, sweepSRD), nil
	case f.sizes == "sweep" && t.Datagrams():
		return powers(sweepFrom, max(datagramSize, t.MTU)), nil
	case f.sizes == "sweep":
		return powers(sweepFrom, sweepTo), nil
	case f.sizes != "":
		return parseSizes(f.sizes)
	case t.Kind == perf.Latency:
		return []int{latencySize}, nil
	case t.Datagrams():
		return []int{datagramSize}, nil
	}
	return []int{bandwidthSize}, nil
}

// powers returns two sizes and the powers of two between them.
func powers(from, to int) []int {
	sizes := []int{from}
	for n := 1; n < to; n *= 2 {
		if n > from {
			sizes = append(sizes, n)
		}
	}
	if to > from {
		sizes = append(sizes, to)
	}
	return sizes
}

// parseSizes parses a list of sizes and ranges.
func parseSizes(text string) ([]int, error) {
	var sizes []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := parseSize(first, part)
		if err != nil {
			return nil, err
		}
		if !isRange {
			sizes = append(sizes, from)
			continue
		}
		to, err := parseSize(last, part)
		if err != nil {
			return nil, err
		}
		if to < from {
			return nil, fmt.Errorf("invalid --size %q: the end is below the start", part)
		}
		sizes = append(sizes, powers(from, to)...)
	}
	return sizes, nil
}

// parseSize parses a size in bytes, which is a part of the argument.
func parseSize(text, argument string) (int, error) {
	n, ok := cmdutil.ParseBytes(text, 1<<30)
	if !ok {
		return 0, fmt.Errorf("invalid --size %q: want 1 to 1G bytes such as 64, 4K or 1M, or a range such as 64-1M", argument)
	}
	return n, nil
}
