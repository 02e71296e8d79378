package perf

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/jsonframe"
	"github.com/ibkit/ibkit/verbs"
)

// Op is the operation of the messages.
type Op string

// Operations.
const (
	Send        Op = "send"
	Write       Op = "write"
	Read        Op = "read"
	FetchAdd    Op = "fetch-add"
	CompareSwap Op = "compare-swap"
)

// Ops are all operations.
var Ops = []Op{Send, Write, Read, FetchAdd, CompareSwap}

// Atomic reports whether the operation is an atomic. Atomics have 8 bytes.
func (o Op) Atomic() bool { return o == FetchAdd || o == CompareSwap }

// opcode returns the opcode of work requests.
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

// Kind is the measured quantity.
type Kind string

// Measured quantities.
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

	// XRC is reliable like RC. Each side has queue pairs that send and others, targets of
	// an XRC domain, that receive for shared receive queues.
	XRC Transport = "xrc"

	// SRD is AWS's reliable, unordered datagrams: sends, writes and reads.
	SRD Transport = "srd"
)

// Transports are all types of queue pairs.
var Transports = []Transport{RC, UC, UD, XRC, SRD}

func (t Transport) qpType() verbs.QPType {
	switch t {
	case UC:
		return verbs.QPTypeUC
	case UD:
		return verbs.QPTypeUD
	case XRC:
		return verbs.QPTypeXRCInit
	case SRD:
		return verbs.QPTypeSRD
	}
	return verbs.QPTypeRC
}

// lossy reports whether messages may be lost.
func (t Transport) lossy() bool { return t == UC || t == UD }

// A Test is a measurement with a message size. A client sends it to the server, which
// trusts it only after Check.
type Test struct {
	Op        Op        `json:"op"`
	Kind      Kind      `json:"kind"`
	Transport Transport `json:"transport"`
	Size      int       `json:"size"`         // bytes of a message
	Imm       bool      `json:"imm,omitzero"` // each write has immediate data, and consumes a receive

	Iterations uint64        `json:"iterations"` // messages per queue pair, or round trips; 0: by time
	Duration   time.Duration `json:"duration_ns"`
	Warmup     uint64        `json:"warmup"` // uncounted messages at the start; by time, see warmupTime

	QueuePairs    int     `json:"qps"` // of all threads
	Threads       int     `json:"threads"`
	Bidirectional bool    `json:"bidirectional"`
	Depth         int     `json:"tx_depth"`
	RecvDepth     int     `json:"rx_depth"`
	Moderation    int     `json:"cq_moderation"` // messages per completion
	List          int     `json:"post_list"`     // messages posted at a time
	Inline        bool    `json:"inline"`
	Events        bool    `json:"events"` // wait for completion events instead of polling
	Verify        bool    `json:"verify"`
	Huge          bool    `json:"huge"`             // use huge pages
	Relaxed       bool    `json:"relaxed_ordering"` // the device may reorder its accesses to memory
	Rate          float64 `json:"rate"`             // messages per second; 0: unlimited
	Burst         int     `json:"burst"`            // with Rate: messages sent without a pause; 0: 1

	// SharedReceives makes the queue pairs of a side share a receive queue with
	// RecvDepth receives.
	SharedReceives bool `json:"shared_receives"`

	// CM makes the connection manager connect the queue pairs, with a type of service;
	// TOS 0 is that of the host.
	CM  bool  `json:"cm"`
	TOS uint8 `json:"tos"`

	// Multicast is a group that the server joins and that the client sends to. Answers are
	// sent to the client alone. The zero address disables it.
	Multicast netip.Addr `json:"multicast,omitzero"`

	MTU          int    `json:"mtu"` // bytes; 0: the smaller MTU of both ports
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
	defaultRetry      = 6 // Soft-RoCE retries without limit for 7, and would not detect a lost peer
	defaultRNRRetry   = 7
	defaultHopLimit   = 64
)

