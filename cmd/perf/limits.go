package perf

import (
	"fmt"

	"github.com/ibkit/ibkit/internal/tool/perf"
)

// A missedLimit is a limit that a measurement does not meet.
type missedLimit struct{ limit, text string }

// missed compares a measurement with --min-bw and --max-p99. Partial measurements are
// not compared.
func (v *view) missed(m *perf.Measurement) []missedLimit {
	var all []missedLimit
	if m.Partial {
		return nil
	}
	if m.Latency != nil && v.maxP99 > 0 {
		p99 := latencyOf(m, m.Latency.Quantile(99))
		switch lost := float64(m.Lost); {
		case lost > (lost+float64(m.Latency.Count))/100:
			all = append(all, missedLimit{"max-p99", fmt.Sprintf("%d of %d round trips were lost: more than 1 %% took longer than --max-p99 %v",
				m.Lost, m.Lost+uint64(m.Latency.Count), v.maxP99)})
		case p99 > v.maxP99:
			all = append(all, missedLimit{"max-p99", fmt.Sprintf("P99 of %v is above --max-p99 %v", p99, v.maxP99)})
		}
	}
	if v.minBW > 0 && m.Sent != nil {
		rate, direction := m.Sent.Rate(), ""
		if m.Received != nil { // lost messages do not count
			rate = min(rate, m.Received.Rate())
		}
		if m.Reverse != nil && m.Reverse.Rate() < rate {
			rate, direction = m.Reverse.Rate(), " from server to client"
		}
		if v.inUnit(rate) < v.minBW {
			all = append(all, missedLimit{"min-bw", fmt.Sprintf("%s %s%s is below --min-bw %v", v.number(rate), v.unitName(), direction, v.minBW)})
		}
	}
	return all
}
