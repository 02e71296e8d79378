package perf

import (
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// A flagScope is the tests that a flag applies to.
type flagScope struct {
	flag    string
	applies func(perf.Test) bool // by operation, kind, transport and immediate data
	tests   string               // description of these tests
	reset   func(*perf.Test)     // removes the flag's effect from other tests
}

func toBandwidth(t perf.Test) bool { return t.Kind == perf.Bandwidth }

func toLatency(t perf.Test) bool { return t.Kind == perf.Latency }

func reliable(t perf.Test) bool { return t.Transport == perf.RC || t.Transport == perf.XRC }

func toReceives(t perf.Test) bool { return t.Op == perf.Send || t.Op == perf.Write && t.Imm }

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
	{"size", func(t perf.Test) bool { return !t.Op.Atomic() }, "sends, writes and reads (atomics have 8 bytes)", nil},
	{"rx-depth", toReceives, "sends, and writes with --imm", nil},
	{"shared-receives", toReceives, "sends, and writes with --imm", func(t *perf.Test) { t.SharedReceives = false }},
	{"imm", func(t perf.Test) bool { return t.Op == perf.Write }, "writes", func(t *perf.Test) { t.Imm = false }},
	{"inline", func(t perf.Test) bool {
		return t.Op == perf.Send || t.Op == perf.Write
	}, "sends and writes", func(t *perf.Test) { t.Inline = false }},
	{"events", func(t perf.Test) bool {
		return t.Op != perf.Write || t.Kind != perf.Latency || t.Imm
	}, "all tests except write-lat without --imm (a write generates no event for the responder)", func(t *perf.Test) { t.Events = false }},
	{"qp-timeout", reliable, "rc and xrc", nil},
	{"retry", reliable, "rc and xrc", nil},
	{"rnr-retry", reliable, "rc and xrc", nil},
}

// checkScopes rejects flags that apply to none of the tests.
func checkScopes(flags *pflag.FlagSet, tests []perf.Test) error {
	for _, s := range flagScopes {
		f := flags.Lookup(s.flag)
		if !f.Changed || f.Value.String() == f.DefValue {
			continue
		}
		used := s.flag == "size" && f.Value.String() == "8" // the size of atomics
		for _, t := range tests {
			used = used || s.applies(t)
		}
		if !used {
			return cmdutil.UsageErrorf("%s has no effect: it applies to %s", cmdutil.FlagName(flags, s.flag), s.tests)
		}
	}
	return nil
}

// resetOthers removes the effect of flags that do not apply to a test.
func resetOthers(one *perf.Test) {
	for _, s := range flagScopes {
		if s.reset != nil && !s.applies(*one) {
			s.reset(one)
		}
	}
}