// NewTest returns a test with default parameters.
func NewTest(op Op, kind Kind, transport Transport, size int) Test {
	t := Test{
		Op: op, Kind: kind, Transport: transport, Size: size, Iterations: 1000, Warmup: 100, QueuePairs: 1, Threads: 1,
		Depth: defaultDepth, RecvDepth: defaultRecvDepth, Moderation: defaultModeration, List: 1,
		Timeout: defaultTimeout, RetryCount: defaultRetry, RNRRetry: defaultRNRRetry, HopLimit: defaultHopLimit,
	}
	if op.Atomic() {
		t.Size = 8
	}
	if transport == SRD {
		t.Moderation = 1
	}
	return t
}

const (
	// inFlightBytes bounds the data in flight on a queue pair. Soft-RoCE sends within
	// the call that posts, which would take seconds for more.
	inFlightBytes = 16 << 20

	completionBytes = 512 << 10 // maximum data per completion
)

// FittingDepth returns Depth, less for large messages.
func (t Test) FittingDepth() int {
	return max(2, t.List, min(t.Depth, inFlightBytes/max(1, t.Size)))
}

// FittingModeration returns Moderation, less for large messages, so that progress is visible
// early. Messages that complete in any order have a completion each.
func (t Test) FittingModeration() int {
	if t.Transport == SRD {
		return 1
	}
	return max(1, min(t.Moderation, t.Depth, completionBytes/max(1, t.Size)))
}

// String returns the name of the test: "send lat rc 64 B". The name of an unchecked
// test is safe for a terminal.
func (t Test) String() string {
	op := t.Op
	if t.Imm {
		op += "-imm"
	}
	return jsonframe.Printable(fmt.Sprintf("%.20s %.20s %.20s %d B", op, t.Kind, t.Transport, t.Size))
}

// consumes reports whether each message consumes a receive.
func (t Test) consumes() bool { return t.Op == Send || t.Imm }

// opcode returns the opcode of work requests.
func (t Test) opcode() verbs.Opcode {
	if t.Imm {
		return verbs.OpWriteWithImm
	}
	return t.Op.opcode()
}

// ErrTest is wrapped by errors about an invalid test.
var ErrTest = errors.New("invalid test")

// A FieldError is an invalid field of a test. It wraps ErrTest.
type FieldError struct {
	Field  string // "qps", "tx-depth" and so on; like the JSON name, with hyphens
	Value  string // "" if it is only set or not
	Reason string
}

func (e *FieldError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%v: %s: %s", ErrTest, e.Field, e.Reason)
	}
	return fmt.Sprintf("%v: %s %s: %s", ErrTest, e.Field, e.Value, e.Reason)
}

// Unwrap returns ErrTest.
func (e *FieldError) Unwrap() error { return ErrTest }

// Limits of any test on both sides.
const (
	maxSize       = 1 << 30
	maxQueuePairs = 4096
	maxThreads    = 256
	maxDepth      = 16384
	maxList       = 1024
	maxDuration   = 365 * 24 * time.Hour
	maxMessages   = 1 << 47 // package loop counts in 48 bits
	maxRate       = 1e12    // messages per second
	verifyBytes   = 64 << 20
)

// Supported reports whether the transport supports the operation.
func (t Test) Supported() bool {
	switch t.Transport {
	case UC:
		return t.Op == Send || t.Op == Write
	case UD:
		return t.Op == Send
	case SRD:
		return !t.Op.Atomic()
	}
	return true
}

// Datagrams reports whether a message must fit into a datagram: over UD, and sends over SRD.
func (t Test) Datagrams() bool { return t.Transport == UD || t.Transport == SRD && t.Op == Send }

// Check returns a [FieldError] if the test is invalid.
func (t Test) Check() error {
	for _, check := range []func(Test) *FieldError{Test.badKind, Test.badRange, Test.badExtent, Test.badCombination, Test.badConnection} {
		if err := check(t); err != nil {
			return err
		}
	}
	return nil
}

func badField(field string, value any, format string, args ...any) *FieldError {
	return &FieldError{field, fmt.Sprint(value), fmt.Sprintf(format, args...)}
}

