package ping

import (
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/ping"
)

// appendText appends the line of a probe.
func (v *view) appendText(b []byte, p *ping.Probe) []byte {
	if v.timestamps {
		b = p.Sent.AppendFormat(b, render.TimeFormat)
		b = append(b, ' ')
	}
	b = append(b, p.Target.Name...)
	b = append(b, ": seq="...)
	b = strconv.AppendInt(b, int64(p.Seq), 10)
	if p.Outcome != ping.Received {
		b = append(b, ' ')
		b = append(b, p.Outcome.String()...)
	}
	if p.RTT > 0 {
		b = append(b, " time="...)
		b = render.AppendDuration(b, p.RTT)
	}
	if p.Outcome != ping.Received && p.Outcome != ping.Lost && p.Err != nil {
		b = append(b, ": "...)
		b = append(b, p.Err.Error()...)
	}
	switch {
	case len(p.Host) > 0:
		b = append(b, " from "...)
		b = render.AppendPrintable(b, p.Host)
	case p.Node != 0:
		b = append(b, " from "...)
		b = v.appendNode(b, p.Node)
	}
	return append(b, '\n')
}

// appendNode appends the name that the map has for a node, or the GUID.
func (v *view) appendNode(b []byte, guid ib.GUID) []byte {
	if v.names == nil {
		return guid.AppendTo(b)
	}
	return append(b, v.names.NameOf(guid, mad.NewNodeDescription(guid.String()))...)
}

// rttTexts writes round trips of which none may be there.
func rttTexts(s *ping.Stats) []string {
	times := []time.Duration{
		s.Min, s.Avg(), s.Quantile(50), s.Quantile(90), s.Quantile(99), s.Quantile(99.9), s.Max, s.StdDev(), s.Jitter(),
	}
	texts := make([]string, len(times))
	for i, d := range times {
		texts[i] = render.Absent
		if s.Received > 0 {
			texts[i] = render.Duration(d)
		}
	}
	return texts
}

// rttNames are those of rttTexts.
var rttNames = []string{"min", "avg", "median", "p90", "p99", "p99.9", "max", "stddev", "jitter"}

var rttHeader = strings.Split(strings.ToUpper(strings.Join(rttNames, " ")), " ")
