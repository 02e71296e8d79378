package ibqueryerrors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/mad"
)

const qp1Dropped = "QP1Dropped"

// byName has the error counters and the traffic counters by name.
var byName = func() map[string]counters.Counter {
	m := map[string]counters.Counter{}
	for _, c := range counters.Counters() {
		if !c.IsDetail() && c != counters.QP1Dropped {
			m[c.String()] = c
		}
	}
	return m
}()

// errorText returns a port's error counters that exceed their thresholds, and the parts
// of some counters with --details. The 64-bit counters are preferred.
func (r *report) errorText(port int, normal *mad.PortCounters, extended *mad.PortCountersExtended) string {
	var b strings.Builder
	wide := extended != nil && r.caps2.Has(mad.PerfAdditionalExtended)
	var from mad.Attribute = normal
	if wide {
		from = extended
	}
	mad.Visit(from, func(name string, _ int, v uint64) uint64 {
		c, known := byName[name]
		if !known || c.IsTraffic() || slices.Contains(r.suppressed, name) || !r.thresholds.Exceeds(c, v) {
			return v
		}
		if wide {
			fmt.Fprintf(&b, " [%s == %d (%s)]", name, v, readable(v, false))
		} else {
			fmt.Fprintf(&b, " [%s == %d]", name, v)
		}
		if r.details {
			b.WriteString(r.detailText(port, c))
		}
		return v
	})
	return b.String()
}

// detailText queries an error counter's parts.
func (r *report) detailText(port int, c counters.Counter) string {
	var a mad.Attribute
	switch c {
	case counters.XmitDiscards:
		a = &mad.PortXmitDiscardDetails{}
	case counters.RcvErrors:
		a = &mad.PortRcvErrorDetails{}
	default:
		return ""
	}
	if !r.get("query_and_dump", mad.AttributeName(a), port, a) {
		return ""
	}
	var b strings.Builder
	mad.Visit(a, func(name string, _ int, v uint64) uint64 {
		if v != 0 && !strings.HasSuffix(name, "Select") {
			fmt.Fprintf(&b, " [%s == %d]", name, v)
		}
		return v
	})
	return b.String()
}

// dataText returns a port's traffic counters; counters that are 0 only if zeros is set.
// Either attribute may be nil.
func (r *report) dataText(normal *mad.PortCounters, extended *mad.PortCountersExtended, zeros bool) string {
	var b strings.Builder
	var from mad.Attribute = normal
	last := counters.RcvPkts
	if extended != nil {
		from = extended
		if r.caps.Has(mad.PerfExtendedWidth) {
			last = counters.MulticastRcvPkts
		}
	}
	mad.Visit(from, func(name string, _ int, v uint64) uint64 {
		c, known := byName[name]
		if known && c.IsTraffic() && c <= last && (zeros || v != 0) {
			isData := c == counters.XmitData || c == counters.RcvData
			fmt.Fprintf(&b, " [%s == %d (%s)]", name, v, readable(v, isData))
		}
		return v
	})
	return b.String()
}

// readable returns a counter with a binary prefix, with the C tool's
// rounding (conv_cnt_human_readable in infiniband-diags/ibdiag_common.c).
// Data counts in 4-byte units.
func readable(v uint64, data bool) string {
	step, div := 0, uint64(1)
	for rest := v / 1024; rest > 0; rest /= 1024 {
		step++
		div *= 1024
	}
	f, unit := float32(v), ""
	if data {
		unit = "B"
		f *= 4
		if f/float32(div) > 1024 {
			step++
			div *= 1024
		}
	}
	prefixes := [...]string{"", "K", "M", "G", "T", "P", "E"}
	return fmt.Sprintf("%5.3f%s%s", f/float32(div), prefixes[step], unit)
}
