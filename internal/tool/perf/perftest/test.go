package perftest

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/stats"
	"github.com/ibkit/ibkit/verbs"
)

// A Test holds the settings of a program. The first group must be equal on both sides:
// the protocol exchanges only a Layout.
type Test struct {
	Order

	Type        verbs.QPType  // -c: QPTypeRC, QPTypeUC, QPTypeUD, QPTypeSRD or, for XRC, QPTypeXRCInit
	QueuePairs  int           // -q
	Iterations  int           // -n, messages per queue pair
	Duration    time.Duration // -D, with Timed; with Infinite: between results
	Margin      time.Duration // -f: uncounted time at the start and at the end
	CompareSwap bool          // -A CMP_AND_SWAP; otherwise fetch and add
	SizeGiven   bool          // -s: a datagram that exceeds the peer's MTU is an error

	Gbits  bool // --report_gbits: figures are in Gb/s instead of MiB/s
	NoPeak bool // -N: peak bandwidth is not measured

	Multicast *Multicast // -g: datagrams are sent to groups; nil: to queue pairs

	// Local settings.
	MTU             ib.MTU        // -m; the peer may have a smaller MTU; 0: the port's MTU
	TxDepth         int           // -t
	RxDepth         int           // -r
	Moderation      int           // -Q
	ModerationGiven bool          // -Q: holds for large messages, too
	List            int           // -l
	RecvList        int           // --recv_post_list; 0: 1
	PollBatch       int           // --cqe_poll; 0: a default
	Inline          int           // -I: maximum size of inline messages
	OutReads        int           // -o; 0: as many as the device supports
	Events          bool          // -e
	Vector          int           // -X: completion vector for events
	SL              uint8         // -S
	TrafficClass    uint8         // --tclass
	FlowLabels      []uint32      // --flow_label: of the queue pairs, in turn
	DLID            ib.LID        // --dlid: LID of the peer; 0: the LID that it sends
	PKeyIndex       uint16        // --pkey_index
	Timeout         uint8         // -u
	RetryCount      uint8         // --retry_count
	SharedReceives  bool          // --use-srq
	RegionPerQP     bool          // --mr_per_qp
	Huge            bool          // --use_hugepages
	OnDemand        bool          // --odp
	Rate            float64       // --rate_limit SW: messages per second; 0: unlimited
	ByteRate        float64       // --rate_limit SW: bytes per second; 0: unlimited
	Burst           int           // --burst_size: messages posted without a pause
	StaticRate      ib.Rate       // --rate_limit HW; 0: the port's rate
	Gap             time.Duration // --latency_gap: pause before each message
	Keep            bool          // -H, -U: Samples keeps all times
	CPUUtil         bool          // --cpu_util, with Timed or Infinite
}

// A Result holds the figures of a size.
type Result struct {
	Size     int
	Partial  bool           // the test failed before the end
	Messages uint64         // counted messages of all queue pairs
	Elapsed  time.Duration  // of the counted messages, or of the counted part of a timed test; 0 for latency by number
	Samples  *stats.Samples // of latency: whole round trips
	Rates    []stats.Rate   // of bandwidth: over time
	Peak     float64        // of bandwidth: messages per second; 0: not measured
	Theirs   *Report        // figures of the peer
	LoopTime time.Duration  // of the whole loop
	User     time.Duration  // processor time of the loop
	System   time.Duration  // processor time of the loop
	CPUUtil  float64        // with Test.CPUUtil: percent; see [host.Load]
}

// Bytes returns the amount of data.
func (r Result) Bytes() uint64 { return uint64(r.Size) * r.Messages }

// DefaultMargin returns the margin of the programs for a duration, in whole seconds.
func DefaultMargin(duration time.Duration) time.Duration {
	return (duration / 4).Truncate(time.Second)
}

// CyclesPerNanosecond returns the frequency of the processor's time-stamp counter in GHz,
// 0 if programs cannot read the counter.
func CyclesPerNanosecond() float64 { return loop.TicksPerNanosecond() }

// fitDatagrams reduces sizes of datagrams to a limit in bytes, and reports whether it
// changed them. Writes and reads over SRD are not datagrams.
func (t *Test) fitDatagrams(limit int) bool {
	if t.Verb != Send || !endpoint.Datagrams(t.Type) || slices.Max(t.Sizes) <= limit {
		return false
	}
	sizes := []int{limit}
	if t.All {
		sizes = AllSizes(limit)
	}
	t.Sizes = sizes
	return true
}

// XRC reports whether the test runs over XRC.
func (t *Test) XRC() bool { return t.Type == verbs.QPTypeXRCInit }

// Shared reports whether queue pairs share a receive queue.
func (t *Test) Shared() bool { return t.SharedReceives || t.XRC() }

// Connection returns the value of -c.
func (t *Test) Connection() string {
	if t.XRC() {
		return "XRC"
	}
	return t.Type.String()
}

// Numbers returns the number of queue pairs that perftest counts: with XRC the sending
// and the receiving queue pairs, if both sides do both.
func (t *Test) Numbers() int {
	if t.XRC() && t.twoWay() {
		return 2 * t.QueuePairs
	}
	return t.QueuePairs
}

// twoWay reports whether both sides send and receive, as perftest counts it.
func (t *Test) twoWay() bool { return t.Bidirectional || !t.Bandwidth }

