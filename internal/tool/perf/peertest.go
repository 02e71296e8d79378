package perf

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
	"github.com/ibkit/ibkit/internal/tool/perf/pingpong"
)

// check returns an error if the programs do not support a test.
func (o PeerOptions) check(t Test) error {
	unsupported := fmt.Sprintf("not supported by the programs of %s", o.Program)
	switch {
	case o.Program == Pingpong && t.Rate != 0:
		return badField("rate-limit", t.Rate, "%s", unsupported)
	case o.Program == Pingpong && t.CM:
		return badField("cm", "", "%s", unsupported)
	case t.CM && t.Transport == UC:
		return badField("transport", t.Transport, "%s with the connection manager", unsupported)
	case o.Program == Pingpong && t.Huge:
		return badField("huge", "", "%s", unsupported)
	case o.Program == Pingpong && t.SharedReceives:
		return badField("shared-receives", "", "%s", unsupported)
	case t.Threads != 1:
		return badField("threads", t.Threads, "%s", unsupported)
	case o.Program == Perftest && t.Verify:
		return badField("verify", "", "%s", unsupported)
	case t.Iterations > math.MaxInt32:
		return badField("iterations", t.Iterations, "want at most %d", math.MaxInt32)
	case o.Program == Perftest && t.Duration%time.Second != 0:
		return badField("duration", t.Duration, "want whole seconds")
	case o.Program == Pingpong && (t.Op != Send || t.Kind != Latency):
		return badField("test", fmt.Sprintf("%s-%s", t.Op, t.Kind), "%s", unsupported)
	case o.Program == Pingpong && t.Iterations == 0:
		return badField("duration", t.Duration, "%s", unsupported)
	case o.Program == Pingpong && o.Shared > 0 && t.Transport != RC:
		return badField("transport", t.Transport, "a shared receive queue needs rc")
	}
	var err error
	if o.Program == Perftest {
		test := t.Perftest()
		test.Margin = o.margin(t)
		err = test.Check()
	} else {
		test := o.pingpongTest(t)
		err = test.Check()
	}
	if err != nil {
		return fmt.Errorf("%w for %s: %w", ErrTest, o.Program, err)
	}
	return nil
}

// margin returns the uncounted time at each end of a test by time.
func (o PeerOptions) margin(t Test) time.Duration {
	if o.Margin < 0 {
		return perftest.DefaultMargin(t.Duration)
	}
	return o.Margin
}

// programTests returns the tests with the settings that the programs prescribe.
func (o PeerOptions) programTests() []Test {
	all := slices.Clone(o.Tests)
	for i := range all {
		t := &all[i]
		if t.Kind == Latency {
			t.Depth, t.Moderation = 1, 1
		}
		if o.Shared > 0 {
			t.QueuePairs = o.Shared
		}
		switch {
		case o.Program == Perftest && !t.CM:
			t.HopLimit = perftest.HopLimit
		case t.Transport != UD && t.MTU == 0:
			t.MTU = pingpongMTU
		}
	}
	return all
}

// pingpongTest returns the test for a program of libibverbs.
func (o PeerOptions) pingpongTest(t Test) pingpong.Test {
	return pingpong.Test{
		Type: t.Transport.qpType(), Size: t.Size, Iterations: int(t.Iterations), RxDepth: t.RecvDepth, MTU: ib.MTUOf(t.MTU), SL: t.SL,
		Events: t.Events, Shared: o.Shared, Verify: t.Verify, PeerTimeout: responseTime,
	}
}

// program returns the name of the peer's program.
func (o PeerOptions) program() string {
	t := o.Tests[0]
	switch {
	case o.Program == Perftest:
		return t.Perftest().Program()
	case o.Shared > 0:
		return "ibv_srq_pingpong"
	}
	return fmt.Sprintf("ibv_%s_pingpong", t.Transport)
}

var perftestVerbs = map[Op]perftest.Verb{
	Send: perftest.Send, Write: perftest.Write, Read: perftest.Read, FetchAdd: perftest.Atomic, CompareSwap: perftest.Atomic,
}

// Perftest returns the test for a program of perftest.
func (t Test) Perftest() perftest.Test {
	test := perftest.Test{
		Order: perftest.Order{
			Verb: perftestVerbs[t.Op], Imm: t.Imm, Bandwidth: t.Kind == Bandwidth, Bidirectional: t.Bidirectional, Sizes: []int{t.Size},
			Timed: t.Iterations == 0,
		},
		SizeGiven: true, // a smaller size would not be the requested test
		Type:      t.Transport.qpType(), QueuePairs: t.QueuePairs, Iterations: int(t.Iterations), Duration: t.Duration,
		CompareSwap: t.Op == CompareSwap, MTU: ib.MTUOf(t.MTU), TxDepth: t.Depth, RxDepth: t.RecvDepth, Moderation: t.Moderation,
		List: t.List, Events: t.Events, SL: t.SL, TrafficClass: t.TrafficClass, PKeyIndex: t.PKeyIndex, Timeout: t.Timeout,
		RetryCount: t.RetryCount, SharedReceives: t.SharedReceives, Huge: t.Huge, Rate: t.Rate, Burst: t.Burst,
	}
	if t.Inline {
		test.Inline = t.Size
	}
	if t.Kind == Latency {
		test.TxDepth, test.Moderation = 1, 1
	}
	return test
}

// pingpongMTU is the default MTU of the programs of libibverbs.
const pingpongMTU = 1024
