package cmd

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/perf"
)

// flushClassic prints the tests that belong together as perftest's programs would.
// What they say of the other side's queue pairs is not known here.
func (v *perfView) flushClassic(out *output, all []*perf.Measurement) {
	first := all[0]
	test, gbits := first.Test.Perftest(), v.unit == "gbit"
	header := perftestHeader{
		Test: test, mtu: first.MTU, device: first.Client.Device, link: first.Client.Link, gid: first.Client.GID.IsValid(),
		gidIndex: first.Client.GIDIndex, reads: uint32(first.Test.Depth), sends: true,
		receives: first.Test.Op == perf.Send && first.Test.Bidirectional,
	}
	header.print(out)
	perftestColumns(out, test.Bandwidth, test.Timed, gbits)
	for _, m := range all {
		if m.Latency != nil {
			part := 1.0
			if m.Test.OneWay() {
				part = 0.5
			}
			perftestTimes(out, m.Test.Size, uint64(m.Latency.Count), m.Latency, part, test.Timed)
			continue
		}
		var rates perftestRates
		for _, t := range []*perf.Throughput{m.Sent, m.Reverse} {
			if t != nil {
				rates.average += perftestUnit(t.Rate(), gbits)
				rates.peak += perftestUnit(max(t.Peak, t.Rate()), gbits)
				rates.messages += t.MessageRate() / 1e6
			}
		}
		rates.print(out, m.Test.Size, m.Sent.Messages/uint64(m.Test.QueuePairs), gbits)
	}
	fmt.Fprint(out, perftestLine)
	if err := out.Flush(); err != nil {
		v.err = errors.Join(v.err, fmt.Errorf("write output: %w", err))
	}
}
