package perf

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/perftest"
	"github.com/ibkit/ibkit/perf/pingpong"
)

// check looks for what programs do not do.
func (o PeerOptions) check(t Test) error {
	bad := func(what string) error { return fmt.Errorf("%w: %s has no %s", ErrTest, o.Program, what) }
	switch {
	case t.Rate != 0:
		return bad("rate that this side could hold it to")
	case t.Threads != 1:
		return bad("second thread")
	case o.Program == Perftest && t.Verify:
		return bad("verification of payloads")
	case t.Iterations > math.MaxInt32:
		return bad(fmt.Sprintf("test of more than %d messages", math.MaxInt32))
	case o.Program == Perftest && t.Duration%time.Second != 0:
		return bad("test of a part of a second, which -D could name")
	case o.Program == Pingpong && (t.Op != Send || t.Kind != Latency):
		return bad("test but send-lat")
	case o.Program == Pingpong && t.Iterations == 0:
		return bad("test by time")
	case o.Program == Pingpong && o.Shared > 0 && t.Transport != RC:
		return bad("shared receive queue over " + string(t.Transport))
	}
	var err error
	if o.Program == Perftest {
		test := t.Perftest()
		test.Margin = o.Margin
		err = test.Check()
	} else {
		test := o.pingpongTest(t)
		err = test.Check()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTest, err)
	}
	return nil
}

// settled are the tests with what the programs leave no choice of.
func (o PeerOptions) settled() []Test {
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
		case o.Program == Perftest:
			t.HopLimit = perftest.HopLimit
		case t.Transport != UD && t.MTU == 0:
			t.MTU = pingpongMTU
		}
	}
	return all
}

// pingpongTest is the test as libibverbs' examples have it.
func (o PeerOptions) pingpongTest(t Test) pingpong.Test {
	return pingpong.Test{
		Type: t.Transport.qpType(), Size: t.Size, Iterations: int(t.Iterations), RxDepth: t.RecvDepth, MTU: mtuOf(t.MTU), SL: t.SL,
		Events: t.Events, Shared: o.Shared, Verify: t.Verify, Silence: answerTime,
	}
}

// program is the name of the one at the other side.
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

// Perftest is the test as perftest has it.
func (t Test) Perftest() perftest.Test {
	test := perftest.Test{
		Order: perftest.Order{
			Verb: perftestVerbs[t.Op], Bandwidth: t.Kind == Bandwidth, Bidirectional: t.Bidirectional, Sizes: []int{t.Size},
			Timed: t.Iterations == 0,
		},
		Type: t.Transport.qpType(), QueuePairs: t.QueuePairs, Iterations: int(t.Iterations), Duration: t.Duration,
		CompareSwap: t.Op == CompareSwap, MTU: mtuOf(t.MTU), TxDepth: t.Depth, RxDepth: t.RecvDepth, Moderation: t.Moderation,
		List: t.List, Events: t.Events, SL: t.SL, TrafficClass: t.TrafficClass, PKeyIndex: t.PKeyIndex, Timeout: t.Timeout,
		RetryCount: t.RetryCount, CPU: loop.NoCPU, Silence: answerTime,
	}
	if t.Inline {
		test.Inline = t.Size
	}
	if t.Kind == Latency {
		test.TxDepth, test.Moderation = 1, 1
	}
	return test
}

// pingpongMTU is the MTU that the examples have by default.
const pingpongMTU = 1024