// badKind returns an unknown or unsupported operation, quantity or transport.
func (t Test) badKind() *FieldError {
	switch t.Op {
	case Send, Write, Read, FetchAdd, CompareSwap:
	default:
		return badField("op", fmt.Sprintf("%.20q", t.Op), "not an operation")
	}
	switch t.Transport {
	case RC, UC, UD, XRC, SRD:
	default:
		return badField("transport", fmt.Sprintf("%.20q", t.Transport), "want rc, uc, ud, xrc or srd")
	}
	switch {
	case !t.Supported():
		return badField("transport", t.Transport, "%s is not supported (uc supports send and write, ud supports send, srd supports no atomics)", t.Op)
	case t.Imm && t.Op != Write:
		return badField("imm", "", "only writes have immediate data here")
	case t.Imm && t.Transport == XRC:
		return badField("imm", "", "not supported over xrc")
	case t.Kind != Latency && t.Kind != Bandwidth:
		return badField("kind", fmt.Sprintf("%.20q", t.Kind), "want lat or bw")
	}
	return nil
}

// badRange returns a number out of range.
func (t Test) badRange() *FieldError {
	for _, r := range []struct {
		name        string
		v, low, max int
	}{
		{"size", t.Size, 1, maxSize}, {"qps", t.QueuePairs, 1, maxQueuePairs}, {"threads", t.Threads, 1, maxThreads},
		{"tx-depth", t.Depth, 1, maxDepth}, {"rx-depth", t.RecvDepth, 1, maxDepth}, {"cq-moderation", t.Moderation, 1, maxDepth},
		{"post-list", t.List, 1, maxList}, {"qp-timeout", int(t.Timeout), 0, 31}, {"retry", int(t.RetryCount), 0, 7},
		{"rnr-retry", int(t.RNRRetry), 0, 7}, {"burst", t.Burst, 0, 1 << 20}, {"sl", int(t.SL), 0, 15}, {"flow-label", int(t.FlowLabel), 0, 1<<20 - 1},
	} {
		if r.v < r.low || r.v > r.max {
			return badField(r.name, r.v, "want %d to %d", r.low, r.max)
		}
	}
	switch {
	case t.Op.Atomic() && t.Size != 8:
		return badField("size", t.Size, "atomics have 8 bytes")
	case t.MTU != 0 && ib.MTUOf(t.MTU) == 0:
		return badField("mtu", t.MTU, "want 256, 512, 1024, 2048 or 4096")
	}
	return nil
}

// badExtent returns an invalid number of messages, duration or rate.
func (t Test) badExtent() *FieldError {
	switch {
	case t.Iterations == 0 && t.Duration == 0:
		return badField("iterations", 0, "no duration is set either")
	case t.Iterations != 0 && t.Duration != 0:
		return badField("iterations", t.Iterations, "a duration is set too")
	case t.Iterations > maxMessages:
		return badField("iterations", t.Iterations, "want at most %d", uint64(maxMessages))
	case t.Warmup > maxMessages:
		return badField("warmup", t.Warmup, "want at most %d", uint64(maxMessages))
	case t.Duration < 0 || t.Duration > maxDuration:
		return badField("duration", t.Duration, "want 1ns to %v", maxDuration)
	case !(t.Rate >= 0 && t.Rate <= maxRate):
		return badField("rate-limit", t.Rate, "want 0 to %v messages per second", float64(maxRate))
	}
	return nil
}

