package perf

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/perftestview"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// flushClassic prints the measurements of one table like a program of perftest. It
// omits the addresses of queue pairs, which are unknown here.
func (v *view) flushClassic(out *render.Output, all []*perf.Measurement) {
	first := all[0]
	test, gbits := first.Test.Perftest(), v.unit == "gbit"
	header := perftestview.Header{
		Test: test, MTU: first.MTU, Device: first.Client.Device, Link: first.Client.Link, HasGID: first.Client.GID.IsValid(),
		GIDIndex: first.Client.GIDIndex, Reads: uint32(first.Test.Depth), Sends: true,
		Receives: test.Consumes() && first.Test.Bidirectional,
	}
	header.Print(out)
	perftestview.Columns{Bandwidth: test.Bandwidth, Timed: test.Timed, Gbits: gbits}.Print(out)
	for _, m := range all {
		if m.Latency != nil {
			perftestview.Times{
				Size: m.Test.Size, Iterations: uint64(m.Latency.Count), Samples: m.Latency, Part: m.Test.LatencyFactor(), Timed: test.Timed,
			}.Print(out)
			continue
		}
		rates := perftestview.Rates{Size: m.Test.Size, Iterations: m.Sent.Messages / uint64(m.Test.QueuePairs), Gbits: gbits}
		for _, t := range []*perf.Throughput{m.Sent, m.Reverse} {
			if t != nil {
				rates.Average += perftestview.Unit(t.Rate(), gbits)
				rates.Peak += perftestview.Unit(max(t.Peak, t.Rate()), gbits)
				rates.Messages += t.MessageRate() / 1e6
			}
		}
		rates.Print(out)
	}
	fmt.Fprint(out, perftestview.Rule)
	v.err = errors.Join(v.err, out.Flush())
}
