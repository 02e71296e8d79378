package perf

import (
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/perf"
)

// A flagScope says which tests an option has to do with, and how those that have
// nothing of it are done.
type flagScope struct {
	flag  string
	to    func(testKind, perf.Transport) bool
	which string // those tests, to people
	drop  func(*perf.Test)
}

func ofBandwidthTest(t testKind, _ perf.Transport) bool { return t.kind == perf.Bandwidth }

func ofLatencyTest(t testKind, _ perf.Transport) bool { return t.kind == perf.Latency }

func overRC(_ testKind, transport perf.Transport) bool { return transport == perf.RC }

// flagScopes are the options that some tests have nothing of.
var flagScopes = []flagScope{
	{"qps", ofBandwidthTest, "bandwidth", func(t *perf.Test) { t.QueuePairs = 1 }},
	{"threads", ofBandwidthTest, "bandwidth", func(t *perf.Test) { t.Threads = 1 }},
	{"bidirectional", ofBandwidthTest, "bandwidth", func(t *perf.Test) { t.Bidirectional = false }},
	{"post-list", ofBandwidthTest, "bandwidth", func(t *perf.Test) { t.List = 1 }},
	{"rate", ofBandwidthTest, "bandwidth", func(t *perf.Test) { t.Rate = 0 }},
	{"cq-moderation", ofBandwidthTest, "bandwidth", nil},
	{"min-bw", ofBandwidthTest, "bandwidth", nil},
	{"max-p99", ofLatencyTest, "latency", nil},
	{"size", func(t testKind, _ perf.Transport) bool { return !t.atomic() }, "sends, writes and reads: atomics have 8 bytes", nil},
	{"rx-depth", func(t testKind, _ perf.Transport) bool { return t.op == perf.Send }, "sends", nil},
	{"inline", func(t testKind, _ perf.Transport) bool {
		return t.op == perf.Send || t.op == perf.Write
	}, "sends and writes", func(t *perf.Test) { t.Inline = false }},
	{"events", func(t testKind, _ perf.Transport) bool {
		return t.op != perf.Write || t.kind != perf.Latency
	}, "all but write-lat, where the other side polls its memory: a write is no event", func(t *perf.Test) { t.Events = false }},
	{"qp-timeout", overRC, "rc", nil},
	{"retry", overRC, "rc", nil},
	{"rnr-retry", overRC, "rc", nil},
}

func (t testKind) atomic() bool { return t.op == perf.FetchAdd || t.op == perf.CompareSwap }

// checkApplies refuses options that none of the tests has anything of: who gives
// one means something by it.
func checkApplies(flags *pflag.FlagSet, tests []testKind, transport perf.Transport) error {
	for _, a := range flagScopes {
		f := flags.Lookup(a.flag)
		if !f.Changed || f.Value.String() == f.DefValue {
			continue
		}
		used := a.flag == "size" && f.Value.String() == "8" // as of atomics
		for _, t := range tests {
			used = used || a.to(t, transport)
		}
		if !used {
			return cmdutil.UsageErrorf("%s does nothing here: it is a matter of %s", cmdutil.FlagName(flags, a.flag), a.which)
		}
	}
	return nil
}

// dropOthers takes away of a test what it has nothing of, where others that are
// done with it have.
func dropOthers(one *perf.Test, t testKind) {
	for _, a := range flagScopes {
		if a.drop != nil && !a.to(t, one.Transport) {
			a.drop(one)
		}
	}
}