// badCombination returns a field that another excludes.
func (t Test) badCombination() *FieldError {
	const bandwidthOnly = "a latency test has a single message in flight"
	switch lat := t.Kind == Latency; {
	case lat && t.QueuePairs != 1:
		return badField("qps", t.QueuePairs, bandwidthOnly)
	case lat && t.Threads != 1:
		return badField("threads", t.Threads, bandwidthOnly)
	case lat && t.Bidirectional:
		return badField("bidirectional", "", bandwidthOnly)
	case lat && t.List != 1:
		return badField("post-list", t.List, bandwidthOnly)
	case lat && t.Rate != 0:
		return badField("rate-limit", t.Rate, bandwidthOnly)
	case lat && t.Relaxed:
		return badField("relaxed-ordering", "", "a latency test waits for the last byte of a message")
	case t.Op == Write && t.Relaxed && t.Verify:
		return badField("relaxed-ordering", "", "the payload of a write would be verified before it is complete")
	case t.Burst != 0 && t.Rate == 0:
		return badField("burst", t.Burst, "no rate is set")
	case t.SharedReceives && !t.consumes():
		return badField("shared-receives", "", "only sends, and writes with --imm, use receives")
	case t.SharedReceives && t.Threads != 1:
		return badField("shared-receives", "", "not supported with several threads")
	case t.SharedReceives && t.Verify && t.QueuePairs > 1:
		return badField("shared-receives", "", "the messages of several queue pairs cannot be verified")
	case t.SharedReceives && t.RecvDepth < t.QueuePairs:
		return badField("rx-depth", t.RecvDepth, "below the number of queue pairs, %d, which share the receives", t.QueuePairs)
	case t.QueuePairs%t.Threads != 0:
		return badField("qps", t.QueuePairs, "want a multiple of threads %d", t.Threads)
	case t.SharedReceives && t.Transport == SRD:
		return badField("shared-receives", "", "adapters with srd have no shared receive queues")
	case t.Transport == SRD && t.Moderation != 1:
		return badField("cq-moderation", t.Moderation, "messages over srd complete in any order, so that each has a completion")
	case t.Moderation > t.Depth:
		return badField("cq-moderation", t.Moderation, "want at most tx-depth %d", t.Depth)
	case t.List > t.Depth:
		return badField("post-list", t.List, "want at most tx-depth %d", t.Depth)
	case t.Inline && t.Op != Send && t.Op != Write:
		return badField("inline", "", "only send and write support inline data")
	case t.Events && lat && !t.consumes() && t.Op == Write:
		return badField("events", "", "a write generates no event for the responder")
	case t.Verify && t.Op == Write && t.Transport == UC && t.Kind == Bandwidth:
		return badField("verify", "", "the responder cannot detect lost writes over uc")
	}
	return nil
}

// badConnection returns a field that the connection manager excludes or requires.
func (t Test) badConnection() *FieldError {
	const selected = "the connection manager selects it"
	switch {
	case t.Multicast.IsValid():
		return t.badMulticast()
	case t.CM && t.Transport == XRC:
		return badField("cm", "", "the connection manager does not connect xrc")
	case t.CM && t.Transport == SRD:
		return badField("cm", "", "srd has no connections, and its adapters have no connection manager")
	case !t.CM && t.TOS != 0:
		return badField("tos", t.TOS, "only queue pairs of the connection manager have a type of service")
	case !t.CM:
		return nil
	case t.SL != 0:
		return badField("sl", t.SL, selected)
	case t.TrafficClass != 0:
		return badField("tclass", t.TrafficClass, "the type of service determines it")
	case t.FlowLabel != 0:
		return badField("flow-label", t.FlowLabel, selected)
	case t.HopLimit != defaultHopLimit:
		return badField("hop-limit", t.HopLimit, selected)
	case t.PKeyIndex != 0:
		return badField("pkey-index", t.PKeyIndex, selected)
	}
	return nil
}

// badMulticast returns a field that excludes multicast.
func (t Test) badMulticast() *FieldError {
	const field = "group"
	switch {
	case !t.Multicast.IsMulticast() || t.Multicast.Zone() != "":
		return badField(field, t.Multicast, "not the address of a multicast group")
	case t.Transport != UD:
		return badField(field, t.Multicast, "only ud supports groups")
	case t.CM:
		return badField(field, t.Multicast, "a connection has a single peer")
	case t.QueuePairs != 1:
		return badField(field, t.Multicast, "each queue pair would receive all messages")
	case t.Bidirectional:
		return badField(field, t.Multicast, "the server does not send to the group")
	}
	return nil
}
