package perftest

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/verbs"
)

// A Test is what both programs have to be started with, and what is a matter of
// this side alone. Nothing of it is exchanged but what Layout has.
type Test struct {
	Order

	Type        verbs.QPType  // -c: QPTypeRC, QPTypeUC or QPTypeUD
	QueuePairs  int           // -q
	Iterations  int           // -n, messages of each queue pair
	Duration    time.Duration // -D, with Timed
	Margin      time.Duration // -f: what of it does not count at the beginning, and at the end
	CompareSwap bool          // -A CMP_AND_SWAP; else fetch and add

	Gbits bool // --report_gbits: figures are exchanged in Gb/s, not MiB/s

	// Of this side.
	MTU          ib.MTU // -m; the other side may have a smaller one; 0: the port's
	TxDepth      int    // -t
	RxDepth      int    // -r
	Moderation   int    // -Q
	List         int    // -l
	Inline       int    // -I: messages of up to so many bytes
	OutReads     int    // -o; 0: as many as the device does
	Events       bool   // -e
	SL           uint8  // -S
	TrafficClass uint8  // --tclass
	PKeyIndex    uint16 // --pkey_index
	Timeout      uint8  // -u
	RetryCount   uint8  // --retry_count

	CPU     int           // that the measured loop runs on; loop.NoCPU: any
	Silence time.Duration // that is taken for an end of the other side
}

// A Result is what a test with one size came to.
type Result struct {
	Size     int
	Messages uint64        // that count, of all queue pairs
	Elapsed  time.Duration // that they took; of tests of bandwidth
	Samples  *loop.Samples // of tests of latency: whole round trips
	Rates    []loop.Rate   // of tests of bandwidth: over time
	Theirs   *Report       // what the other side sent
	CPU      loop.Usage
}

// Bytes is how much data the messages were.
func (r Result) Bytes() uint64 { return uint64(r.Size) * r.Messages }

// AtomicSize is the size of all messages of atomics.
const AtomicSize = 8

// AllSizes are those of -a: powers of two, of datagrams to the MTU.
func AllSizes(mtu int, kind verbs.QPType) []int {
	last := 23
	if kind == verbs.QPTypeUD {
		last = bits.Len(uint(mtu)) - 1
	}
	var sizes []int
	for n := 1; n <= last; n++ {
		sizes = append(sizes, 1<<n)
	}
	return sizes
}

// depth is how many sends are under way on a queue pair.
func (t *Test) depth() int {
	if !t.Timed && t.Bandwidth {
		return min(t.TxDepth, t.Iterations)
	}
	return t.TxDepth
}

// Moderate is how many messages have one completion: large ones have one each, as
// those of perftest do.
func (t *Test) Moderate(size int) int {
	const large = 8192
	if size > large && t.Type != verbs.QPTypeUD && !t.All && !t.Events {
		return 1
	}
	return min(t.Moderation, t.depth())
}

// Check looks for what cannot be.
func (t *Test) Check() error {
	switch {
	case t.QueuePairs < 1 || t.TxDepth < 1 || t.RxDepth < 1 || t.Moderation < 1 || t.List < 1 || len(t.Sizes) == 0:
		return fmt.Errorf("%d queue pairs, %d sends, %d receives, a completion per %d, %d in a list, %d sizes: each has to be above 0",
			t.QueuePairs, t.TxDepth, t.RxDepth, t.Moderation, t.List, len(t.Sizes))
	case !t.Bandwidth && t.QueuePairs > 1:
		return fmt.Errorf("%d queue pairs: a test of latency has one", t.QueuePairs)
	case !t.Bandwidth && t.Bidirectional:
		return fmt.Errorf("a test of latency goes both ways in any case")
	case t.Timed && (t.All || len(t.Sizes) > 1):
		return fmt.Errorf("all sizes by time: the programs do one size")
	case t.Timed && t.Events:
		return fmt.Errorf("events by time: the programs poll then")
	case t.Timed && t.Duration <= 2*t.Margin:
		return fmt.Errorf("%v with margins of %v at either end leave no time to measure", t.Duration, t.Margin)
	case !t.Timed && t.Iterations < minIterations:
		return fmt.Errorf("%d iterations: the programs do no fewer than %d", t.Iterations, minIterations)
	case t.Type == verbs.QPTypeUD && t.Verb != Send:
		return fmt.Errorf("there is no %v by datagrams", t.Verb)
	case t.Type == verbs.QPTypeUC && (t.Verb == Read || t.Verb == Atomic):
		return fmt.Errorf("there is no %v by unreliable connections", t.Verb)
	}
	for _, size := range t.Sizes {
		if size < 1 || t.Verb == Atomic && size != AtomicSize {
			return fmt.Errorf("messages of %d bytes: there is no %v of that size", size, t.Verb)
		}
	}
	return nil
}

// minIterations is perftest's least.
const minIterations = 5