// AtomicSize is the size of all messages of atomics.
const AtomicSize = 8

// AllSizes returns the sizes of -a: powers of two, up to a limit in bytes.
func AllSizes(limit int) []int {
	last := min(23, bits.Len(uint(limit))-1)
	var sizes []int
	for n := 1; n <= last; n++ {
		sizes = append(sizes, 1<<n)
	}
	return sizes
}

// latencyDepth is the capacity of the send queue in latency tests. The programs have 1
// and wait for the completion of each send. More lets a loop request few completions,
// which the peer cannot notice.
const latencyDepth = 64

// depth returns the capacity of the send queue of a queue pair.
func (t *Test) depth() int {
	switch {
	case !t.Bandwidth:
		return latencyDepth
	case !t.Timed:
		return min(t.TxDepth, t.Iterations)
	}
	return t.TxDepth
}

// Moderate returns the number of messages per completion. Large messages have a
// completion each, as in perftest, and so have those over SRD.
func (t *Test) Moderate(size int) int {
	const large = 8192
	if t.Type == verbs.QPTypeSRD || size > large && t.Type != verbs.QPTypeUD && !t.All && !t.Events && !t.ModerationGiven {
		return 1
	}
	return min(t.Moderation, t.depth())
}

// rate returns the limit in messages per second, 0 without a limit.
func (t *Test) rate(size int) float64 {
	if t.ByteRate > 0 {
		return t.ByteRate / float64(size)
	}
	return t.Rate
}

// minIterations is the minimum of the programs.
const minIterations = 5

// Check returns an error if the settings are invalid.
func (t *Test) Check() error {
	switch {
	case t.QueuePairs < 1 || t.TxDepth < 1 || t.RxDepth < 1 || t.Moderation < 1 || t.List < 1 || len(t.Sizes) == 0:
		return fmt.Errorf("%d queue pairs, tx depth %d, rx depth %d, CQ moderation %d, post list %d, %d sizes: each must be above 0",
			t.QueuePairs, t.TxDepth, t.RxDepth, t.Moderation, t.List, len(t.Sizes))
	case !t.Bandwidth && t.QueuePairs > 1:
		return fmt.Errorf("%d queue pairs: a latency test uses a single queue pair", t.QueuePairs)
	case !t.Bandwidth && t.Bidirectional:
		return fmt.Errorf("bidirectional latency: only bandwidth tests can be bidirectional")
	case t.Timed && (t.All || len(t.Sizes) > 1):
		return fmt.Errorf("several sizes by time: a timed test has a single size")
	case t.Timed && t.Events:
		return fmt.Errorf("events by time: a timed test polls")
	case t.Infinite && (t.All || len(t.Sizes) > 1):
		return fmt.Errorf("several sizes without end: an endless test has a single size")
	case t.Infinite && (!t.Bandwidth || t.Events || t.Consumes() && t.Bidirectional || t.rate(1) > 0):
		return fmt.Errorf("endless test of latency, with events, with a rate, or of sends or writes with immediate data in both directions: not supported by the programs")
	case t.Infinite && t.Duration <= 0:
		return fmt.Errorf("endless test with results every %v: the time must be above 0", t.Duration)
	case t.SharedReceives && t.Verb != Send:
		return fmt.Errorf("shared receive queue of %v: only sends use receives", t.Verb)
	case t.Shared() && t.Verb == Send && t.QueuePairs > t.RxDepth:
		return fmt.Errorf("shared receive queue with %d receives for %d queue pairs: each needs one", t.RxDepth, t.QueuePairs)
	case t.rate(1) > 0 && (!t.Bandwidth || t.Verb == Atomic || t.Consumes() && t.Bidirectional):
		return fmt.Errorf("rate of latency, atomics, or sends or writes with immediate data in both directions: not supported by the programs")
	case t.OnDemand && (t.Verb == Atomic || t.Type == verbs.QPTypeUC):
		return fmt.Errorf("on-demand paging with %v over %v: not supported by the programs", t.Verb, t.Type)
	case t.Timed && t.Duration <= 2*t.Margin:
		return fmt.Errorf("duration %v with a margin of %v at each end: no time is left to measure", t.Duration, t.Margin)
	case !t.Timed && t.Iterations < minIterations:
		return fmt.Errorf("%d iterations: below the minimum of %d", t.Iterations, minIterations)
	case t.Imm && t.Verb != Write:
		return fmt.Errorf("immediate data of %v: only writes have it", t.Verb)
	case t.Imm && t.XRC():
		return fmt.Errorf("immediate data over XRC: not supported")
	case t.Type == verbs.QPTypeUD && t.Verb != Send:
		return fmt.Errorf("UD does not support %v", t.Verb)
	case t.Type == verbs.QPTypeSRD && (t.Verb == Atomic || t.SharedReceives):
		return fmt.Errorf("SRD does not support %v with these settings: it has no atomics and no shared receive queues", t.Verb)
	case t.Type == verbs.QPTypeUC && (t.Verb == Read || t.Verb == Atomic):
		return fmt.Errorf("UC does not support %v", t.Verb)
	}
	if err := t.checkMulticast(); err != nil {
		return err
	}
	for _, size := range t.Sizes {
		if size < 1 || t.Verb == Atomic && size != AtomicSize {
			return fmt.Errorf("size %d of %v", size, t.Verb)
		}
	}
	return nil
}
