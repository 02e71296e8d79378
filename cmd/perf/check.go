package perf

import (
	"fmt"

	"github.com/ibkit/ibkit/perf"
)

// A missedLimit is a limit that a measurement was held to and is beyond.
type missedLimit struct{ limit, text string }

// missed holds a measurement against --min-bw and --max-p99.
func (v *view) missed(m *perf.Measurement) []missedLimit {
	var all []missedLimit
	if m.Partial {
		return nil // it is no figure of the test that was asked for
	}
	if m.Latency != nil && v.maxP99 > 0 {
		p99 := perfTime(m, m.Latency.Quantile(99))
		switch lost := float64(m.Lost); {
		case lost > (lost+float64(m.Latency.Count))/100:
			all = append(all, missedLimit{"max-p99", fmt.Sprintf("%d of %d round trips were lost: more than 1 %% took longer than --max-p99 %v",
				m.Lost, m.Lost+uint64(m.Latency.Count), v.maxP99)})
		case p99 > v.maxP99:
			all = append(all, missedLimit{"max-p99", fmt.Sprintf("P99 of %v is above --max-p99 %v", p99, v.maxP99)})
		}
	}
	if v.minBW > 0 && m.Sent != nil {
		rate, way := m.Sent.Rate(), ""
		if m.Received != nil { // what was lost is no bandwidth
			rate = min(rate, m.Received.Rate())
		}
		if m.Reverse != nil && m.Reverse.Rate() < rate {
			rate, way = m.Reverse.Rate(), " on the way back"
		}
		if v.inUnit(rate) < v.minBW {
			all = append(all, missedLimit{"min-bw", fmt.Sprintf("%s %s%s is below --min-bw %v", v.number(rate), v.unitName(), way, v.minBW)})
		}
	}
	return all
}
