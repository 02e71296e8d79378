package perf

import (
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// Op is what messages do.
type Op string

// What messages do.
const (
	Send        Op = "send"
	Write       Op = "write"
	Read        Op = "read"
	FetchAdd    Op = "fetch-add"
	CompareSwap Op = "compare-swap"
)

// Ops are all of them.
var Ops = []Op{Send, Write, Read, FetchAdd, CompareSwap}

// atomic tells whether the operation has 8 bytes, always.
func (o Op) atomic() bool { return o == FetchAdd || o == CompareSwap }

// opcode is that of work requests.
func (o Op) opcode() verbs.Opcode {
	switch o {
	case Write:
		return verbs.OpWrite
	case Read:
		return verbs.OpRead
	case FetchAdd:
		return verbs.OpFetchAdd
	case CompareSwap:
		return verbs.OpCompareSwap
	}
	return verbs.OpSend
}

// Kind is what is measured.
type Kind string

// What is measured.
const (
	Latency   Kind = "lat"
	Bandwidth Kind = "bw"
)

// Transport is the type of queue pairs.
type Transport string

// Types of queue pairs.
const (
	RC Transport = "rc"
	UC Transport = "uc"
	UD Transport = "ud"
)

func (t Transport) qpType() verbs.QPType {
	switch t {
	case UC:
		return verbs.QPTypeUC
	case UD:
		return verbs.QPTypeUD
	}
	return verbs.QPTypeRC
}

// lossy tells whether messages may get lost.
func (t Transport) lossy() bool { return t != RC }

// A Test is one measurement, with one size of messages. It is what a client tells a
// server; nothing in it is trusted before check.
type Test struct {
	Op        Op        `json:"op"`
	Kind      Kind      `json:"kind"`
	Transport Transport `json:"transport"`
	Size      int       `json:"size"` // bytes of a message

	Iterations uint64        `json:"iterations"` // messages of a queue pair, or round trips; 0: by time
	Duration   time.Duration `json:"duration_ns"`
	Warmup     uint64        `json:"warmup"` // messages before those that count; by time, see warmupTime

	QueuePairs    int     `json:"qps"` // of all threads
	Threads       int     `json:"threads"`
	Bidirectional bool    `json:"bidirectional"`
	Depth         int     `json:"tx_depth"`
	RecvDepth     int     `json:"rx_depth"`
	Moderation    int     `json:"cq_moderation"` // messages to a completion
	List          int     `json:"post_list"`     // messages posted at a time
	Inline        bool    `json:"inline"`
	Events        bool    `json:"events"` // wait for completion events, do not poll
	Verify        bool    `json:"verify"`
	Huge          bool    `json:"huge"` // memory of huge pages
	Rate          float64 `json:"rate"` // messages per second; 0: as many as can be

	MTU          int    `json:"mtu"` // bytes; 0: as much as both ports do
	SL           uint8  `json:"sl"`
	TrafficClass uint8  `json:"traffic_class"`
	FlowLabel    uint32 `json:"flow_label"`
	HopLimit     uint8  `json:"hop_limit"`
	PKeyIndex    uint16 `json:"pkey_index"`
	Timeout      uint8  `json:"qp_timeout"` // 4.096 µs · 2^n
	RetryCount   uint8  `json:"retry_count"`
	RNRRetry     uint8  `json:"rnr_retry"`
}

// Defaults of a Test.
const (
	defaultDepth      = 128
	defaultRecvDepth  = 512
	defaultModeration = 32
	defaultTimeout    = 14
	defaultRetry      = 6 // 7 is for ever to Soft-RoCE, which would not notice that the peer is gone
	defaultRNRRetry   = 7
	defaultHopLimit   = 64
)

// NewTest returns a test with what most leave as it is.
func NewTest(op Op, kind Kind, transport Transport, size int) Test {
	t := Test{
		Op: op, Kind: kind, Transport: transport, Size: size, Iterations: 1000, Warmup: 100, QueuePairs: 1, Threads: 1,
		Depth: defaultDepth, RecvDepth: defaultRecvDepth, Moderation: defaultModeration, List: 1,
		Timeout: defaultTimeout, RetryCount: defaultRetry, RNRRetry: defaultRNRRetry, HopLimit: defaultHopLimit,
	}
	if op.atomic() {
		t.Size = 8
	}
	return t
}

// String names the test: "send lat rc 64 B". Of one that was not checked it is safe
// for a terminal.
func (t Test) String() string {
	return printable(fmt.Sprintf("%.20s %.20s %.20s %d B", t.Op, t.Kind, t.Transport, t.Size))
}

// ErrTest means that a test makes no sense.
var ErrTest = errors.New("no such test")

// limits of any test, of either side.
const (
	maxSize       = 1 << 30
	maxQueuePairs = 4096
	maxThreads    = 256
	maxDepth      = 16384
	maxList       = 1024
	maxDuration   = 365 * 24 * time.Hour
	maxMessages   = 1 << 47 // loop's counts have 48 bits
	maxRate       = 1e12    // messages per second
	verifyBytes   = 64 << 20
)

// Has tells whether the transport has the operation.
func (t Test) Has() bool {
	switch t.Transport {
	case UC:
		return t.Op == Send || t.Op == Write
	case UD:
		return t.Op == Send
	}
	return true
}

// Check tells what is wrong with a test.
func (t Test) Check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrTest}, args...)...)
	}
	switch t.Op {
	case Send, Write, Read, FetchAdd, CompareSwap:
	default:
		return bad("operation %.20q", t.Op)
	}
	switch t.Transport {
	case RC, UC, UD:
	default:
		return bad("--transport %.20q: it is rc, uc or ud", t.Transport)
	}
	if !t.Has() {
		return bad("%s over %s: uc has sends and writes, ud has sends", t.Op, t.Transport)
	}
	if t.Kind != Latency && t.Kind != Bandwidth {
		return bad("measure of %.20q", t.Kind)
	}
	for _, r := range []struct {
		what          string // as the command line has it
		v, least, max int
	}{
		{"size", t.Size, 1, maxSize}, {"qps", t.QueuePairs, 1, maxQueuePairs}, {"threads", t.Threads, 1, maxThreads},
		{"tx-depth", t.Depth, 1, maxDepth}, {"rx-depth", t.RecvDepth, 1, maxDepth}, {"cq-moderation", t.Moderation, 1, maxDepth},
		{"post-list", t.List, 1, maxList}, {"qp-timeout", int(t.Timeout), 0, 31}, {"retry", int(t.RetryCount), 0, 7},
		{"rnr-retry", int(t.RNRRetry), 0, 7}, {"sl", int(t.SL), 0, 15}, {"flow-label", int(t.FlowLabel), 0, 1<<20 - 1},
	} {
		if r.v < r.least || r.v > r.max {
			return bad("--%s %d is not from %d to %d", r.what, r.v, r.least, r.max)
		}
	}
	switch {
	case t.Op.atomic() && t.Size != 8:
		return bad("atomics of %d bytes: they have 8", t.Size)
	case t.MTU != 0 && mtuOf(t.MTU) == 0:
		return bad("--mtu %d: it is 256, 512, 1024, 2048 or 4096 bytes", t.MTU)
	case (t.Iterations == 0) == (t.Duration == 0):
		return bad("it has to end after a number of messages (--iterations) or after a time (--duration), one of them")
	case t.Iterations > maxMessages || t.Warmup > maxMessages:
		return bad("more than %d messages (--iterations, --warmup)", uint64(maxMessages))
	case t.Duration < 0 || t.Duration > maxDuration:
		return bad("--duration %v is not from 1ns to %v", t.Duration, maxDuration)
	case !(t.Rate >= 0 && t.Rate <= maxRate):
		return bad("--rate %v is more than %v messages per second", t.Rate, float64(maxRate))
	case t.Kind == Latency && (t.QueuePairs != 1 || t.Threads != 1 || t.Bidirectional || t.List != 1 || t.Rate != 0):
		return bad("latency is measured with one message under way: one queue pair, no rate, no list, not both ways at a time")
	case t.QueuePairs%t.Threads != 0:
		return bad("--qps %d is no multiple of --threads %d, each of which has as many", t.QueuePairs, t.Threads)
	case t.Moderation > t.Depth || t.List > t.Depth:
		return bad("--cq-moderation %d and --post-list %d have to be within --tx-depth %d", t.Moderation, t.List, t.Depth)
	case t.Inline && t.Op != Send && t.Op != Write:
		return bad("--inline and %s: only sends and writes have their data inline", t.Op)
	case t.Events && t.Kind == Latency && t.Op == Write:
		return bad("--events and latency of writes: the other side polls its memory, as a write is no event")
	case t.Verify && t.Op == Write && t.Transport == UC && t.Kind == Bandwidth:
		return bad("--verify and bandwidth of writes over uc: nobody can tell which were lost")
	}
	return nil
}

// mtuOf returns an MTU of so many bytes, 0 if there is none.
func mtuOf(bytes int) ib.MTU {
	for m := ib.MTU256; m <= ib.MTU4096; m++ {
		if m.Bytes() == bytes {
			return m
		}
	}
	return 0
}
