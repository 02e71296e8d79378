package perf

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/perf"
)

// A testKind is an operation and what is measured of it.
type testKind struct {
	op   perf.Op
	kind perf.Kind
}

// testNames are what --test takes: each test by its name, and some by that of
// a group.
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

// all returns the tests that were asked for, each with each of its sizes.
func (f *testFlags) all(flags *pflag.FlagSet) ([]perf.Test, error) {
	names := testNames()
	var wanted []testKind
	group := false // that what the transport has not is left out of
	for name := range strings.SplitSeq(f.tests, ",") {
		tests := names[name]
		if tests == nil {
			return nil, fmt.Errorf("unknown --test %q: known are %s", name, strings.Join(slices.Sorted(maps.Keys(names)), ", "))
		}
		group = group || len(tests) > 1
		for _, t := range tests {
			if !slices.Contains(wanted, t) {
				wanted = append(wanted, t)
			}
		}
	}
	transport := perf.Transport(f.transport)
	there := slices.DeleteFunc(slices.Clone(wanted), func(t testKind) bool {
		return !(perf.Test{Op: t.op, Transport: transport}).Has()
	})
	if err := checkApplies(flags, there, transport); err != nil && len(there) > 0 {
		return nil, err
	}
	var all []perf.Test
	for _, t := range wanted {
		tests, err := f.of(flags, t)
		if err != nil {
			return nil, err
		}
		for _, one := range tests {
			err := one.Check()
			if err != nil && group && !one.Has() {
				continue
			}
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("--test %s: there is none of it over %s", f.tests, f.transport)
	}
	return all, nil
}

// of returns one test with each size.
func (f *testFlags) of(flags *pflag.FlagSet, t testKind) ([]perf.Test, error) {
	one := f.test
	one.Op, one.Kind, one.Transport, one.Rate = t.op, t.kind, perf.Transport(f.transport), f.rate
	one.Iterations, one.Duration, one.Warmup = f.iterations, f.duration, f.warmup
	switch {
	case flags.Changed("duration"):
		one.Iterations, one.Warmup = 0, 0
	case !flags.Changed("warmup"): // a few large messages take long as it is
		one.Warmup = min(f.warmup, (f.iterations+9)/10)
	}
	dropOthers(&one, t)
	sizes, err := f.sizesOf(one)
	if err != nil {
		return nil, err
	}
	var all []perf.Test
	for _, size := range sizes {
		one.Size = size
		if !flags.Changed("tx-depth") {
			one.Depth = max(2, one.List, min(f.test.Depth, underWayBytes/max(1, size)))
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

// moderation is how many messages have a completion together where nothing is said:
// fewer than there could be of those that take long, so that what was moved is known
// soon after.
func (f *testFlags) moderation(t perf.Test) int {
	n := min(f.test.Moderation, t.Depth, completionBytes/max(1, t.Size))
	if t.Rate > 0 {
		n = min(n, int(t.Rate/float64(max(1, t.QueuePairs))/completionsPerSecond))
	}
	return max(1, n)
}

// So much data is under way on a queue pair: to post more takes a device that sends
// while it is told of it, as Soft-RoCE does, seconds. A completion is of so much at
// most, and there are so many of a queue pair in a test at a rate.
const (
	underWayBytes        = 16 << 20
	completionBytes      = 512 << 10
	completionsPerSecond = 100
)

// Sizes that are taken where none are given, and those of a sweep.
const (
	latencySize   = 2
	bandwidthSize = 64 << 10
	datagramSize  = 1024
	sweepFrom     = 2
	sweepTo       = 8 << 20
)

// sizesOf returns the sizes of a test.
func (f *testFlags) sizesOf(t perf.Test) ([]int, error) {
	ud := t.Transport == perf.UD
	switch {
	case t.Op == perf.FetchAdd || t.Op == perf.CompareSwap:
		return []int{8}, nil
	case f.sizes == "sweep" && ud:
		return powers(sweepFrom, max(datagramSize, t.MTU)), nil
	case f.sizes == "sweep":
		return powers(sweepFrom, sweepTo), nil
	case f.sizes != "":
		return parseSizes(f.sizes)
	case t.Kind == perf.Latency:
		return []int{latencySize}, nil
	case ud:
		return []int{datagramSize}, nil
	}
	return []int{bandwidthSize}, nil
}

// powers returns the powers of two between two sizes, and these.
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

// parseSizes reads a list of sizes and ranges.
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
			return nil, fmt.Errorf("invalid --size %q: the range ends before it begins", part)
		}
		sizes = append(sizes, powers(from, to)...)
	}
	return sizes, nil
}

// parseSize reads the size of a message, in bytes, which is a part of what was
// given.
func parseSize(text, given string) (int, error) {
	n, ok := parseBytes(text, 1<<30)
	if !ok {
		return 0, fmt.Errorf("invalid --size %q: a number of bytes from 1 to 1G, such as 64, 4K or 1M, or a range such as 64-1M", given)
	}
	return n, nil
}

// parseBytes reads a number of bytes with K, M, G or T behind, which is above 0.
func parseBytes(text string, most int) (n int, ok bool) {
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text), "B"), "I")
	shift := 0
	if number != "" {
		if i := strings.IndexByte("KMGT", number[len(number)-1]); i >= 0 {
			shift = 10 * (i + 1)
			number = number[:len(number)-1]
		}
	}
	v, err := strconv.ParseUint(number, 10, 31)
	if err != nil || v == 0 || int(v) > most>>shift {
		return 0, false
	}
	return int(v) << shift, true
}
