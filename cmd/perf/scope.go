package perf

import (
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// A flagScope is the tests that a flag applies to.
type flagScope struct {
	flag    string
	applies func(testKind, perf.Transport) bool
	tests   string           // description of these tests
	reset   func(*perf.Test) // removes the flag's effect from other tests
}

func toBandwidth(t testKind, _ perf.Transport) bool { return t.kind == perf.Bandwidth }

func toLatency(t testKind, _ perf.Transport) bool { return t.kind == perf.Latency }

func reliable(_ testKind, transport perf.Transport) bool {
	return transport == perf.RC || transport == perf.XRC
}

// flagScopes are the flags that do not apply to all tests.
var flagScopes = []flagScope{
	{"qps", toBandwidth, "bandwidth", func(t *perf.Test) { t.QueuePairs = 1 }},
	{"threads", toBandwidth, "bandwidth", func(t *perf.Test) { t.Threads = 1 }},
	{"bidirectional", toBandwidth, "bandwidth", func(t *perf.Test) { t.Bidirectional = false }},
	{"post-list", toBandwidth, "bandwidth", func(t *perf.Test) { t.List = 1 }},
	{"rate-limit", toBandwidth, "bandwidth", func(t *perf.Test) { t.Burst = 0 }},
	{"relaxed-ordering", toBandwidth, "bandwidth", func(t *perf.Test) { t.Relaxed = false }},
	{"cq-moderation", toBandwidth, "bandwidth", nil},
	{"min-bw", toBandwidth, "bandwidth", nil},
	{"max-p99", toLatency, "latency", nil},
	{"size", func(t testKind, _ perf.Transport) bool { return !t.op.Atomic() }, "sends, writes and reads (atomics have 8 bytes)", nil},
	{"rx-depth", func(t testKind, _ perf.Transport) bool { return t.op == perf.Send }, "sends", nil},
	{"shared-receives", func(t testKind, _ perf.Transport) bool { return t.op == perf.Send }, "sends", func(t *perf.Test) { t.SharedReceives = false }},
	{"inline", func(t testKind, _ perf.Transport) bool {
		return t.op == perf.Send || t.op == perf.Write
	}, "sends and writes", func(t *perf.Test) { t.Inline = false }},
	{"events", func(t testKind, _ perf.Transport) bool {
		return t.op != perf.Write || t.kind != perf.Latency
	}, "all tests except write-lat (a write generates no event for the responder)", func(t *perf.Test) { t.Events = false }},
	{"qp-timeout", reliable, "rc and xrc", nil},
	{"retry", reliable, "rc and xrc", nil},
	{"rnr-retry", reliable, "rc and xrc", nil},
}

// checkScopes rejects flags that apply to none of the tests.
func checkScopes(flags *pflag.FlagSet, tests []testKind, transport perf.Transport) error {
	for _, s := range flagScopes {
		f := flags.Lookup(s.flag)
		if !f.Changed || f.Value.String() == f.DefValue {
			continue
		}
		used := s.flag == "size" && f.Value.String() == "8" // the size of atomics
		for _, t := range tests {
			used = used || s.applies(t, transport)
		}
		if !used {
			return cmdutil.UsageErrorf("%s has no effect: it applies to %s", cmdutil.FlagName(flags, s.flag), s.tests)
		}
	}
	return nil
}

// resetOthers removes the effect of flags that do not apply to a test.
func resetOthers(one *perf.Test, t testKind) {
	for _, s := range flagScopes {
		if s.reset != nil && !s.applies(t, one.Transport) {
			s.reset(one)
		}
	}
}
